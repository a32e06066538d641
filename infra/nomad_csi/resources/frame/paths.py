"""
Property paths as Pulumi writes them: ``a.b``, ``a[0]``, ``a["b.c"]``.

Source: pulumi/pulumi, ``sdk/go/common/resource/property_path.go``, ``ParsePropertyPath``.
"""

import re
from collections.abc import Iterable

_PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_FIRST_NAME = re.compile(r"[^.\[]*")


def join(path: str, step: str | int) -> str:
    """Return the path of *step* below *path*: ``join("a", "b.c")`` is ``'a["b.c"]'``."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    if not _PLAIN_NAME.fullmatch(step):
        quoted = step.replace("\\", "\\\\").replace('"', '\\"')
        return f'{path}["{quoted}"]'
    return f"{path}.{step}" if path else step


def top(path: str) -> str:
    """Return the top-level property of *path*: ``top("a[0].b")`` is ``"a"``."""
    found = _FIRST_NAME.match(path)
    return found.group() if found else path


def is_covered(path: str, by: Iterable[str]) -> bool:
    """Return whether *path* is one of the paths in *by*, or below one; ``[*]`` stands for any index or name."""
    return any(_pattern(cover).match(path) for cover in by)


def _pattern(cover: str) -> re.Pattern[str]:
    any_step = r"(\[\d+\]|\[\"(?:[^\"\\]|\\.)*\"\]|\.[\w$]+)"
    parts = [re.escape(part) for part in cover.split("[*]")]
    return re.compile(any_step.join(parts) + r"(?![\w$])")
