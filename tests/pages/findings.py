"""The page of all findings, from ``nomad_csi/findings/codes.yaml``."""

from nomad_csi.findings import registry
from tests.pages import escaped

HEAD = """# Findings

Every finding has a code, which stays the same in all releases. An *error* does not work, loses something, or differs
from the spec. A *warning* works until something else changes. A code has one severity in all commands. Where a
finding is explained by another one, it is printed below that, without advice. `nomad-csi explain CODE` prints an
entry of this page, with the source of what it says."""


def page():
    """Return the page: a chapter for each subject, an entry for each code."""
    parts = [HEAD]
    for title, rows in registry.chapters().items():
        parts.append(f"## {title}")
        parts += [_entry(item) for item in rows.values()]
    return "\n\n".join(parts)


def _entry(item):
    by = ", ".join(f"`{name}`" for name in item.commands)
    causes = f" Explained by {', '.join(f'`{code}`' for code in item.causes)}." if item.causes else ""
    fix = f"{item.fix[0].upper()}{item.fix[1:]}"
    return f"### `{item.code}`\n\n{item.severity.capitalize()} ({by}). {escaped(item.explanation)} **Fix:** {escaped(fix)}.{causes}"
