"""Tags: a map for Pulumi, a list of pairs for AWS."""

from collections.abc import Mapping
from typing import Any


def to_list(inputs: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the tags that an object with these inputs must have, as AWS takes them."""
    return [{"Key": name, "Value": value} for name, value in sorted((inputs.get("tagsAll") or {}).items())]


def to_specifications(resource_type: str, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the ``TagSpecifications`` of an EC2 call that makes one *resource_type*; EC2 takes no empty ones."""
    pairs = to_list(inputs)
    return [{"ResourceType": resource_type, "Tags": pairs}] if pairs else []


def to_map(pairs: list[dict[str, str]] | None) -> dict[str, str]:
    """Return AWS's list of pairs as a map."""
    return {pair["Key"]: pair["Value"] for pair in pairs or []}


def dropped(old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[str]:
    """Return the names of the tags that were wanted and no longer are."""
    return sorted((old_inputs.get("tagsAll") or {}).keys() - (inputs.get("tagsAll") or {}).keys())
