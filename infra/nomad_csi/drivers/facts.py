"""A row of the catalogue as labelled facts, as text and as JSON values. Pure."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pydantic
import yaml

from nomad_csi.drivers import catalogue
from nomad_csi.spec import model as spec
from nomad_csi.text import table

TIERS = {
    "run": "the driver itself ran",
    "parsed": "only its files went through the real parser",
    "none": "not verified",
}
"""Meaning of the evidence tiers."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A label and its lines."""

    label: str
    """Empty where the heading is enough."""

    lines: tuple[str, ...]
    """One line, or a list."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """Facts under a heading."""

    title: str
    facts: tuple[Fact, ...]


def sections(driver: catalogue.Driver) -> tuple[Section, ...]:
    """Return the sections about *driver*: in general, by role, deletion, known issues."""
    roles = (
        Section(title=f"{name}, as a {role.job_type} job", facts=_facts(role)) for name, role in driver.roles.items()
    )
    deletion = [Section(title="Deletion by the controller", facts=_facts(driver.deletion))] if driver.deletion else []
    issues = tuple(f"{issue.text} ({issue.source})" for issue in driver.known_issues)
    known_issues = [Section(title="Known issues", facts=(Fact(label="", lines=issues),))] if issues else []
    return (Section(title="In general", facts=_facts(driver)), *roles, *deletion, *known_issues)


def tier(driver: catalogue.Driver) -> str:
    """Return the evidence tier of *driver* if its roles have one: ``run``; else ``controller run, node parsed``."""
    tiers = {name: role.evidence.tier for name, role in driver.roles.items()}
    if len(set(tiers.values())) == 1:
        return next(iter(tiers.values()))
    return ", ".join(f"{name} {each}" for name, each in tiers.items())


def evidence_as_of(driver: catalogue.Driver) -> str:
    """Return the day of the oldest evidence among the roles of *driver*; ``-`` where there is none."""
    return min((role.evidence.as_of for role in driver.roles.values() if role.evidence.as_of), default="-")


def example(driver: catalogue.Driver) -> dict[str, list[dict[str, Any]]]:
    """Return a complete spec with a plugin and a volume of *driver*."""
    plugin = {"id": f"{driver.name}0", "driver": driver.name, **driver.example.plugin}
    volume = {"id": driver.example.volume["id"], "plugin_id": plugin["id"], **driver.example.volume}
    return {"plugins": [plugin], "volumes": [volume]}


_NOT_FACTS = frozenset(
    {
        *("name", "title", "roles", "deletion", "known_issues", "example", "job_type"),  # elsewhere on the page
        *("pattern", "gone", "snapshot_id", "snapshot_part_of_volume"),  # regular expressions; the text is beside them
    }
)
"""Fields that are no facts of their own."""


def _facts(row: pydantic.BaseModel) -> tuple[Fact, ...]:
    """Return a fact for each field of *row* that has a value, under the key by which a spec describes a driver."""
    found = []
    for name, value in row:
        if name == "arguments":
            lines = [" ".join(value)]
        else:
            lines = ["none"] if (name, value) == ("allowed", frozenset()) else _lines(value)
        if lines and name not in _NOT_FACTS:
            found.append(Fact(label=name, lines=tuple(lines)))
    return tuple(found)


def _lines(value: Any) -> list[str]:
    """Return *value* as text: a line for each item, for each field, and for all keys with the same value."""
    if isinstance(value, spec.CapabilitySpec):
        return [f"{value.access_mode} {value.attachment_mode}"]
    if isinstance(value, pydantic.BaseModel):
        return [f"{fact.label}: {line}" for fact in _facts(value) for line in fact.lines]
    if isinstance(value, Mapping):
        keys_of: dict[str, list[str]] = {}
        for key in sorted(value):
            keys_of.setdefault("; ".join(_lines(value[key])), []).append(key)
        return [f"{', '.join(keys)}: {text}" for text, keys in keys_of.items()]
    if isinstance(value, frozenset):
        return [", ".join(sorted(filter(None, value)))] if value else []
    if isinstance(value, tuple):
        return ["; ".join(_lines(item)) for item in value]
    return [] if value in (None, "", False) else ["yes" if value is True else str(value)]


# The catalogue as text and as JSON values.


WIDTH = 100
"""Columns of the text."""

_LABEL_WIDTH = 23


def rows(
    drivers: Iterable[catalogue.Driver], unusable: Iterable[catalogue.Unusable] = ()
) -> tuple[tuple[str, ...], ...]:
    """
    Return a heading, and one row for each driver: name, title, version, roles, evidence tier, day of the evidence.

    Rows for the *unusable* drivers follow.
    """
    found = (
        (item.name, item.title, item.version, ", ".join(item.roles), tier(item), evidence_as_of(item))
        for item in drivers
    )
    others = ((item.name, item.title, "-", "-", "cannot run on Nomad", item.as_of) for item in unusable)
    return (("driver", "title", "version", "roles", "evidence", "as of"), *found, *others)


def as_text(driver: catalogue.Driver | catalogue.Unusable) -> str:
    """Return the full description of *driver* for a terminal, ending in a newline."""
    if isinstance(driver, catalogue.Unusable):
        head = f"{driver.name}: {driver.title} cannot run on Nomad"
        return "\n".join([head, "", *(line for fact in _facts(driver) for line in _labelled(fact))]) + "\n"
    head = f"{driver.name}: the {driver.title} CSI driver"
    sample = yaml.safe_dump(example(driver), sort_keys=False, width=WIDTH)
    replaced = Fact(label="replace", lines=(driver.example.replace,))
    spec = "\n".join(["In a spec", textwrap.indent(sample, "  "), *_labelled(replaced)])
    return "\n\n".join([head, *map(_text_of, sections(driver)), spec]) + "\n"


def as_json(driver: catalogue.Driver | catalogue.Unusable) -> dict[str, Any]:
    """Return *driver* as values for `json.dumps`: its fields, sets as sorted lists."""
    return {name: _plain(value) for name, value in driver.model_dump().items()}


def _text_of(section: Section) -> str:
    return "\n".join([section.title, *(line for fact in section.facts for line in _labelled(fact))])


def _labelled(fact: Fact) -> Iterator[str]:
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
