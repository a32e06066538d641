"""The provider's own configuration: region, default tags, credentials."""

import json
from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.aws.provider import clients, faults, inputs

NO_REGION = "Missing region information. Set it with `pulumi config set aws:region us-east-1` or as AWS_REGION"


def failures(arguments: Mapping[str, Any], endpoint_url: str, environment: Mapping[str, str]) -> list[str]:
    """Return what is missing for the provider to work."""
    return [
        *([] if access(arguments, endpoint_url, environment) else [faults.NO_CREDENTIALS]),
        *([] if region(arguments, environment) else [NO_REGION]),
    ]


def access(arguments: Mapping[str, Any], endpoint_url: str, environment: Mapping[str, str]) -> clients.Access | None:
    """Return the credentials: those of the provider's arguments before those of the environment."""
    given = {"AWS_ACCESS_KEY_ID": arguments.get("accessKey"), "AWS_SECRET_ACCESS_KEY": arguments.get("secretKey")}
    own = {name: value for name, value in given.items() if value}
    return clients.Access.from_environment(endpoint_url, {**environment, **own})


def region(arguments: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """Return the region, empty when nobody says one."""
    return arguments.get("region") or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""


def defaults(arguments: Mapping[str, Any], environment: Mapping[str, str]) -> inputs.Defaults:
    """Return what every resource gets; engines pass nested arguments as values or as JSON text."""
    default_tags = arguments.get("defaultTags") or {}
    if isinstance(default_tags, str):
        default_tags = json.loads(default_tags)
    return inputs.Defaults(region=region(arguments, environment), tags=default_tags.get("tags") or {})
