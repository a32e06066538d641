"""The outputs of each resource in this stack's state, as the engine stored it last: at once, or as an output."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from nomad_csi.components import functions

Outputs = Mapping[str, Any]

_FUNCTION = "pulumi:pulumi:readStackResourceOutputs"


def outputs() -> Sequence[Outputs]:
    """Return them at once, before anything is declared."""
    return _outputs(functions.answer(_FUNCTION, _stack()))


def output() -> pulumi.Output[Sequence[Outputs]]:
    """Return them as an output, also in a component of a program in another language."""
    return functions.output(_FUNCTION, _stack()).apply(_outputs)


def arns(found: Sequence[Outputs]) -> list[str]:
    """Return the ARNs among them."""
    return _texts(found, "arn")


def stack_ids(found: Sequence[Outputs]) -> list[str]:
    """Return the ids of the stack among them: none before its first `up`."""
    return _texts(found, "stackId")


def clusters(found: Sequence[Outputs]) -> list[str]:
    """Return the ids of the clusters that hold its volumes and jobs."""
    return _texts(found, "cluster")


def _texts(found: Sequence[Outputs], name: str) -> list[str]:
    return [item[name] for item in found if isinstance(item.get(name), str) and item[name]]


def _stack() -> dict[str, str]:
    return {"stackName": f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"}


def _outputs(reply: Any) -> list[Outputs]:
    return [item.get("outputs") or {} for item in (reply.get("outputs") or {}).values()]
