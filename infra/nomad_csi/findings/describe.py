"""The registry as people read it: what `--explain` says of one code, and the pages of the documentation."""

import textwrap

from nomad_csi.findings import registry
from nomad_csi.findings.registry import Condition

WIDTH = 100
"""Columns of the text."""

_MADE_BY = "nomad-csi lint --docs > docs/lint.md"
_LINT = f"""\
<!-- Generated from infra/nomad_csi/findings/codes.yaml by `{_MADE_BY}`: edit that, not this. -->

# What `nomad-csi lint` looks for

`nomad-csi lint FILE...` reads job files, volume files and IAM policies, in HCL or JSON, and prints these findings \
with file and line. An *error* does not work, or loses something; a *warning* works until something else changes. \
Files given together are compared with each other. A folder stands for all `*.hcl` below it, and for the `*.json` \
that are IAM policies. `lint` does not replace `nomad job validate`: run both. It exits with 0 when there is no \
error, 1 when there is one (with `--strict` a warning is enough), 2 when a file cannot be read, 64 on a usage error. \
What a driver accepts is in [its row](drivers.md)."""


def as_text(condition: Condition) -> str:
    """Return all about *condition* for a terminal, ending in a newline."""
    parts = (
        ("", condition.explanation),
        ("fix        ", condition.fix),
        ("source     ", condition.source),
        ("otherwise  ", condition.otherwise),
        ("found by   ", ", ".join(condition.commands)),
    )
    lines = [f"{condition.code}: {condition.severity}"]
    for label, text in parts:
        indent = f"  {label}"
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=indent,
            subsequent_indent=" " * len(indent),
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines) + "\n"


def page(command: str) -> str:
    """Return all that *command* reports, in Markdown: a page of its own for lint, the end of one for the others."""
    level = 2 if command == "lint" else 3
    parts = [_LINT] if command == "lint" else []
    for title, conditions in registry.of_command(command).items():
        parts.append(f"{'#' * level} {title}")
        parts += [_entry(item, level + 1) for item in conditions]
    return "\n\n".join(parts) + "\n"


def _entry(condition: Condition, level: int) -> str:
    fix = f"{condition.fix[0].upper()}{condition.fix[1:]}."
    otherwise = f"\n- **otherwise**: {_escaped(condition.otherwise)}" if condition.otherwise else ""
    return (
        f"{'#' * level} `{condition.code}` ({condition.severity})\n\n{_escaped(condition.explanation)}\n\n"
        f"- **fix**: {_escaped(fix)}\n- **source**: {_escaped(condition.source)}{otherwise}"
    )


def _escaped(text: str) -> str:
    """Return *text* as Markdown that reads the same; what stands in backquotes stays."""
    parts = text.split("`")
    for index in range(0, len(parts), 2):
        for character in "\\*<":
            parts[index] = parts[index].replace(character, f"\\{character}")
    return "`".join(parts)
