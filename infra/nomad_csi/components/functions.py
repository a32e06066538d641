"""Calls of functions of the engine and the provider that report a refusal on one line, without a traceback."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import pulumi

from nomad_csi.spec import names

ATTEMPTS = 20
WAIT_S = 0.25

_WRITING = "failed to load checkpoint"
"""
The engine's error while it writes the state.

A backend of files is not written at once: a read in that moment fails with ``EOF`` (Pulumi CLI 3.260, 2026-11-22).
"""


def output(
    function: str, arguments: Mapping[str, Any], options: pulumi.InvokeOptions | None = None
) -> pulumi.Output[Mapping[str, Any]]:
    """Return the result of *function* as an output, also in a component of a program in another language."""
    return pulumi.Output.from_input(_awaited(function, arguments, options))


_HEADS = re.compile(r"^invoke of \S+ failed: (?:invocation of \S+ returned an error: )?")
"""Prefix of the error, from the SDK and from the real engine."""


async def _awaited(
    function: str, arguments: Mapping[str, Any], options: pulumi.InvokeOptions | None
) -> Mapping[str, Any]:
    """Return the result, once the state is written. Raises `pulumi.RunError` with the message without its prefix."""
    for left in reversed(range(ATTEMPTS)):
        try:
            return await pulumi.runtime.invoke_async(function, arguments, options) or {}
        except Exception as error:  # noqa: BLE001  # the SDK raises no other class
            reason = _HEADS.sub("", str(error))
            if _WRITING not in reason or not left:
                raise pulumi.RunError(reason) from None
        await asyncio.sleep(WAIT_S)
    raise AssertionError


# The outputs of each resource in this stack's last stored state by URN.


Outputs = Mapping[str, Any]

State = Mapping[str, Outputs]

_STORAGE = frozenset({"aws:ebs/volume:Volume", "aws:efs/fileSystem:FileSystem"})


def recorded() -> pulumi.Output[State]:
    """Return the outputs by URN, also in a component of a program in another language."""
    stack = {"stackName": f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"}
    return output("pulumi:pulumi:readStackResourceOutputs", stack).apply(_by_urn)


def storage(state: State) -> list[Outputs]:
    """Return the outputs of EBS volumes and EFS file systems. A component keeps its outputs where these are gone."""
    return [outputs for urn, outputs in state.items() if names.read_urn(urn).type in _STORAGE]


def arns(state: State) -> list[str]:
    """Return the ARNs of the storage in *state*."""
    return [outputs["arn"] for outputs in storage(state) if outputs.get("arn")]


def clusters(state: State) -> list[str]:
    """Return the ids of the clusters of its volumes and jobs, each once."""
    # Others have a ``cluster``, too, such as an ECS service.
    own = [outputs for urn, outputs in state.items() if names.read_urn(urn).type.startswith(names.TYPES)]
    return sorted({outputs["cluster"] for outputs in own if outputs.get("cluster")})


def _by_urn(reply: Any) -> dict[str, Outputs]:
    return {urn: item.get("outputs") or {} for urn, item in (reply.get("outputs") or {}).items()}
