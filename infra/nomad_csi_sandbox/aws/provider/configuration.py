"""The provider's own configuration: region, default tags, credentials."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi import errors
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
    """Return the region, empty when no one says one."""
    return arguments.get("region") or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""


def defaults(arguments: Mapping[str, Any], environment: Mapping[str, str]) -> inputs.Defaults:
    """Return what every resource gets; engines pass nested arguments as values or as JSON text."""
    default_tags = arguments.get("defaultTags") or {}
    if isinstance(default_tags, str):
        default_tags = json.loads(default_tags)
    return inputs.Defaults(region=region(arguments, environment), tags=default_tags.get("tags") or {})


CONNECTIONS_KEPT = 1000
"""An engine makes one for each provider of each operation; its end is not reported."""


@dataclass(frozen=True, kw_only=True)
class Configured:
    """One provider of a program: an ``aws.Provider``, or the default one."""

    aws: clients.Clients
    defaults: inputs.Defaults


class ByConnection:
    """
    The configurations of the providers that share this process, by the engine's connection.

    No request says whose it is, but an engine opens a connection of its own for each provider.
    Source: pulumi 3.260, ``NewProvider`` in ``sdk/go/common/resource/plugin/provider_plugin.go``.
    """

    def __init__(self) -> None:
        self._by_peer: dict[str, Configured] = {}

    def add(self, peer: str, configured: Configured) -> None:
        """Note what the connection *peer* was configured with; the oldest connections are forgotten."""
        self._by_peer.pop(peer, None)
        self._by_peer[peer] = configured
        for old in list(self._by_peer)[:-CONNECTIONS_KEPT]:
            del self._by_peer[old]

    def of(self, peer: str) -> Configured:
        """
        Return the configuration of the connection *peer*.

        A connection that was opened again after a pause has that of the others, if theirs are all the same. Raises
        `errors.AwsError` otherwise.
        """
        if peer in self._by_peer:
            return self._by_peer[peer]
        known = list(self._by_peer.values())
        if not known:
            raise errors.AwsError("the provider was asked to work before it was configured")
        if any(one.defaults != known[0].defaults for one in known):
            raise errors.AwsError(
                "the connection to the emulator of the aws provider was lost, and several providers use it: run again"
            )
        return known[-1]
