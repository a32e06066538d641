r"""
Secrets taken out of a text that somebody else wrote, such as a plugin's log. Pure.

Which values are secret is not known here, so what is named like one is taken out, in the forms in which programs write
names and values, and what looks like one by itself. A word of prose behind such a name may go with it; a secret that
neither has a name nor a known form stays.
Sources: mount.cifs(8) (``pass=``, ``password=``), Ceph's keyring files (``key = ...``), RFC 3986 (``user:password@``),
RFC 7468 (PEM), RFC 7519 (tokens that begin with ``eyJ``), the AWS documentation of access keys; 2026-11.
"""

import re

HIDDEN = "[secret]"

_NAME = r"""
    (?:[\w.-]*(?:secret|passwd|password|passphrase|token|signature|credential|authorization|api[_-]?key|access[_-]?key
    |admin[_-]?key|user[_-]?key|private[_-]?key|encryption[_-]?key)[\w.-]*
    |(?:[\w.-]*[_.-])?(?:pass|pwd))
"""
"""A name of a secret: with a word that says so somewhere in it, or as its last part."""

_QUOTED = r"""(?: \\"(?:(?!\\").)*(?:\\"|\Z) | "(?:[^"\\]|\\.)*(?:"|\\?\Z) | '(?:[^'\\]|\\.)*(?:'|\\?\Z))"""
_NESTED = r"(?: (?:map)?\[[^\]]*(?:\]|\Z) | \{[^}]*(?:\}|\Z) | <[^>]*(?:>|\Z))"
_SCHEME = r"(?:(?:bearer|basic|token|negotiate|digest)\s+)?"
_PLAIN = r"""[^\s,;&"']+"""
_VALUE = rf"(?:{_NESTED}|{_SCHEME}(?:{_QUOTED}|{_PLAIN}))"
_FLAGS = re.VERBOSE | re.IGNORECASE | re.DOTALL

_RULES = (
    (re.compile(r"-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----.*?(?:-----END \1-----|\Z)", re.DOTALL), HIDDEN),
    (re.compile(r"(?<![\w+/=])(?:[\w+/=]{16,}\s+){1,200}[\w+/=]*\s*-----END [A-Z0-9 ]*PRIVATE KEY-----"), HIDDEN),
    (re.compile(r"""(\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@"']*:)[^\s/"']+(?=@)""", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(rf"""(?<![\w.-])({_NAME}(?:\\?["'])?\s*[:=]\s*){_VALUE}""", _FLAGS), rf"\1{HIDDEN}"),
    (re.compile(rf"(?<![\w.-])(--?{_NAME}\s+)(?!-){_VALUE}", _FLAGS), rf"\1{HIDDEN}"),
    (re.compile(r"(\bX-[\w-]*Token\s+)[^\s,;&\"']+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (
        re.compile(r"""(?<![\w.-])(key["']?\s*[:=]\s*["']?)(?:[\w+/]{16,}={0,2}|[\w+/]+={1,2})(?![\w+/=:.-])"""),
        rf"\1{HIDDEN}",
    ),
    (
        re.compile(
            r"(?<![\w+/=])(?=[a-z0-9+/]{0,39}[A-Z])(?=[A-Za-z+/]{0,39}\d)(?=[A-Z0-9+/]{0,39}[a-z])[A-Za-z0-9+/]{40}(?![\w+/=])"
        ),
        HIDDEN,
    ),
    (re.compile(r"(?<![\w+/=])(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[\w+/=%-]+"), HIDDEN),
    (re.compile(r"(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*"), HIDDEN),
)
"""
In this order: private keys, and the end of one whose beginning was cut off; passwords in addresses; named values;
options and headers with a space before the value; Ceph's ``key``; AWS's secret access keys and session tokens; tokens
in JSON.
"""


def without_secrets(text: str) -> str:
    """Return *text* with what looks like a secret replaced: ``without_secrets("token=a")`` is ``"token=[secret]"``."""
    for pattern, shown in _RULES:
        text = pattern.sub(shown, text)
    return text
