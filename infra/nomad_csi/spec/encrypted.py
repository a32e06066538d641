"""
Texts of a spec that its stack's config holds encrypted: which they are, and where they may stand. Pure.

Pulumi decrypts a config value as a whole before a program reads it, and says only of the whole whether something in it
was encrypted. The file of the stack's config says what: ``{secure: v1:...}``. What that file does not hold in clear
counts as encrypted.
Source: pulumi/pulumi, ``sdk/go/common/resource/config`` (``object.go``: an encrypted value is always text;
``map.go``: ``SecureKeys``), 2026-08-21.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from nomad_csi import errors
from nomad_csi.spec import problems

Location = tuple[str | int, ...]

PLACEHOLDER = "[encrypted]"
"""Stands for an encrypted text wherever only Pulumi could read it."""

_SECURE = "secure"
_ALLOWED = "text in clear: of what is encrypted, only `secrets` and `mount_options.mount_flags` of volumes stay secret"
_OF_PLUGINS = "put the value into a Nomad variable or Vault, and name it under credentials"
_OF_OTHERS = "set it again without --secret, or hand it over in `secrets` of the volume"


class Encrypted(str):
    """`PLACEHOLDER` in a document, with the text that it stands for where that is known: ``Encrypted("pw").text``."""

    __slots__ = ("text",)
    text: str | None

    def __new__(cls, text: str | None = None) -> Self:
        """Return a placeholder for *text*; ``None``: only Pulumi can read it."""
        made = super().__new__(cls, PLACEHOLDER)
        made.text = text
        return made


def marked(written: Any) -> Any:
    """Return *written*, a value as the file of a stack's config has it, with an `Encrypted` for each encrypted text."""
    if is_secure(written):
        return Encrypted()
    if isinstance(written, Mapping):
        return {key: marked(item) for key, item in written.items()}
    return [marked(item) for item in written] if isinstance(written, list) else written


def found(known: Any, written: Any) -> Any:
    """
    Return *known*, a decrypted value, with an `Encrypted` for each text that *written* does not hold in clear.

    *written* is the same value as the file of the stack's config has it; ``None`` where that has none.
    """
    if isinstance(known, Mapping):
        below = written if isinstance(written, Mapping) and not is_secure(written) else {}
        return {key: found(item, below.get(key)) for key, item in known.items()}
    if isinstance(known, list):
        items = written if isinstance(written, list) and len(written) == len(known) else [None] * len(known)
        return [found(item, other) for item, other in zip(known, items, strict=True)]
    if isinstance(known, str) and not _is_same(known, written):
        return Encrypted(known)
    return known


def revealed(value: Any, secret: Callable[[str], Any]) -> Any:
    """Return *value* with what *secret* makes of the text of each `Encrypted` in it."""
    if isinstance(value, Encrypted):
        return secret(value.text or "")
    if isinstance(value, Mapping):
        return {key: revealed(item, secret) for key, item in value.items()}
    return [revealed(item, secret) for item in value] if isinstance(value, list) else value


def check(document: Any) -> Iterator[errors.Problem]:
    """Yield each `Encrypted` of a spec *document* that stands where it would be shown: in a file, a job, the state."""
    for location in _locations(document, ()):
        if not _is_kept(location):
            fix = _OF_PLUGINS if location[:1] == ("plugins",) else _OF_OTHERS
            path = problems.path_of("", location)
            yield errors.Problem(path=path, got="an encrypted value", allowed=_ALLOWED, fix=fix)


def _is_kept(location: Location) -> bool:
    """Return whether a text at *location* stays secret: in no file, and shown by Nomad to nobody."""
    match location:
        case ("volumes", int(), "each", int(), *inside) | ("volumes", int(), *inside) | ("classes", str(), *inside):
            return inside[:1] == ["secrets"] or inside[:2] == ["mount_options", "mount_flags"]
    return False


def _locations(value: Any, location: Location) -> Iterator[Location]:
    if isinstance(value, Encrypted):
        yield location
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in inside:
        if isinstance(item, dict | list | Encrypted):  # of 100,000 volumes, most is text
            yield from _locations(item, (*location, step))


def is_secure(written: Any) -> bool:
    """Return whether *written* is how the file of a stack's config holds an encrypted text."""
    return isinstance(written, Mapping) and set(written) == {_SECURE}


def _is_same(known: str, written: Any) -> bool:
    """Return whether *written* is the text *known*; of what YAML takes for a date, Pulumi makes text."""
    is_scalar = written is not None and not isinstance(written, str | list | Mapping)
    return known == written or (is_scalar and known == str(written))
