"""
Detect secrets by the name or the form of a value. The value is never shown.

The names are those of drivers, mount programs and AWS; a secret with neither such a name nor such a form is not found.
Sources: mount.cifs(8) (``pass=``, ``password=``, ``credentials=FILE``), mount.ceph(8), the AWS documentation of access
keys, RFC 3986 (``user:password@``), RFC 7468 (PEM); 2026-11.
"""

import re
from collections.abc import Mapping

_NAME = re.compile(
    r"secret|passwd|password|passphrase|token|signature|credential|authorization"
    r"|(?:api|access|admin|user|private|encryption)[ _-]?key|(?:^|[^a-z0-9])(?:pass|pwd|pw)$",
    re.IGNORECASE,
)
"""A word anywhere in a name, or its last part."""

_POINTS = re.compile(
    r"(?:file|path|dir|folder|name|namespace|arn|url|uri|endpoint|ttl|identity|audience|version|ref)$", re.IGNORECASE
)
"""Suffixes of names for the location or the kind of a secret."""

_FORM = re.compile(
    r"AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----|dop_v1_[0-9a-f]{16}|hvs\.[A-Za-z0-9_-]{16}"
    r"|\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@\"']*+:(?!\$\{|\{\{)[^\s/\"'@]++@"
)
"""Access keys of AWS, private keys, tokens of DigitalOcean and of Vault, passwords in addresses."""

_IN_TASK = re.compile(r"\$\{NOMAD_[A-Z]+_DIR\}/")
"""Start of the path of a file that Nomad writes into the task's directory."""

_FILLED_IN = re.compile(r"\$\{[^}]*+\}|\{\{.*\}\}", re.DOTALL)


def has_secret_word(name: str) -> bool:
    """Return whether *name* contains a word for secrets, such as ``secretFile``, which names the location of one."""
    return _NAME.search(name) is not None


def names_secret(name: str) -> bool:
    """Return whether a value under *name* is a secret: under ``apiKey``, not under ``api_key_file``."""
    return has_secret_word(name) and _POINTS.search(name) is None


def is_secret(name: str, value: str) -> bool:
    """Return whether *value* under *name* is a secret in clear: ``token``, ``abc``, not ``token``, ``${TOKEN}``."""
    if not value.strip() or _FILLED_IN.fullmatch(value.strip()):
        return False
    is_place = _IN_TASK.match(value) or ("credential" in name.lower() and value.startswith("/"))
    return text_has_secret(value) or (names_secret(name) and not is_place)


def text_has_secret(text: str) -> bool:
    """Return whether something in *text* has the form of a secret."""
    return _FORM.search(text) is not None


def flag_has_secret(flag: str) -> bool:
    """Return whether a mount *flag* gives a secret: ``username=u,password=p``."""
    parts = (part.partition("=") for part in flag.split(","))
    return text_has_secret(flag) or any(is_secret(name.strip(), value) for name, _, value in parts)


def argument_has_secret(argument: str) -> bool:
    """Return whether *argument* gives a secret: ``--token=abc`` or ``password=abc``, not ``--token=${DO_TOKEN}``."""
    name, _, value = argument.lstrip("-").partition("=")
    return is_secret(name, value) or flag_has_secret(value) or text_has_secret(argument)


def keys_of(entries: Mapping[str, object]) -> list[str]:
    """Return the names in *entries* whose values contain a secret, sorted."""
    return sorted(name for name, value in entries.items() if isinstance(value, str) and is_secret(name, value))
