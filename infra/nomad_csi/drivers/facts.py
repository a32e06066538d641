"""A row of the catalogue as YAML and as JSON values. Pure."""

from collections.abc import Iterable
from typing import Any

import yaml

from nomad_csi.drivers import catalogue

TIERS = {
    "run": "the driver itself ran",
    "parsed": "only its files went through the real parser",
    "none": "not verified",
}
"""Meaning of the evidence tiers."""

WIDTH = 100
"""Columns of the text."""


def tier(driver: catalogue.Driver) -> str:
    """Return the evidence tier of *driver* if its roles have one: ``run``; else ``controller run, node parsed``."""
    tiers = {name: role.evidence.tier for name, role in driver.roles.items()}
    if len(set(tiers.values())) == 1:
        return next(iter(tiers.values()))
    return ", ".join(f"{name} {each}" for name, each in tiers.items())


def example(driver: catalogue.Driver) -> dict[str, list[dict[str, Any]]]:
    """Return a complete spec with a plugin and a volume of *driver*."""
    plugin = {"id": f"{driver.name}0", "driver": driver.name, **driver.example.plugin}
    volume = {"id": driver.example.volume["id"], "plugin_id": plugin["id"], **driver.example.volume}
    return {"plugins": [plugin], "volumes": [volume]}


def rows(
    drivers: Iterable[catalogue.Driver], unusable: Iterable[catalogue.Unusable] = ()
) -> tuple[tuple[str, ...], ...]:
    """
    Return a heading, and one row for each driver: name, title, version, roles, evidence tier, day of the comparison.

    Rows for the *unusable* drivers follow.
    """
    usable = ((item.name, item.title, item.version, ", ".join(item.roles), tier(item), item.as_of) for item in drivers)
    others = ((item.name, item.title, "-", "-", "cannot run on Nomad", item.as_of) for item in unusable)
    return (("driver", "title", "version", "roles", "evidence", "as of"), *usable, *others)


def as_text(driver: catalogue.Driver | catalogue.Unusable, without: frozenset[str] = frozenset()) -> str:
    """Return *driver* as YAML, under the keys by which a spec describes one; defaults, and *without* keys, left out."""
    values = _plain(driver.model_dump(exclude_defaults=True), without)
    head = "# It cannot run on Nomad.\n" if isinstance(driver, catalogue.Unusable) else ""
    return head + str(yaml.safe_dump(values, sort_keys=False, width=WIDTH))


def as_json(driver: catalogue.Driver | catalogue.Unusable) -> dict[str, Any]:
    """Return *driver* as values for `json.dumps`: its fields, sets as sorted lists."""
    return {name: _plain(value) for name, value in driver.model_dump().items()}


def _plain(value: Any, without: frozenset[str] = frozenset()) -> Any:
    if isinstance(value, frozenset):
        return sorted(_plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [_plain(item, without) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item, without) for name, item in value.items() if name not in without}
    return value
