"""What looks like a secret. The value is never told."""

import re
from collections.abc import Mapping

_NAME = re.compile(
    r"(?i)(?:^|[_.-])(?:password|passwd|secret|token|api[_-]?key|private[_-]?key|secret[_-]?key|access[_-]?key)"
    r"(?:$|[_.-])|password|passwd|^AWS_SECRET_ACCESS_KEY$"
)
_KEY = re.compile(r"AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE KEY-----|dop_v1_[0-9a-f]{16,}|hvs\.[A-Za-z0-9_-]{16,}")
"""Access keys of AWS, private keys, tokens of DigitalOcean and of Vault."""

_FILLED_IN = re.compile(r"\$\{[^}]*\}|\{\{.*\}\}", re.DOTALL)
_POINTS = re.compile(r"(?i)(?:file|path|dir|name|arn|url|endpoint|ttl|identity)$")
"""Ends of names that say where a secret is, not what it is."""


def in_argument(argument: str) -> bool:
    """Return whether *argument* gives a secret: ``--token=abc``, not ``--token=${DO_TOKEN}``."""
    name, _, value = argument.lstrip("-").partition("=")
    return bool(_KEY.search(argument)) or (argument.startswith("-") and is_secret(name, value))


def is_secret(name: str, value: str) -> bool:
    """Return whether *value* under *name* is a secret in clear."""
    if not value.strip() or _FILLED_IN.fullmatch(value.strip()):
        return False
    return bool(_KEY.search(value)) or (_NAME.search(name) is not None and _POINTS.search(name) is None)


def keys_of(entries: Mapping[str, object]) -> list[str]:
    """Return the names in *entries* under which a secret stands, sorted."""
    return sorted(name for name, value in entries.items() if isinstance(value, str) and is_secret(name, value))
