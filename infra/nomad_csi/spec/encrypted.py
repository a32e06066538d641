"""
Encrypted strings of a spec in stack config: how to find them, and where they are allowed. Pure.

Pulumi decrypts a config value as a whole before a program reads it, and reports only whether any part of it was
encrypted. The stack's config file shows which: ``{secure: v1:...}``. A value that is not in clear text in that file
counts as encrypted.
Source: pulumi/pulumi, ``sdk/go/common/resource/config`` (``object.go``: an encrypted value is always text;
``map.go``: ``SecureKeys``), 2026-08-21.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from nomad_csi import errors

Location = tuple[str | int, ...]

PLACEHOLDER = "[encrypted]"
"""Replaces an encrypted string that only Pulumi can decrypt."""

_SECURE = "secure"
_ALLOWED = "text in clear: of what is encrypted, only `secrets` and `mount_options.mount_flags` of volumes stay secret"
_OF_PLUGINS = "put the value into a Nomad variable or Vault, and name it under credentials"
_OF_OTHERS = "set it again without --secret, or hand it over in `secrets` of the volume"


class Encrypted(str):
    """`PLACEHOLDER` in a document, with its decrypted text where that is known: ``Encrypted("pw").text``."""

    __slots__ = ("text",)
    text: str | None

    def __new__(cls, text: str | None = None) -> Self:
        """Return a placeholder for *text*; ``None``: only Pulumi can decrypt it."""
        placeholder = super().__new__(cls, PLACEHOLDER)
        placeholder.text = text
        return placeholder


def marked(written: Any) -> Any:
    """Return *written*, a value of a stack's config file, with an `Encrypted` for each encrypted string."""
    if is_secure(written):
        return Encrypted()
    if isinstance(written, Mapping):
        return {key: marked(item) for key, item in written.items()}
    return [marked(item) for item in written] if isinstance(written, list) else written


def mark_encrypted(known: Any, written: Any) -> Any:
    """
    Return *known*, a decrypted value, with an `Encrypted` for each string that is not in clear text in *written*.

    *written* is the same value in the stack's config file; ``None`` where the file has none.
    """
    if isinstance(known, Mapping):
        below = written if isinstance(written, Mapping) and not is_secure(written) else {}
        return {key: mark_encrypted(item, below.get(key)) for key, item in known.items()}
    if isinstance(known, list):
        items = written if isinstance(written, list) and len(written) == len(known) else [None] * len(known)
        return [mark_encrypted(item, other) for item, other in zip(known, items, strict=True)]
    # A date of the YAML file is text by now.
    if isinstance(known, str) and (written is None or known != str(written)):
        return Encrypted(known)
    return known


def revealed(value: Any, secret: Callable[[str], Any]) -> Any:
    """Return *value* with each `Encrypted` in it replaced by the result of *secret* for its text."""
    if isinstance(value, Encrypted):
        return secret(value.text or "")
    if isinstance(value, Mapping):
        return {key: revealed(item, secret) for key, item in value.items()}
    return [revealed(item, secret) for item in value] if isinstance(value, list) else value


def check(document: Any) -> Iterator[errors.Problem]:
    """Yield each `Encrypted` of a spec *document* that would be exposed: in a file, a job, the state."""
    for location in _locations(document, ()):
        if not _is_kept(location):
            fix = _OF_PLUGINS if location[:1] == ("plugins",) else _OF_OTHERS
            path = errors.path_of("", location)
            yield errors.Problem(path=path, got="an encrypted value", allowed=_ALLOWED, fix=fix)


def _is_kept(location: Location) -> bool:
    """Return whether a string at *location* stays secret: written to no file, and never returned by Nomad."""
    match location:
        case ("volumes", int(), "each", int(), *inside) | ("volumes", int(), *inside) | ("classes", str(), *inside):
            return inside[:1] == ["secrets"] or inside[:2] == ["mount_options", "mount_flags"]
    return False


def _locations(value: Any, location: Location) -> Iterator[Location]:
    if isinstance(value, Encrypted):
        yield location
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in inside:
        if isinstance(item, dict | list | Encrypted):  # in 100,000 volumes, most items are strings
            yield from _locations(item, (*location, step))


def is_secure(written: Any) -> bool:
    """Return whether *written* is an encrypted string in the form of a stack's config file."""
    return isinstance(written, Mapping) and set(written) == {_SECURE}
