"""
The command line: ``--driver NAME``, then what the real driver gets. The same mistakes end with the same exit code.

Part of the stand-in for the CSI drivers.
Source: both drivers' ``cmd/main.go``; the exit codes of the EBS driver were tried on v1.64.0, 2026-08.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi import errors
from nomad_csi.csi import endpoint
from nomad_csi_sandbox.csi_plugin import drivers, flags

Mode = Literal["controller", "node", "all"]

USAGE = """\
usage: nomad-csi-sandbox-csi-plugin --driver aws-ebs|aws-efs ARGUMENTS OF THE DRIVER...

A stand-in for a CSI driver, on a Unix socket. It mounts nothing."""

DEFAULT_ENDPOINT = "unix://tmp/csi.sock"
"""Where both drivers listen when they are told nothing: /tmp/csi.sock, not where Nomad looks."""

METADATA_SOURCES = frozenset({"imds", "kubernetes", "metadata-labeler"})
RESERVED_TAGS = frozenset({"CSIVolumeName", "CSIVolumeSnapshotName"})
RESERVED_TAG_PREFIXES = ("kubernetes.io", "ebs.csi.aws.com/")


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
    region: str
    machine: Machine | None
    """``None`` for an EBS controller, which needs no metadata."""

    flags: Mapping[str, str] = field(default_factory=dict)

    @property
    def serves_controller(self) -> bool:
        """Whether the Controller service is offered."""
        return self.mode != "node"

    @property
    def serves_node(self) -> bool:
        """Whether the Node service is offered."""
        return self.mode != "controller"


def read(words: Sequence[str], environment: Mapping[str, str]) -> Command:
    """Return the command, or raise `Ended` where the real driver would end."""
    name, rest = _driver(list(words))
    try:
        if name == drivers.EBS.name:
            return _ebs(rest, environment)
        return _efs(rest, environment)
    except flags.FlagError as error:
        raise Ended(2, str(error)) from error
    except flags.HelpWanted:
        raise Ended(0, USAGE) from None


def _driver(words: list[str]) -> tuple[str, list[str]]:
    first = words[0].partition("=") if words else ("", "", "")
    if first[0] != "--driver":
        raise Ended(2, f"{USAGE}\n\n--driver must come first")
    name, rest = (first[2], words[1:]) if first[1] else ("".join(words[1:2]), words[2:])
    if name not in drivers.BY_NAME:
        raise Ended(2, f"--driver: expected {' or '.join(drivers.BY_NAME)}, got {name or 'nothing'}")
    return name, rest


def _ebs(words: list[str], environment: Mapping[str, str]) -> Command:
    mode, rest = (words[0], words[1:]) if words and not words[0].startswith("-") else ("all", words)
    found = flags.pflag(rest, drivers.EBS_FLAGS.get(mode, drivers.EBS_COMMON_FLAGS))
    _refuse_ebs_combinations(found)
    _version(drivers.EBS, found)
    if mode not in {"controller", "node", "all"}:
        raise Ended(0, f"Unknown driver mode {mode}: Expected controller, node, all, metadataLabeler, or pre-stop-hook")
    region = environment.get("AWS_REGION", "")
    machine = _machine(environment) if mode != "controller" else None
    if not region or (machine is None and mode != "controller"):
        raise Ended(1, f"Failed to initialize metadata when it is required; the sandbox sets {_metadata_names()}")
    _refuse_reserved_tags(found)
    serve: Mode = "controller" if mode == "controller" else "node" if mode == "node" else "all"
    socket = _socket(found)
    return Command(driver=drivers.EBS, mode=serve, socket=socket, region=region, machine=machine, flags=found)


def _efs(words: list[str], environment: Mapping[str, str]) -> Command:
    found = flags.standard(words, drivers.EFS_FLAGS)
    for name in ("max-inflight-mount-calls", "volume-attach-limit"):
        if flags.is_true(found.get(f"{name}-opt-in", "")) and int(found.get(name, "-1")) <= 0:
            raise Ended(1, f"Invalid options: {name}-opt-in is true, but {name} is not set to a positive value")
    _version(drivers.EFS, found)
    machine = _machine(environment)
    if machine is None:
        raise Ended(1, f"could not get metadata from AWS; the sandbox sets {_metadata_names()}")
    region = environment.get("AWS_REGION", "")
    return Command(driver=drivers.EFS, mode="all", socket=_socket(found), region=region, machine=machine, flags=found)


def _refuse_ebs_combinations(found: Mapping[str, str]) -> None:
    """End with 0, as the driver does: its task looks complete and not failed."""
    if found.get("volume-attach-limit", "-1") != "-1" and found.get("reserved-volume-attachments", "-1") != "-1":
        raise Ended(0, "only one of --volume-attach-limit and --reserved-volume-attachments may be specified")
    sources = [source.strip().lower() for source in found.get("metadata-sources", "imds").split(",")]
    unknown = [source for source in sources if source not in METADATA_SOURCES]
    if unknown:
        raise Ended(0, f"invalid source: argument --metadata-sources={sources} included invalid option {unknown[0]!r}")


def _refuse_reserved_tags(found: Mapping[str, str]) -> None:
    for pair in filter(None, found.get("extra-tags", "").split(",")):
        key, equals, _ = pair.partition("=")
        if not equals:
            raise Ended(2, f"--extra-tags: expected key=value pairs with commas between, got {pair!r}")
        if key in RESERVED_TAGS or key.startswith(RESERVED_TAG_PREFIXES):
            raise Ended(1, f"failed to create driver: invalid extra tags: tag key {key!r} is reserved")


def _version(driver: drivers.Driver, found: Mapping[str, str]) -> None:
    if flags.is_true(found.get("version", "")):
        raise Ended(0, json.dumps({"driverVersion": driver.version, "standIn": True}, indent=2))


def _machine(environment: Mapping[str, str]) -> Machine | None:
    instance_id = environment.get("NOMAD_CSI_SANDBOX_INSTANCE_ID", "")
    zone = environment.get("NOMAD_CSI_SANDBOX_ZONE", "")
    return Machine(instance_id=instance_id, zone=zone) if instance_id and zone else None


def _metadata_names() -> str:
    return "AWS_REGION, NOMAD_CSI_SANDBOX_INSTANCE_ID and NOMAD_CSI_SANDBOX_ZONE"


def _socket(found: Mapping[str, str]) -> endpoint.Endpoint:
    """Return where to listen. The driver's own default is refused: nobody would ever look there."""
    given = found.get("endpoint", DEFAULT_ENDPOINT)
    if given == DEFAULT_ENDPOINT:
        raise Ended(
            1,
            f"--endpoint was not read, so the driver would listen on {DEFAULT_ENDPOINT}, where Nomad does not look; "
            "write --endpoint=${CSI_ENDPOINT}, for EFS in front of every word that has no dash",
        )
    try:
        where = endpoint.parse(given)
    except errors.CsiError as error:
        raise Ended(1, f"--endpoint: {error}") from error
    if where.socket is None:
        raise Ended(1, f"--endpoint: expected a Unix socket, got {given}; the stand-in listens on nothing else")
    return where
