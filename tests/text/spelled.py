"""Fifteen secrets, and how the programs around Nomad spell them: what no text may show."""

import base64
import html
import json
import re
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
    "unicode": "\U0001f389key\u00e9\u00dfend",
    "user": "user:pa55word!",
    "backslashes": "\\trail\\",
    "path": "C:\\new\\table",
    "uuid": "00112233-4455-6677-8899-aabbccddeeff",
}


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


SPELLINGS = {
    "plain": str,
    "on one line": lambda text: " ".join(text.split()),
    "json": json.dumps,
    "json, unicode": lambda text: json.dumps(text, ensure_ascii=False),
    "json in json": lambda text: json.dumps(json.dumps(text)),
    "go's json": lambda text: (
        json.dumps(text, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    ),
    "go, quoted": go_quoted,
    "go, quoted twice": lambda text: go_quoted(go_quoted(text)),
    "go, quoted three times": lambda text: go_quoted(go_quoted(go_quoted(text))),
    "go's PathEscape": lambda text: parse.quote(text, safe="$&+=:@"),
    "python's quote": parse.quote,
    "percent in lower case": lambda text: re.sub("%..", lambda escape: escape[0].lower(), parse.quote(text, safe="")),
    "form": parse.quote_plus,
    "html": html.escape,
    "repr": repr,
    "shlex": shlex.quote,
    "shell": lambda text: "'" + text.replace("'", "'\\''") + "'",
    "yaml": lambda text: "'" + text.replace("'", "''") + "'",
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 behind one byte": lambda text: base64.b64encode(f"x{text}yz".encode()).decode(),
    "base64 behind two bytes": lambda text: base64.b64encode(f"u:{text}".encode()).decode(),
    "base64 of an address": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
}
"""Name -> function."""
