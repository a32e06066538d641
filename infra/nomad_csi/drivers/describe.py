"""The catalogue as text and as JSON values. Pure."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from nomad_csi.drivers import facts, model
from nomad_csi.text import table

WIDTH = 100
"""Columns of the text."""

_LABEL_WIDTH = 23


def rows(drivers: Iterable[model.Driver], unusable: Iterable[model.Unusable] = ()) -> tuple[tuple[str, ...], ...]:
    """
    Return a heading, and one row for each driver: name, title, version, roles, evidence tier, day of the evidence.

    Rows for the *unusable* drivers follow.
    """
    found = (
        (item.name, item.title, item.version, ", ".join(item.roles), facts.tier(item), facts.evidence_as_of(item))
        for item in drivers
    )
    others = ((item.name, item.title, "-", "-", "cannot run on Nomad", item.as_of) for item in unusable)
    return (("driver", "title", "version", "roles", "evidence", "as of"), *found, *others)


def as_text(driver: model.Driver | model.Unusable) -> str:
    """Return the full description of *driver* for a terminal, ending in a newline."""
    if isinstance(driver, model.Unusable):
        head = f"{driver.name}: {driver.title} cannot run on Nomad"
        return "\n".join([head, "", *(line for fact in facts.unusable(driver) for line in _labelled(fact))]) + "\n"
    head = f"{driver.name}: the {driver.title} CSI driver"
    example = yaml.safe_dump(facts.example(driver), sort_keys=False, width=WIDTH)
    replaced = facts.Fact(label="replace", lines=(driver.example.replace,))
    spec = "\n".join(["In a spec", textwrap.indent(example, "  "), *_labelled(replaced)])
    return "\n\n".join([head, *map(_section, facts.sections(driver)), spec]) + "\n"


def as_json(driver: model.Driver | model.Unusable) -> dict[str, Any]:
    """Return *driver* as values for `json.dumps`: its fields, sets as sorted lists."""
    return {name: _plain(value) for name, value in driver.model_dump().items()}


def _section(section: facts.Section) -> str:
    return "\n".join([section.title, *(line for fact in section.facts for line in _labelled(fact))])


def _labelled(fact: facts.Fact) -> Iterator[str]:
    """Yield the lines of *fact* in two columns; in one column without a label."""
    head = f"  {fact.label:<{_LABEL_WIDTH}}" if fact.label else "  "
    mark = "- " if len(fact.lines) > 1 or not fact.label else ""
    for line in fact.lines:
        yield from table.wrapped(head + mark, line, WIDTH) if line else ()
        head = " " * len(head)


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(_plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value
