"""What a command line comes to: which driver is played, where it listens. Part of the CSI driver emulator."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nomad_csi import errors
from nomad_csi.csi import endpoint
from nomad_csi_sandbox.csi_plugin import drivers, flags, profiles

Mode = Literal["controller", "node", "all"]

DEFAULT_ENDPOINT = "unix://tmp/csi.sock"
"""Where the AWS drivers listen when they are told nothing: /tmp/csi.sock, not where Nomad looks."""

METADATA_NAMES = "AWS_REGION, NOMAD_CSI_SANDBOX_INSTANCE_ID and NOMAD_CSI_SANDBOX_ZONE"


class Ended(Exception):  # noqa: N818  # some ends are no errors
    """The program ends before it serves. ``code`` is its exit code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What the instance metadata would say of this machine."""

    instance_id: str
    zone: str


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command line that can be served."""

    driver: drivers.Driver
    mode: Mode
    socket: endpoint.Endpoint
    region: str = ""
    machine: Machine | None = None
    """``None`` where the driver needs no metadata, as an EBS controller."""

    flags: Mapping[str, str] = field(default_factory=dict)

    profile: profiles.Profile | None = None
    """Set for a driver that is played from a table."""

    node_id: str = ""
    """What such a driver calls this machine."""

    storage: Path | None = None
    """The file in which such a driver keeps what its storage system would; ``None``: in memory."""

    @property
    def serves_controller(self) -> bool:
        """Whether the Controller service is offered."""
        return self.mode != "node"

    @property
    def serves_node(self) -> bool:
        """Whether the Node service is offered."""
        return self.mode != "controller"


def refuse_version(driver: drivers.Driver, found: Mapping[str, str]) -> None:
    """Print the version and end, where it was asked for."""
    if flags.is_true(found.get("version", "")):
        raise Ended(0, json.dumps({"driverVersion": driver.version, "emulator": True}, indent=2))


def machine(environment: Mapping[str, str]) -> Machine | None:
    """Return what the metadata of this machine would say; ``None`` where the sandbox did not say it."""
    instance_id = environment.get("NOMAD_CSI_SANDBOX_INSTANCE_ID", "")
    zone = environment.get("NOMAD_CSI_SANDBOX_ZONE", "")
    return Machine(instance_id=instance_id, zone=zone) if instance_id and zone else None


def socket(found: Mapping[str, str], default: str = DEFAULT_ENDPOINT) -> endpoint.Endpoint:
    """Return where to listen. The driver's own default is refused: no one would ever look there."""
    given = found.get("endpoint", default)
    if given == default:
        raise Ended(
            1,
            f"--endpoint was not read, so the driver would listen on {default}, where Nomad does not look; "
            "write --endpoint=${CSI_ENDPOINT}, in front of every word that has no dash",
        )
    return listened_at(given, "--endpoint")


def listened_at(given: str, option: str) -> endpoint.Endpoint:
    """Return *given* as a socket. Raises `Ended` for everything else, naming the *option*."""
    try:
        where = endpoint.parse(given)
    except errors.CsiError as error:
        raise Ended(1, f"{option}: {error}") from error
    if where.socket is None:
        raise Ended(1, f"{option}: expected a Unix socket, got {given}; the emulator listens on nothing else")
    return where
