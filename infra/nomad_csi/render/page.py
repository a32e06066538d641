"""
The page of a report: one file of HTML that loads nothing and runs nothing.

What a cluster says may be hostile: everything is escaped, what nobody could see is spelled out, and the page's own
policy forbids scripts, frames, forms and the network.
"""

import base64
import functools
import hashlib
from collections.abc import Mapping
from typing import Any

import jinja2

from nomad_csi.render import environment
from nomad_csi.text import listing

NAME = "report.html.j2"
STYLE = "_report.css"

HEADS: Mapping[str, tuple[str, ...]] = {
    "instance_heads": ("Client", "Role", "Zone", "Status", "Evidence", "Detail"),
    "client_heads": ("Client", "State", "Zone", "Node pool", "Datacenter", "Nomad", "What is not well"),
    "volume_heads": ("Volume", "Status", "Plugin", "Zone", "External id", "Claims", "Evidence"),
    "claim_heads": ("Volume", "Status", "Mode", "Job", "Client", "Since", "Allocation"),
    "evidence_heads": ("Evidence", "What", "What that means"),
}

TIERS: Mapping[str, str] = {
    "smoke": "a job wrote through the volume, and another one read the data back",
    "csi": "it answered over its own CSI socket",
    "nomad": "Nomad says so. It hears of a plugin that hangs after 46 s, and of one that restarts in place never",
    "-": "it is missing, not healthy, or was not checked",
}

SMOKE_KINDS: Mapping[str, str] = {"verified": "good", "failed": "bad", "not verified": "unsure"}
_REPLACED = "\\u{{{:x}}}"


def html(page: Any, *, shown_rows: int) -> str:
    """Return *page* (`report.page.Page`) as HTML, with so many rows of a table shown; the rest can be opened."""
    style = _style()
    plugins = tuple(item.plugin.plugin_id for item in page.plugins)
    return (
        _environment()
        .get_template(NAME)
        .render(
            page=page,
            policy=_policy(style),
            style=style,
            shown_rows=shown_rows,
            zone_heads=("Zone", "Clients", *plugins, "Volumes", "Claimed"),
            tiers=TIERS,
            smoke_kinds=SMOKE_KINDS,
            **HEADS,
        )
    )


def visible(text: str) -> str:
    r"""
    Return *text* with everything spelled out that changes what stands beside it, or cannot be seen or written.

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
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([environment.templates_folder()]),
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.filters["plain"] = lambda number: str(int(number))
    made.globals["counted"] = listing.grouped
    return made


def _shown(value: Any) -> Any:
    """Return *value* fit to be printed: numbers with separators, text made visible. Markup is a macro's own."""
    if hasattr(value, "__html__") or isinstance(value, jinja2.Undefined):
        return value
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    raise TypeError(f"the page printed a {type(value).__name__}")
