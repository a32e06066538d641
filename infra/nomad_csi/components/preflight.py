"""
What is looked at before anything is made: storage of an interrupted run that the state does not know.

EC2 makes a second volume for the same request, so an unrecorded one is named before another is made.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pulumi

from nomad_csi import errors
from nomad_csi.aws import tagged
from nomad_csi.components import arguments, from_spec
from nomad_csi.plan import orphans


def refuse_unrecorded(aws_regions: Iterable[str], *, profile: str | None = None) -> None:
    """
    Raise `errors.RefusedError` when AWS holds a volume or file system of this stack that its state does not.

    Raises `errors.AwsError` when AWS cannot be asked.
    """
    owner = arguments.owner()
    found = [item for region in sorted(set(aws_regions)) for item in tagged.find(owner, region, profile=profile)]
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
