"""
The page of a report: one HTML file that loads and runs nothing.

Text from a cluster may be hostile: everything is escaped, invisible characters are spelled out, and the page's own
content security policy forbids scripts, frames, forms and the network.
"""

import base64
import functools
import hashlib
from typing import Any

import jinja2

from nomad_csi.render import environment
from nomad_csi.text import listing

NAME = "report.html.j2"
STYLE = "_report.css"

_REPLACED = "\\u{{{:x}}}"


def html(page: Any, *, shown_rows: int, tool_version: str) -> str:
    """
    Return *page* as HTML, with *shown_rows* rows of a table shown; the others can be expanded.

    *tool_version* is that of this package.
    """
    style = _style()
    values = {"style": style, "policy": _policy(style), "shown_rows": shown_rows, "tool_version": tool_version}
    return _environment().get_template(NAME).render(values, page=page)


def visible(text: str) -> str:
    r"""
    Return *text* with characters spelled out that are invisible, unencodable or change adjacent text.

    ``visible("a\u202eb")`` is ``"a\u{202e}b"``.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else _REPLACED.format(ord(char)) for char in text)


def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


@functools.cache
def _style() -> str:
    return (environment.templates_folder() / STYLE).read_text(encoding="utf-8")


@functools.cache
def _environment() -> jinja2.Environment:
    made = environment.configured(jinja2.Environment, [environment.templates_folder()], _shown, autoescape=True)
    made.filters["plain"] = lambda number: str(int(number))
    made.globals["counted"] = listing.grouped
    return made


def _shown(value: Any) -> Any:
    """Return *value* in printable form: numbers with separators, text made visible. Markup comes from macros."""
    if hasattr(value, "__html__") or isinstance(value, jinja2.Undefined):
        return value
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    raise TypeError(f"the page printed a {type(value).__name__}")
