"""The option with which a command prints its page of reference, the same in all that have one."""

from typing import Any


def add(parser: Any, page: str) -> None:
    """Add the option; *page* is what is printed, such as ``docs/lint.md``."""
    parser.add_argument("--docs", action="store_true", help=f"print {page}, in Markdown")
