"""Fifteen secrets, and how the programs around Nomad spell them: what no text may show."""

import base64
import html
import json
import shlex
from urllib import parse

SECRETS = {
    "word": "hunter2-and-more",
    "signs": 'p"<&>\\\u00e9 q/r',
    "spaces": "correct horse battery",
    "escapes": 'a%41b&amp;c\\n"d',
    "aws": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "lines": "line1-xyz\nline2-abc\nline3\n",
    "quotes": "it's a 'secret'",
    "base64": "AQB+/==hunter2",
    "short": "t4u1",
    "templates": "${x}%{y}`z`",
    "unicode": "\U0001f389key\u00e9\u00df\x01end",
    "user": "user:pa55word!",
    "backslashes": "\\trail\\",
    "path": "C:\\new\\table",
    "uuid": "00112233-4455-6677-8899-aabbccddeeff",
}

SENT = {name: text for name, text in SECRETS.items() if text.isascii() and text.isprintable()}
"""Those that can be a token: it is sent in a header."""


def is_shown(spelling, text):
    """Return whether *text* has eight characters of *spelling* in a row, other than quotes and their escapes alone."""
    core = spelling.strip("\"'\\ \n")
    size = min(len(core), 8)
    parts = {core[start : start + size] for start in range(len(core) - size + 1)}
    return any(part in text for part in parts if part.strip("\"'\\"))


def go_quoted(text):
    r"""As Go's ``%q``: control characters are ``\n`` or ``\x01``, other letters stay."""
    short = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    return '"' + "".join(short.get(each) or (each if each >= " " else f"\\x{ord(each):02x}") for each in text) + '"'


def c_escaped(text):
    r"""As protobuf's text format: all but ASCII is ``\303``."""
    return "".join(
        {"\\": "\\\\"}.get(chr(each)) or (chr(each) if 31 < each < 127 else f"\\{each:03o}") for each in text.encode()
    )


def character_by_character(text, written):
    """All but letters and digits of ASCII as *written*."""
    return "".join(each if each.isascii() and each.isalnum() else written(each) for each in text)


SPELLINGS = {
    "plain": str,
    "on one line": lambda text: " ".join(text.split()),
    "json": json.dumps,
    "json, unicode": lambda text: json.dumps(text, ensure_ascii=False),
    "json in json": lambda text: json.dumps(json.dumps(text)),
    "json with escaped slashes": lambda text: json.dumps(text).replace("/", "\\/"),
    "go's json": lambda text: json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
    "go, quoted": go_quoted,
    "go, quoted twice": lambda text: go_quoted(go_quoted(text)),
    "go, quoted three times": lambda text: go_quoted(go_quoted(go_quoted(text))),
    "go's PathEscape": lambda text: parse.quote(text, safe="$&+=:@"),
    "encodeURIComponent": lambda text: parse.quote(text, safe="!'()*"),
    "python's quote": parse.quote,
    "form": parse.quote_plus,
    "percent in lower case": lambda text: character_by_character(
        text, lambda each: "".join(f"%{byte:02x}" for byte in each.encode())
    ),
    "percent twice": lambda text: parse.quote(parse.quote(text, safe=""), safe=""),
    "html": html.escape,
    "html, by number": lambda text: character_by_character(text, lambda each: f"&#{ord(each)};"),
    "html, by hexadecimal number": lambda text: character_by_character(text, lambda each: f"&#x{ord(each):X};"),
    "repr": repr,
    "repr of bytes": lambda text: repr(text.encode()),
    "ascii": ascii,
    "protobuf's text": c_escaped,
    "shlex": shlex.quote,
    "shell": lambda text: "'" + text.replace("'", "'\\''") + "'",
    "yaml": lambda text: "'" + text.replace("'", "''") + "'",
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 behind one byte": lambda text: base64.b64encode(f"x{text}yz".encode()).decode(),
    "base64 behind two bytes": lambda text: base64.b64encode(f"u:{text}".encode()).decode(),
    "base64 of an address": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal in upper case": lambda text: text.encode().hex().upper(),
    "upper case": str.upper,
    "cut": lambda text: text[: max(9, len(text) // 2)],
}
"""Name -> function."""
