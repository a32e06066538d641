"""
Mocks for unit tests of Pulumi programs with these components: no engine, no Nomad, no AWS.

In a test::

    mocks = testing.Mocks()
    pulumi.runtime.set_mocks(mocks)

Mocks of your own that return their inputs do as well. Mocks apply no defaults and no rules of a provider: the rules of
the components hold, what Nomad and AWS refuse is not seen.
"""

import re
from collections.abc import Mapping
from typing import Any

import pulumi

ACCOUNT = "123456789012"
REGION = "us-east-1"

_SUBNET = {"id": "subnet-0default", "vpcId": "vpc-0default", "availabilityZone": f"{REGION}a"}

REPLIES: Mapping[str, Mapping[str, Any]] = {
    "aws:ebs/getEbsVolumes:getEbsVolumes": {"ids": [], "id": REGION},
    "aws:ec2/getSubnet:getSubnet": _SUBNET,
    "aws:index/getPartition:getPartition": {"partition": "aws", "id": "aws"},
    "nomad-csi:index:clusterId": {"id": "0f8fad5b-d9cb-469f-a165-70867728950e"},
}
"""Results of the functions that the components call, by token."""

OUTPUTS: Mapping[str, Mapping[str, Any]] = {
    "nomad-csi:index:PluginJob": {"jobModifyIndex": 7},
    "nomad-csi:index:StackIdentity": {"stackId": "9f86d081884c7d65"},
}
"""Outputs that are no inputs, by type."""


class Mocks(pulumi.runtime.Mocks):
    """
    Mocks that record every resource.

    Its id is ``NAME-id``, which is also in the ``arn`` of an AWS resource. A function without a reply returns its
    arguments.
    """

    def __init__(self, replies: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Return *replies* by token of a function; `REPLIES` has those of other functions."""
        self.replies = replies or {}
        self.resources: list[pulumi.runtime.MockResourceArgs] = []
        """What the program declared, with ``typ``, ``name`` and ``inputs``; keys of these are in camelCase."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        """Record a resource, and return its id and its outputs."""
        self.resources.append(args)
        found = f"{args.name}-id"
        return found, {**_arn(args.typ, found), **args.inputs, **OUTPUTS.get(args.typ, {})}

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]]]:
        """Return the result of a function, and no failures."""
        return {**REPLIES.get(args.token, {}), **args.args, **self.replies.get(args.token, {})}, []

    def inputs(self, typ: str, name: str) -> Mapping[str, Any]:
        """Return the inputs of the resource *name* of the type *typ*. Raises `KeyError` with those there are."""
        found = {(item.typ, item.name): item.inputs for item in self.resources}
        if (typ, name) not in found:
            raise KeyError(f"no {typ} {name}; there are {', '.join(f'{kind} {name}' for kind, name in sorted(found))}")
        return found[typ, name]


_SERVICES = {"ebs": "ec2", "efs": "elasticfilesystem"}
"""Services whose ARNs have another name than the module of the provider."""


def _arn(typ: str, identity: str) -> dict[str, str]:
    """Return the ``arn`` of a resource of AWS in the form of its service."""
    package, _, module = typ.partition(":")
    service, _, kind = module.partition("/")
    if package != "aws" or not kind:
        return {}
    region = "" if service == "iam" else REGION
    words = re.sub(r"(?<!^)(?=[A-Z])", "-", kind.partition(":")[2]).lower()
    return {"arn": f"arn:aws:{_SERVICES.get(service, service)}:{region}:{ACCOUNT}:{words}/{identity}"}
