"""Rules and verdicts as people and programs read them: text, JSON, the page of the documentation. Pure."""

import dataclasses
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi.lint import table
from nomad_csi.lint.model import Rule, Verdict

WIDTH = 100
"""Columns of the text."""

_MADE_BY = "nomad-csi lint --docs > docs/lint.md"
_INTRODUCTION = (
    "`nomad-csi lint FILE...` reads job files, volume files and IAM policies, in HCL or JSON, and prints these "
    "verdicts with file and line. An *error* does not work, or loses something; a *warning* works until something else "
    "happens. Files given together are compared with each other. It exits with 0 when there is no error, 1 when there "
    "is one (with `--strict` a warning is enough), 2 when a file cannot be read, 64 when it was typed wrong. What a "
    "driver takes stands in [its row](drivers.md)."
)


def as_text(rule: Rule) -> str:
    """Return all about *rule* for a terminal, ending in a newline."""
    parts = (("", rule.explanation), ("fix     ", rule.fix), ("source  ", rule.source))
    lines = [f"{rule.code}: {rule.severity}"]
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


def as_json(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """
    Return *verdicts* as JSON values. Keys are kept once released.

    ``{"ok": bool, "findings": [...]}``; a finding has ``code``, ``severity``, ``file``, ``line``, ``subject``,
    ``found`` and ``fix``.
    """
    found = [dataclasses.asdict(verdict) for verdict in verdicts]
    return {"ok": all(item["severity"] != "error" for item in found), "findings": found}


def rule_as_json(rule: Rule) -> Mapping[str, str]:
    """Return *rule* as JSON values: ``code``, ``severity``, ``explanation``, ``fix``, ``source``."""
    return dataclasses.asdict(rule)


def page() -> str:
    """Return the page of the documentation, in Markdown."""
    parts = [
        f"<!-- Generated from the rules in infra/nomad_csi/lint by `{_MADE_BY}`: edit those, not this. -->",
        "# What `nomad-csi lint` looks for",
        _INTRODUCTION,
    ]
    for title, rules in table.CHAPTERS.items():
        parts.append(f"## {title}")
        parts += [_entry(rule) for rule in rules]
    return "\n\n".join(parts) + "\n"


def _entry(rule: Rule) -> str:
    head = f"### `{rule.code}` ({rule.severity})"
    fix = f"{rule.fix[0].upper()}{rule.fix[1:]}."
    return (
        f"{head}\n\n{_escaped(rule.explanation)}\n\n- **fix**: {_escaped(fix)}\n- **source**: {_escaped(rule.source)}"
    )


def _escaped(text: str) -> str:
    """Return *text* as Markdown that reads the same."""
    for character in "\\*<":
        text = text.replace(character, f"\\{character}")
    return text
