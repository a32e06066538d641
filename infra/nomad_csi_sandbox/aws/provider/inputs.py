"""
What follows from a row without asking AWS: checked inputs, differences, inputs after a refresh or an import.

Source: measured with the real engine; pulumi/pulumi-aws, ``provider/tags.go`` and ``provider/region.go``, read 2026-11.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.provider import wire
from nomad_csi_sandbox.aws.provider import forms, rows

SUFFIX_DIGITS = 7
"""Hex digits that follow the resource's name in a generated one (pulumi-aws, ``provider/autonaming.go``)."""


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What the provider's configuration adds to every resource."""

    region: str
    tags: Mapping[str, str]


def checked(row: rows.Row, news: Mapping[str, Any], defaults: Defaults, *, generated_name: str = "") -> rows.Properties:
    """Return *news* with the defaults of the type and of the provider; *generated_name* where a name is missing."""
    inputs = {**row.defaults, **{name: value for name, value in news.items() if value is not None}}
    for name, form in row.forms.items():
        if form is forms.DOCUMENT and isinstance(inputs.get(name), Mapping):
            inputs[name] = json.dumps(inputs[name])
    if row.autonamed:
        inputs.setdefault(row.autonamed, generated_name)
    if row.has_region:
        inputs.setdefault("region", defaults.region)
    if row.has_tags:
        inputs["tagsAll"] = _all_tags(inputs.get("tags"), defaults.tags)
    return inputs


def _all_tags(tags: Any, default_tags: Mapping[str, str]) -> Any:
    """Return the default tags with *tags* over them; unknown as soon as one of them is."""
    if tags == wire.UNKNOWN or wire.UNKNOWN in (tags or {}).values():
        return wire.UNKNOWN
    return {**default_tags, **(tags or {})}


def generated_name(resource_name: str, random_seed: bytes) -> str:
    """Return ``<resource name>-<seven hex digits>``, the same for the same seed."""
    return f"{resource_name}-{random_seed.hex()[:SUFFIX_DIGITS]}"


def failures(row: rows.Row, resource_name: str, news: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with *news*: required inputs that are missing, and inputs that this emulator lacks."""
    missing = sorted(name for name in row.required if news.get(name) is None)
    unknown = sorted(name for name in news if name not in row.known_inputs)
    return [
        *(f"Missing required argument. Examine values at '{resource_name}.{name}'." for name in missing),
        *(f"the emulator of the aws provider does not know '{name}' of {row.token}" for name in unknown),
    ]


def changed(
    row: rows.Row, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
) -> tuple[list[str], list[str]]:
    """
    Return the inputs that change in place and those that need a new object.

    What the old inputs did not say is compared with what AWS made of it; an input that AWS fills in anyway and that the
    program no longer says is no change. ``tags`` are compared as ``tagsAll``, which holds the default tags as well.
    """
    different = [
        name
        for name in sorted((old_inputs.keys() | news.keys()) - {"tags"})
        if not (name in row.filled_in and name not in news)
        and not row.same(name, old_inputs.get(name, old_outputs.get(name)), news.get(name))
    ]
    fixed = row.fixed | {"region"}
    tags_name = "tags" if "tags" in old_inputs or "tags" in news else "tagsAll"
    shown = [tags_name if name == "tagsAll" else name for name in different]
    return [name for name in shown if name not in fixed], [name for name in shown if name in fixed]


def refreshed(
    row: rows.Row, old_inputs: Mapping[str, Any], live: Mapping[str, Any], defaults: Defaults
) -> rows.Properties:
    """Return the inputs in the shape of `checked`, with the live value wherever that means something else."""
    current = {**live, "tags": own_tags(live.get("tagsAll"), old_inputs.get("tags"), defaults.tags)}
    return {
        name: current[name] if name in current and not row.same(name, old, current[name]) else old
        for name, old in old_inputs.items()
    }


def imported(row: rows.Row, live: Mapping[str, Any], defaults: Defaults) -> rows.Properties:
    """Return the inputs of an object that no program described: only those that say something, no defaults of AWS."""
    own = {name: live[name] for name in row.input_names & live.keys() if live[name]}
    if row.has_region:
        own["region"] = live["region"]
    if row.has_tags:
        tags = own_tags(live.get("tagsAll"), None, defaults.tags)
        own |= {"tagsAll": live.get("tagsAll", {})} | ({"tags": tags} if tags else {})
    return own


def own_tags(
    live: Mapping[str, str] | None, declared: Mapping[str, str] | None, default_tags: Mapping[str, str]
) -> dict[str, str]:
    """Return the live tags without those that only the provider's configuration asks for."""
    return {
        name: value
        for name, value in (live or {}).items()
        if name in (declared or {}) or default_tags.get(name) != value
    }


def outputs(row: rows.Row, inputs: Mapping[str, Any], live: Mapping[str, Any], defaults: Defaults) -> rows.Properties:
    """Return everything known of an object: what AWS says, in the program's own words where that means the same."""
    worded = {name: value for name, value in inputs.items() if name not in live or row.same(name, value, live[name])}
    known = {**live, **worded}
    if row.has_tags:
        known["tags"] = own_tags(live.get("tagsAll"), inputs.get("tags"), defaults.tags)
    return known


def unknown_outputs(row: rows.Row, inputs: Mapping[str, Any]) -> rows.Properties:
    """Return what a preview of a create knows: the inputs, and that the rest is not known yet."""
    decided_by_aws = row.output_names | row.filled_in
    return {**dict.fromkeys(sorted(decided_by_aws), wire.UNKNOWN), **inputs}
