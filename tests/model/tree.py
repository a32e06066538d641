"""
The whole table of a decision: every fact that it reads, every value of it, and what is decided then.

A decision reads a fact only where it matters. So the table is a tree, complete by construction: a fact that was not
read on a path may have any value. ``python -m tests.model.tree`` writes `decisions.txt`.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

from nomad_csi.volumes import decide, facts

FILE = Path(__file__).parent / "decisions.txt"

KINDS: Mapping[str, tuple[type, Callable[[Any], decide.Decision]]] = {
    "wanted": (facts.Presence, decide.decide_presence),
    "removed": (facts.Removal, decide.decide_removal),
}


class _Unread(Exception):  # noqa: N818  # not an error: the next fact to branch on
    """A fact was read that has no value yet."""


class _Facts:
    """Facts with the values *known*; reading another one raises."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = known

    def __getattr__(self, name: str) -> Any:
        if name not in self._known:
            raise _Unread(name)
        return self._known[name]


def values(kind):
    """Return the values of each fact of *kind*."""
    declared = {name: item for name, item in vars(kind).items() if isinstance(item, property)}
    hints = {name: get_type_hints(item.fget)["return"] for name, item in declared.items()}
    return {name: (False, True) if hint is bool else get_args(hint) for name, hint in hints.items()}


def leaves(kind: str) -> Iterator[tuple[dict[str, Any], decide.Decision]]:
    """Yield the facts that were read, and the decision, of every path through the decision *kind*."""
    of, function = KINDS[kind]
    yield from _branch(values(of), function, {})


def _branch(values, function, known):
    try:
        decision = function(_Facts(known))
    except _Unread as unread:
        name = str(unread)
        for value in values[name]:
            yield from _branch(values, function, known | {name: value})
    else:
        yield known, decision


def sentence(decision: decide.Decision) -> str:
    """Return *decision* as a cell of the table."""
    done = f"refused: {decision.refusal}" if decision.refusal else ", ".join(decision.steps) or "nothing"
    return done + (f" ({', '.join(decision.remarks)})" if decision.remarks else "")


def lines(kind: str) -> Iterator[str]:
    """Yield the tree of a decision, a fact a line; values with equal branches are one line."""
    of, function = KINDS[kind]
    yield kind
    yield from _lines(values(of), function, {}, "  ")


def _lines(values, function, known, indent):
    try:
        yield f"{indent}-> {sentence(function(_Facts(known)))}"
    except _Unread as unread:
        name = str(unread)
        branches: dict[tuple[str, ...], list[str]] = {}
        for value in values[name]:
            below = tuple(_lines(values, function, known | {name: value}, indent + "  "))
            branches.setdefault(below, []).append(str(value))
        for below, same in branches.items():
            head = f"{indent}{name} = {' | '.join(same)}"
            if len(below) == 1:
                yield f"{head} {below[0].strip()}"
            else:
                yield head
                yield from below


def text() -> str:
    """Return the tables of all decisions."""
    return "\n".join(line for kind in KINDS for line in lines(kind)) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
