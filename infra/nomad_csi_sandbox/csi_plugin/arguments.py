"""
The command line: ``--driver NAME``, then what the real driver gets. The same mistakes end with the same exit code.

Part of the CSI driver emulator.
Source: the AWS drivers' ``cmd/main.go``; the exit codes of the EBS driver were tried on v1.64.0, 2026-08.
"""

from collections.abc import Mapping, Sequence

from nomad_csi_sandbox.csi_plugin import command, drivers, flags, profile_arguments, profiles

DRIVERS = (*drivers.BY_NAME, *profiles.PROFILES)
"""What can be played."""

USAGE = f"""\
usage: nomad-csi-sandbox-csi-plugin --driver {"|".join(DRIVERS)} ARGUMENTS OF THE DRIVER...

An emulator of a CSI driver, on a Unix socket. It mounts nothing."""

METADATA_SOURCES = frozenset({"imds", "kubernetes", "metadata-labeler"})
RESERVED_TAGS = frozenset({"CSIVolumeName", "CSIVolumeSnapshotName"})
RESERVED_TAG_PREFIXES = ("kubernetes.io", "ebs.csi.aws.com/")


Ended = command.Ended
Machine = command.Machine
Command = command.Command


def read(words: Sequence[str], environment: Mapping[str, str]) -> Command:
    """Return the command, or raise `Ended` where the real driver would end."""
    name, rest = _driver(list(words))
    try:
        if name in profiles.PROFILES:
            return profile_arguments.READERS[name](rest, environment)
        return _ebs(rest, environment) if name == drivers.EBS.name else _efs(rest, environment)
    except flags.FlagError as error:
        raise Ended(2, str(error)) from error
    except flags.HelpWanted:
        raise Ended(0, USAGE) from None


def _driver(words: list[str]) -> tuple[str, list[str]]:
    first = words[0].partition("=") if words else ("", "", "")
    if first[0] != "--driver":
        raise Ended(2, f"{USAGE}\n\n--driver must come first")
    name, rest = (first[2], words[1:]) if first[1] else ("".join(words[1:2]), words[2:])
    if name not in DRIVERS:
        raise Ended(2, f"--driver: expected one of {', '.join(DRIVERS)}, got {name or 'nothing'}")
    return name, rest


def _ebs(words: list[str], environment: Mapping[str, str]) -> Command:
    mode, rest = (words[0], words[1:]) if words and not words[0].startswith("-") else ("all", words)
    found = flags.pflag(rest, drivers.EBS_FLAGS.get(mode, drivers.EBS_COMMON_FLAGS))
    _refuse_ebs_combinations(found)
    command.refuse_version(drivers.EBS, found)
    if mode not in {"controller", "node", "all"}:
        raise Ended(0, f"Unknown driver mode {mode}: Expected controller, node, all, metadataLabeler, or pre-stop-hook")
    region = environment.get("AWS_REGION", "")
    machine = command.machine(environment) if mode != "controller" else None
    if not region or (machine is None and mode != "controller"):
        raise Ended(1, f"Failed to initialize metadata when it is required; the sandbox sets {command.METADATA_NAMES}")
    _refuse_reserved_tags(found)
    serve: command.Mode = "controller" if mode == "controller" else "node" if mode == "node" else "all"
    socket = command.socket(found)
    return Command(driver=drivers.EBS, mode=serve, socket=socket, region=region, machine=machine, flags=found)


def _efs(words: list[str], environment: Mapping[str, str]) -> Command:
    found = flags.standard(words, drivers.EFS_FLAGS)
    for name in ("max-inflight-mount-calls", "volume-attach-limit"):
        if flags.is_true(found.get(f"{name}-opt-in", "")) and int(found.get(name, "-1")) <= 0:
            raise Ended(1, f"Invalid options: {name}-opt-in is true, but {name} is not set to a positive value")
    command.refuse_version(drivers.EFS, found)
    machine = command.machine(environment)
    if machine is None:
        raise Ended(1, f"could not get metadata from AWS; the sandbox sets {command.METADATA_NAMES}")
    region = environment.get("AWS_REGION", "")
    return Command(
        driver=drivers.EFS, mode="all", socket=command.socket(found), region=region, machine=machine, flags=found
    )


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
