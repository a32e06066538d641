"""
What is looked at before anything is made or changed.

That is storage of an interrupted run that the state does not know, and changes to EBS volumes that EC2 would refuse.
EC2 makes a second volume for the same request, so an unrecorded one is named before another is made.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from nomad_csi import errors
from nomad_csi.aws import modifications, tagged
from nomad_csi.components import arguments, from_spec
from nomad_csi.plan import ebs_changes, model, orphans


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """An EBS volume of the spec."""

    path: str
    """Where its ``ebs`` part stands, such as ``volumes[0].ebs``."""

    volume: model.EbsVolume


def refuse_unrecorded(aws_regions: Iterable[str], *, profile: str | None = None) -> None:
    """
    Raise `errors.RefusedError` when AWS holds a volume or file system of this stack that its state does not.

    Raises `errors.AwsError` when AWS cannot be asked.
    """
    _refuse_unrecorded(item for items in _found(aws_regions, profile).values() for item in items)


def refuse_what_cannot_be(
    aws_regions: Iterable[str], wanted: Mapping[str, Wanted], *, profile: str | None = None
) -> None:
    """
    Do as `refuse_unrecorded`, and refuse changes to EBS volumes that EC2 would refuse, all of them together.

    *wanted* are the volumes of the spec by ``namespace/volume_id``. Raises `errors.SpecError` for a size below the
    present one, and for a change while an earlier one is under way.
    """
    found = _found(aws_regions, profile)
    _refuse_unrecorded(item for items in found.values() for item in items)
    problems = [problem for region, items in found.items() for problem in _problems(items, region, wanted, profile)]
    if problems:
        raise errors.SpecError(tuple(problems), "nomad-csi:storage")


def _found(aws_regions: Iterable[str], profile: str | None) -> dict[str, tuple[tagged.Tagged, ...]]:
    owner = arguments.owner()
    return {region: tagged.find(owner, region, profile=profile) for region in sorted(set(aws_regions))}


def _problems(
    items: Iterable[tagged.Tagged], aws_region: str, wanted: Mapping[str, Wanted], profile: str | None
) -> Iterator[errors.Problem]:
    pairs = [(item.volume, wanted[item.key]) for item in items if item.volume and item.key in wanted]
    changing = [present.external_id for present, each in pairs if ebs_changes.differs(present, each.volume)]
    latest = modifications.latest(changing, aws_region, profile=profile) if changing else {}
    for present, each in pairs:
        yield from ebs_changes.check(present, each.volume, latest.get(present.external_id), each.path)


def _refuse_unrecorded(items: Iterable[tagged.Tagged]) -> None:
    owner = arguments.owner()
    found = list(items)
    if not found:
        return
    lost = set(orphans.unrecorded((item.external_id for item in found), _recorded_arns()))
    if lost:
        lines = [_sentence(item) for item in found if item.external_id in lost]
        raise errors.RefusedError("\n".join([f"made by an interrupted run of {owner} and not in its state:", *lines]))


def _sentence(item: tagged.Tagged) -> str:
    namespace, _, volume_id = item.key.rpartition("/")
    name = from_spec.component_name(namespace, volume_id) if volume_id else "NAME"
    return (
        f"  {item.external_id} for volume {item.key or 'unknown'}; take it in with "
        f"`pulumi import {item.resource_type} {name} {item.external_id} --parent ...`, or delete it if it is empty"
    )


def _recorded_arns() -> list[str]:
    """Return the ARNs in this stack's state, as the engine stored it last."""
    arguments_ = {"stackName": _stack_name()}
    reply = pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", arguments_).value or {}
    outputs: Mapping[str, Any] = reply.get("outputs") or {}
    states = [state.get("outputs") or {} for state in outputs.values()]
    return [state["arn"] for state in states if isinstance(state.get("arn"), str)]


def _stack_name() -> str:
    return f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
