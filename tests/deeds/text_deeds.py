"""What is made of texts: secrets hidden, escaped, cut, quoted for HCL; of each function for each of many texts."""

import base64
import itertools
import json
import urllib.parse

from nomad_csi import errors, json_text
from nomad_csi.hcl import quote
from nomad_csi.text import foreign, listing, normal_form, redaction, secrets, table, unseen
from tests.deeds.deeds import Case

NAMED = r"""
token=abc
token = abc rest
token: abc
token: expired
token: abc: rest
token := "a b" c
token => 'a b' c
"token":"a\"b" c
\"token\":\"a b\" c
\\\"token\\\":\\\"a b\\\" c
token%3Dabc&x=y
token%3A abc
--token abc
--token --other
-token abc
--token-file /x
token_file=/run/x
api_key=abc
apiKey: {"a": "b}"} c
api key=abc
accesskey=abc
account-key=abc
encryptionKey: abc
userkey=abc
monkey=abc
key=abc
keyword=abc
passphrase=a b
password "a b" c
password a b
passwd 'a' b
pw=abc
pwd=abc
psk=abc
auth=abc
author=abc
bypass=abc
pass=abc
compass=abc
X-Nomad-Token abc
X-Vault-Token: abc
X-Other abc
authorization: Bearer abc
authorization: Basic abc def
Authorization: token abc
bearer abc123def
bearer expired
dhchap_ctrl_secret=abc
signature=abc&x=y
credential=${CREDENTIAL}
token={{ x }}
token=${TOKEN}abc
secret=null
secret=<nil>
secret=""
secret=
secret=[secret]
secret=[a b] c
secret={a {b} c} d
secret=map[a:b c:map[d:e]] f
secret:<a "b>" c> d
secret=[a b
secret="a b
secret='it'
<password>abc</password>
<password type="x">abc
<passwordFile>abc</passwordFile>
secretArn=arn
secretRef=x
secretNamespace=x
passwordHint: rpc: x
token="a", secret="b"; password='c'
user:pw@host
https://u:p@host/x
https://u:${P}@host
https://:p@host
https://u@host
https://abcdefghij0123456789abc@host
redis://:p@ss@host/0
AKIAABCDEFGHIJKLMNOP
xAKIAABCDEFGHIJKLMNOP
ASIAABCDEFGHIJKLMNOP.
AKIAABCDEFGHIJKLMNO
dop_v1_0123456789abcdef
hvs.0123456789abcdef
hvx.0123456789abcdef
key: AAAAAAAAAAAAAAAAAAAAAAAA==
key=AAAAAAAA
wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKE1
wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKE
eyJhbGciOi.eyJzdWIi.sig
eyJhbGciOi.eyJzdWIi
IQoJb3JpZ2luX2VjE
FwoGZXIvYXdzE
mount -o username=u,password=p,ro //h/s
""".strip().splitlines()

KEY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
LINES = [KEY, KEY.lower(), "shortend=="]


def _keys():
    whole = ["-----BEGIN RSA PRIVATE KEY-----", *LINES, "-----END RSA PRIVATE KEY-----"]
    for first, last in itertools.product((0, 1, 2), (5, 4, 3)):
        for name, sign in (("lines", "\n"), ("escapes", r"\n"), ("spaces", " ")):
            yield f"{first} to {last}, {name}", f"before {sign.join(whole[first:last])} behind"
    yield "two", f"{' '.join(whole)} between {' '.join(whole)} behind"
    yield "other label", f"{whole[0]} {KEY} -----END EC PRIVATE KEY----- {KEY} behind"
    yield "two begin", f"{whole[0]} a {whole[0]} b {whole[4]} c"
    yield "a certificate", f"-----BEGIN CERTIFICATE-----\n{KEY}\n-----END CERTIFICATE-----"
    yield "no key before its end", "some words of prose -----END PRIVATE KEY----- behind"


KNOWN = {
    "word": "canary-word-77",
    "short": "abc",
    "very short": "ab",
    "long": "canary" * 12,
    "signs": "c&n<\"ry>'s/+=%é€😀 x",
    "lines": "first line\nsecond line",
    "escaped": r"can\nary\u0041",
    "space": " canary  word ",
    "hidden": "secret",
}


def _spelled(secret):
    quoted = json.dumps(secret)
    yield "plain", secret
    yield "upper", secret.upper()
    yield "inside", f"x{secret}y"
    yield "quoted", quoted
    yield "quoted twice", json.dumps(quoted)
    yield "quoted four times", json.dumps(json.dumps(json.dumps(quoted)))
    yield "percent", urllib.parse.quote(secret, safe="")
    yield "percent, all", "".join(f"%{each:02x}" for each in secret.encode())
    yield "plus", urllib.parse.quote_plus(secret)
    yield "repr", repr(secret)
    yield "html", secret.replace("&", "&amp;").replace("<", "&lt;").replace("é", "&#233;").replace("€", "&#x20ac;")
    yield "shell", "'" + secret.replace("'", "'\\''") + "'"
    yield "octal", "".join(f"\\{each:03o}" for each in secret.encode())
    yield "units", "".join(f"\\u{ord(each):04x}" if ord(each) < 65536 else f"\\U{ord(each):08x}" for each in secret)
    yield "hex", secret.encode().hex()
    for before in range(3):
        yield f"base64 behind {before}", base64.b64encode(b"." * before + secret.encode() + b"!").decode()
    yield "url base64", base64.urlsafe_b64encode(secret.encode()).decode()
    yield "wrapped", secret.replace(" ", "\n   ")
    yield "first half...", f"{secret[: len(secret) // 2 + 3]}..."
    yield "cut", f"says {secret[:-2]}"
    yield "... last half", f"...{secret[len(secret) // 2 - 3 :]} rest"
    yield "cut in quotes", f'"{secret[:-3]}" rest'
    yield "cut within an escape", f"{secret[:9]}\\u00"
    yield "most of it", f"{secret[: len(secret) * 4 // 5]}, and more"
    yield "a little", f"{secret[:5]}, and more"
    yield "twice", f"{secret} and {secret}"


def _redacted(_agent, _context):
    return {
        "named": [redaction.redact(text) for text in NAMED],
        "keys": {name: redaction.redact(text) for name, text in _keys()},
        "long": {size: len(redaction.redact(f"token={'a' * size} b")) for size in (10, 4096, 4097)},
        "joined": redaction.redact("a-1 b-22 token=x c-333", ["a-1", "b-22", "", "2 t"]),
    }


def _masked(_agent, _context):
    shown = {}
    for (name, secret), short_words in itertools.product(KNOWN.items(), (False, True)):
        if short_words and len(secret) > 3:
            continue
        for form, text in _spelled(secret):
            found = redaction.mask(f"<{text}>", [secret], short_words=short_words)
            shown[f"{name}{', short' * short_words}, {form}"] = "same" if found == f"<{text}>" else found
    shown["several short"] = redaction.mask("ab abc a b", ["a", "ab", "abc"], short_words=True)
    return shown


WORDS = "token tokenFile token_path apiKey api_key_file secretArn user userId region pool password_name x monkey auth author"
WORDS += " userKey dhchap_secret pass bypass key credentialsFile audience secret_version url secretUrl folder"
VALUES = (
    "abc",
    "",
    "${TOKEN}",
    "{{ x }}",
    "x${TOKEN}",
    "${NOMAD_SECRETS_DIR}/x",
    "/run/secrets/x",
    "AKIAABCDEFGHIJKLMNOP",
    "true",
    "5",
)
ARGUMENTS = [
    "--token=abc",
    "--token",
    "abc",
    "--password",
    "--x",
    "-p",
    "v",
    "token",
    "abc",
    "--opt=password=abc",
    "username=u,password=p",
    "--token=${T}",
    "--url=https://u:p@h",
]


def _named(_agent, _context):
    return {
        "words": {
            word: [secrets.has_secret_word(word), secrets.names_secret(word), secrets.is_open(word)]
            for word in WORDS.split()
        },
        "values": {
            f"{name}={value}": secrets.is_secret(name, value)
            for name in ("token", "x", "tokenFile")
            for value in VALUES
        },
        "texts": {value: secrets.text_has_secret(value) for value in (*VALUES, *NAMED[-24:])},
        "flags": {
            text: secrets.flag_has_secret(text)
            for text in ("ro", "password=x", "username=u,pass=p", "ro,secret=${S}", "a=b")
        },
        "arguments": dict(
            zip(
                ARGUMENTS,
                zip(secrets.hidden(ARGUMENTS), map(secrets.argument_has_secret, ARGUMENTS), strict=True),
                strict=True,
            )
        ),
        "keys": secrets.keys_of({"b": 5, "token": "x", "apiKey": "y", "x": "AKIAABCDEFGHIJKLMNOP", "token2": "${X}"}),
    }


HOSTILE = (
    "plain", "", " ", 'q"uote', "back\\slash", "tab\tline\nreturn\r", "nul\0", "esc\x1b[2J", "\x1b[31mred\x1b[0m", "bell\x07",
    "del\x7f", "c1\x85", "bidi\u202e", "sep\u2028", "zero\u200b", "bom\ufeff", "private\ue123", "lone\ud800", "é", "e\u0301",
    "\U0001006f\u0304", "emoji😀", "wide漢字", "later\u0c5c", "${x}", "$${x}", "%{if}", "$x", "${NOMAD_ALLOC_DIR}", "${NOMAD_ALLOC_DIR}}",
    "${NOMAD_ALLOC_DIR} }}x", "${attr.cpu.arch}", "${env.X}", "EOT", "EOT\nEOT1", "for", "in", "_a-b1", "1a", "a/b", "ünï", "# x", "nbsp\u00a0",
)  # fmt: skip


def _try(call, *values):
    try:
        return call(*values)
    except (errors.SpecError, ValueError) as error:
        return f"! {str(error).partition(': ')[2]}"


def _quoted(_agent, _context):
    functions = (
        quote.string, quote.job_string, quote.config_string, quote.attribute_string, quote.heredoc, quote.comment, quote.identifier, quote.key,
        foreign.visible, foreign.clean, normal_form.normalised, normal_form.is_normalised, table.columns_of,
    )  # fmt: skip
    shown = {
        call.__name__: {
            ascii(text): _ascii(_try(call, text)) for text in HOSTILE if _ascii(_try(call, text)) != ascii(text)
        }
        for call in functions
    }
    return shown | {
        "colours": ascii(foreign.visible(HOSTILE[8] + "\x1b[5m", keep_colours=True)),
        "also": [quote.config_string("${MINE}}", ["MINE"]), _try(quote.config_string, "${MINE}", ["OTHER"])],
        "unseen": [ascii(each) for each in "".join(HOSTILE) if unseen.is_unseen(each)],
        "numbers": [
            _try(quote.number, each)
            for each in (0, -1, 1.5, 2**63, 2**63 - 1, -(2**63), float("inf"), float("nan"), True)
        ],
        "booleans": [quote.boolean(each) for each in (True, False)],
        "lists": [
            quote.string_list(["b", 'a"']),
            quote.string_list([]),
            quote.string_map({"b": "1", "a b": "2", "in": "3"}),
            quote.string_map({}),
        ],
    }


def _ascii(value):
    return ascii(value) if isinstance(value, str) else value


def _cut(_agent, _context):
    words = "one two  three four"
    rows = (
        ("name", "status", "remark"),
        ("ä漢", "healthy", "a long remark that does not fit in the columns that are left for it"),
        ("b", "error", ""),
    )
    return {
        "cut": [foreign.cut(words, limit) for limit in (0, 3, 4, 7, 8, 9, 18, 19)],
        "shortened": [foreign.shortened(words, limit) for limit in (9, 12, 18, 19)],
        "clean": [len(foreign.clean("word " * size)) for size in (119, 120, 121, 9999)]
        + [foreign.clean("a\n\n b\ttoken=x\x1b")],
        "clean, long": foreign.clean(f"start {'x' * 20000} token=abc end")[-40:],
        "counted": [listing.counted(count, "client") for count in (0, 1, 2)]
        + [listing.grouped(count, "client") for count in (1, 1200)],
        "sizes": [listing.size(count) for count in (1, 1023, 1024, 2**20, 2**30, 10 * 2**30, 100 * 2**20, 2**30 + 1)],
        "lists": [listing.shortened(list("abcdefg")[:count]) for count in (0, 1, 5, 6, 7)]
        + [listing.shortened(list("abc"), 2)],
        "tables": [
            table.columns(rows, width, colour=colour).splitlines() for width in (40, 120) for colour in (False, True)
        ],
        "painted": [
            ascii(table.painted(word, colour=colour))
            for word in ("ok", "warning", "differs", "x")
            for colour in (False, True)
        ],
        "json": [
            _json(text)
            for text in (
                "{}",
                "[1, 2.5, NaN]",
                "1e999",
                '{"a": 1, "a": 2}',
                "[" * 600,
                "9" * 5000,
                '"\\ud800"',
                "",
                "[1 2]",
            )
        ],
        "json, many": [_json(f"[{'0,' * count}0]", 5) for count in (3, 4, 5, 6)],
    }


def _json(text, most=None):
    try:
        return json_text.decode(text) if most is None else json_text.decode(text, max_values=most)
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"[:90]


CASES = (
    Case("redacted", _redacted),
    Case("masked", _masked),
    Case("named", _named),
    Case("quoted", _quoted),
    Case("cut", _cut),
)
