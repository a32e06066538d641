"""Find secrets in clear text in a spec, also where no rendered file would show them. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nomad_csi.findings import Finding
from nomad_csi.lint.model import finding_at_line
from nomad_csi.spec import encrypted
from nomad_csi.text import secrets

_ADVICE = (
    "remove it, rotate it, and pass it with --secrets or NOMAD_CSI_SECRETS; in a stack's config, encrypt it with "
    "`pulumi config set --secret --path`"
)


def check(document: Any, lines_of: Callable[[Iterable[str]], Mapping[str, int]]) -> Iterator[Finding]:
    """
    Yield a finding for each secret in clear text in a spec *document*; *lines_of* returns the lines of paths in it.

    Secrets are the values under ``secrets`` of a volume, a class or a member of a set, and values in a secret's form.
    """
    places = tuple(dict.fromkeys(_places(document, "")))
    for path, line in (lines_of(places) if places else {}).items():
        yield finding_at_line("secret-in-file", line, f"a plain-text value at {path}", _ADVICE)


def _places(value: Any, path: str, *, is_secret: bool = False) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            below = f"{path}.{key}".lstrip(".")
            yield from _places(item, below, is_secret=is_secret or (key == "secrets" and _is_volume(path)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, f"{path}[{index}]", is_secret=is_secret)
    elif not isinstance(value, str) or isinstance(value, encrypted.Encrypted):
        return
    elif (is_secret and value) or secrets.text_has_secret(value):
        yield path


def _is_volume(path: str) -> bool:
    """Return whether *path* is that of a volume or of a part of one."""
    return path.startswith(("volumes[", "classes."))
