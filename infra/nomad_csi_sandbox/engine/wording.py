"""
The CLI's words for steps, and how it lays out the outputs of a stack.

Source: pulumi/pulumi, ``pkg/backend/display/progress.go`` (``getStepDoneDescription``) and captures.
"""

import json
from typing import Any

from nomad_csi_sandbox.engine import values

MARKS = {
    "create": "+ ",
    "update": "~ ",
    "delete": "- ",
    "replace": "+-",
    "create-replacement": "++",
    "delete-replaced": "--",
    "discard-replaced": "< ",
    "import": "= ",
    "read": "> ",
    "refresh": "~ ",
}

_WORDS = {  # planned, under way, done
    "create": ("create", "creating", "created"),
    "update": ("update", "updating", "updated"),
    "delete": ("delete", "deleting", "deleted"),
    "replace": ("replace", "replacing", "replaced"),
    "create-replacement": ("create replacement", "creating replacement", "created replacement"),
    "delete-replaced": ("delete original", "deleting original", "deleted original"),
    "discard-replaced": ("discard original", "discarding original", "discarded original"),
    "import": ("import", "importing", "imported"),
    "read": ("read", "reading", "read"),
    "refresh": ("refreshing", "refreshing", "refresh"),
}


def beginning(op: str, *, dry: bool) -> str:
    """Return what stands in a row while a step is under way."""
    if op not in _WORDS:
        return ""
    planned, under_way, _ = _WORDS[op]
    return planned if dry else f"{under_way} (0s)"


def done(op: str, *, dry: bool, seconds: float) -> str:
    """Return what stands in a row after a step."""
    if op not in _WORDS:
        return ""
    planned, _, past = _WORDS[op]
    return planned if dry else f"{past} ({f'{seconds:.2f}' if seconds < 1 else int(seconds)}s)"


def failure(op: str, *, dry: bool) -> str:
    """Return what stands in a row after a step that failed."""
    if op not in _WORDS:
        return "" if dry else "**failed**"
    planned, under_way, _ = _WORDS[op]
    return planned if dry else f"**{under_way} failed**"


def outputs(old: values.Properties, new: values.Properties) -> list[str]:
    """Return the lines under ``Outputs:``; what is new or other than before carries its mark."""
    shown_old, shown_new = values.redact(old), values.redact(new)
    names = sorted({*shown_new, *shown_old} if shown_old else shown_new)
    width = max(map(len, names), default=0)
    lines = []
    for name in names:
        lines += _output(name.ljust(width), shown_old, shown_new, name)
    return lines


def _output(label: str, old: values.Properties, new: values.Properties, name: str) -> list[str]:
    if name not in new:
        return _entry(f"  - {label}", old[name])
    if old and name not in old:
        return _entry(f"  + {label}", new[name])
    before = old.get(name, new[name])
    if before == new[name] or isinstance(new[name], dict | list) or isinstance(before, dict | list):
        return _entry(f"  {'~ ' if before != new[name] else '  '}{label}", new[name])
    return [f"  ~ {label}: {_scalar(before)} => {_scalar(new[name])}"]


def _entry(head: str, value: Any) -> list[str]:
    first, *rest = render(value)
    return [f"{head}: {first}", *(f"    {line}" for line in rest)]


def render(value: Any) -> list[str]:
    """Return *value* in lines, as the CLI writes it."""
    if isinstance(value, dict) and value:
        width = max(map(len, value))
        return ["{", *_indented((name.ljust(width), value[name]) for name in sorted(value)), "}"]
    if isinstance(value, list) and value:
        return ["[", *_indented((f"[{index}]", item) for index, item in enumerate(value)), "]"]
    return [_scalar(value)]


def _indented(pairs: Any) -> list[str]:
    lines = []
    for label, value in pairs:
        first, *rest = render(value)
        lines += [f"    {label}: {first}", *(f"    {line}" for line in rest)]
    return lines


def _scalar(value: Any) -> str:
    if value in ("[secret]", "[unknown]"):
        return str(value)
    return (
        json.dumps(value, ensure_ascii=False)
        if not isinstance(value, dict | list)
        else ("{}", "[]")[isinstance(value, list)]
    )
