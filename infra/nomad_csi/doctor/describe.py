"""Rules as people and programs read them: text, and the table of the documentation. Pure."""

from nomad_csi.doctor import table
from nomad_csi.lint.model import Rule


def codes() -> str:
    """Return the part of docs/doctor.md with all codes, in Markdown."""
    parts: list[str] = []
    for title, rules in table.CHAPTERS.items():
        parts.append(f"### {title}")
        parts += [_entry(rule) for rule in rules]
    return "\n\n".join(parts) + "\n"


def _entry(rule: Rule) -> str:
    fix = f"{rule.fix[0].upper()}{rule.fix[1:]}."
    return (
        f"#### `{rule.code}` ({rule.severity})\n\n{_escaped(rule.explanation)}\n\n"
        f"- **fix**: {_escaped(fix)}\n- **source**: {_escaped(rule.source)}"
    )


def _escaped(text: str) -> str:
    """Return *text* as Markdown that reads the same; what stands in backquotes stays."""
    parts = text.split("`")
    for index in range(0, len(parts), 2):
        for character in "\\*<":
            parts[index] = parts[index].replace(character, f"\\{character}")
    return "`".join(parts)
