"""
The command lines of the drivers that are played from a table. The same mistakes end with the same exit code.

Part of the CSI driver emulator.
Sources: each driver's ``main.go``, for democratic-csi ``bin/democratic-csi`` (yargs, which takes unknown options);
klog's Fatal exits with 255, log's Fatal and yargs with 1, an unknown flag with 2.
"""

import re
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nomad_csi.csi import endpoint
from nomad_csi_sandbox.csi_plugin import command, drivers, flags, profiles

STORAGE = "NOMAD_CSI_SANDBOX_STORAGE"
"""The folder in which the sandbox lets drivers keep what their storage systems would hold."""

_HOSTPATH: dict[str, drivers.FlagKind] = drivers.KLOG_FLAGS | {
    "accepted-mutable-parameter-names": "text", "attach-limit": "int", "automaxprocs": "bool", "capacity": "text",
    "check-volume-lifecycle": "bool", "disable-controller-expansion": "bool", "disable-node-expansion": "bool",
    "drivername": "text", "enable-attach": "bool", "enable-controller-modify-volume": "bool",
    "enable-list-snapshots": "bool", "enable-snapshot-metadata": "bool", "enable-topology": "bool",
    "enable-volume-expansion": "bool", "endpoint": "text", "ephemeral": "bool", "max-volume-size": "int",
    "max-volume-size-node": "int", "maxvolumespernode": "int", "node-expand-required": "bool", "nodeid": "text",
    "proxy-endpoint": "text", "snapshot-metadata-block-type": "text", "statedir": "text", "version": "bool",
}  # fmt: skip
_NFS: dict[str, drivers.FlagKind] = drivers.KLOG_FLAGS | {
    "default-ondelete-policy": "text", "drivername": "text", "enable-snapshot-compression": "bool", "endpoint": "text",
    "mount-permissions": "count", "nodeid": "text", "remove-archived-volume-path": "bool",
    "use-tar-command-in-snapshot": "bool", "vol-stats-cache-expire-in-minutes": "int", "working-mount-dir": "text",
}  # fmt: skip
_GCE: dict[str, drivers.FlagKind] = drivers.KLOG_FLAGS | {
    "attach-disk-backoff-cap": "duration", "attach-disk-backoff-duration": "duration",
    "attach-disk-backoff-factor": "float", "attach-disk-backoff-jitter": "float", "attach-disk-backoff-steps": "int",
    "backoff-initial-duration-ms": "int", "backoff-max-duration-ms": "int", "cloud-config": "text",
    "compute-endpoint": "text", "compute-environment": "text", "enable-data-cache": "bool", "endpoint": "text",
    "extra-labels": "text", "extra-tags": "text", "grpc-log-char-cap": "int", "http-endpoint": "text",
    "maxprocs": "int", "metrics-path": "text", "node-name": "text", "run-controller-service": "bool",
    "run-node-service": "bool", "wait-op-backoff-cap": "duration", "wait-op-backoff-duration": "duration",
    "wait-op-backoff-factor": "float", "wait-op-backoff-jitter": "float", "wait-op-backoff-steps": "int",
}  # fmt: skip
_DIGITALOCEAN: dict[str, drivers.FlagKind] = {
    "debug-addr": "text", "default-volumes-page-size": "count", "do-api-rate-limit": "float", "do-tag": "text",
    "driver-name": "text", "endpoint": "text", "region": "text", "token": "text", "url": "text",
    "validate-attachment": "bool", "version": "bool", "volume-limit": "count",
}  # fmt: skip
"""No flags of klog: it logs in another way."""

_CSI_VERSIONS = frozenset({"0.2.0", "0.3.0", *(f"1.{minor}.0" for minor in range(10))})
_LOG_LEVELS = frozenset({"error", "warn", "info", "verbose", "debug", "silly"})


def _played(
    profile: profiles.Profile,
    environment: Mapping[str, str],
    where: endpoint.Endpoint,
    *,
    own: str = "",
    mode: command.Mode = "all",
    **fields: Any,
) -> command.Command:
    """Return the command of a driver that is played from *profile*; *own*: where it keeps records, if not told."""
    kept = _storage(profile, environment, own)
    return command.Command(driver=profile.driver, mode=mode, socket=where, profile=profile, storage=kept, **fields)


def _hostpath(words: Sequence[str], environment: Mapping[str, str]) -> command.Command:
    found = flags.standard(words, _HOSTPATH)
    command.refuse_version(profiles.HOSTPATH.driver, found)
    if not found.get("nodeid"):
        raise command.Ended(1, "Failed to initialize driver: no node id provided")
    profile = profiles.hostpath(found)
    where = command.socket(found, "unix:///tmp/csi.sock")
    own = found.get("statedir", "")
    return _played(profile, environment, where, node_id=found["nodeid"], own=own, flags=found)


def _nfs(words: Sequence[str], environment: Mapping[str, str]) -> command.Command:
    found = flags.standard(words, _NFS)
    profile = profiles.renamed(profiles.NFS, found.get("drivername", ""))
    return _played(profile, environment, command.socket(found), node_id=found.get("nodeid", ""), flags=found)


def _gce(words: Sequence[str], environment: Mapping[str, str]) -> command.Command:
    found = flags.standard(words, _GCE)
    controls, serves = (flags.is_true(found.get(f"run-{name}-service", "true")) for name in ("controller", "node"))
    credentials = environment.get("GOOGLE_APPLICATION_CREDENTIALS", "")
    if found.get("extra-labels") and not controls:
        raise command.Ended(255, "Extra volume labels provided but not running controller")
    if controls and credentials and not Path(credentials).is_file():
        text = f"Failed to get cloud provider: open {credentials}: no such file or directory"
        raise command.Ended(255, text)
    machine = command.machine(environment)
    if serves and machine is None:
        raise command.Ended(255, f"Failed to set up metadata service; the sandbox sets {command.METADATA_NAMES}")
    name = found.get("node-name") or (machine.instance_id if machine else "")
    zone = machine.zone if machine else ""
    return _played(
        profiles.GCE_PD,
        environment,
        command.socket(found, "unix:/tmp/csi.sock"),
        node_id=f"projects/sandbox/zones/{zone}/instances/{name}",
        mode="all" if controls and serves else "controller" if controls else "node",
        machine=machine,
        flags=found,
    )


def _digitalocean(words: Sequence[str], environment: Mapping[str, str]) -> command.Command:
    found = flags.standard(words, _DIGITALOCEAN)
    command.refuse_version(profiles.DIGITALOCEAN.driver, found)
    if found.get("region") and not found.get("token"):
        text = "region flag must not be set when driver is running in node mode (i.e., token flag is unset)"
        raise command.Ended(1, text)
    machine = command.machine(environment)
    if machine is None:
        raise command.Ended(1, f"couldn't get droplet metadata; the sandbox sets {command.METADATA_NAMES}")
    profile = profiles.digitalocean(found)
    where = command.socket(found, "unix:///var/lib/kubelet/plugins/dobs.csi.digitalocean.com/csi.sock")
    mode: command.Mode = "all" if found.get("token") else "node"
    return _played(profile, environment, where, node_id=machine.instance_id, mode=mode, machine=machine, flags=found)


def _portworx(words: Sequence[str], environment: Mapping[str, str]) -> command.Command:
    """Read what its installer reads: ``-c`` and ``-k`` are needed, the rest is for parts that are not played."""
    for option, meaning in (("-c", "a cluster id"), ("-k", "a key value store such as consul://127.0.0.1:8500")):
        if option not in words[:-1]:
            raise command.Ended(1, f"expected {option} with {meaning}")
    if not environment.get("CSI_ENDPOINT"):
        raise command.Ended(1, "expected CSI_ENDPOINT in the environment, where the driver reads its socket from")
    where = command.listened_at(environment["CSI_ENDPOINT"], "CSI_ENDPOINT")
    node_id = environment.get("NOMAD_CSI_SANDBOX_INSTANCE_ID") or socket.gethostname()
    return _played(profiles.PORTWORX, environment, where, node_id=node_id)


def _democratic(words: Sequence[str], environment: Mapping[str, str]) -> command.Command:
    found, modes = _yargs(words, environment)
    missing = [name for name in ("driver-config-file", "csi-version", "csi-name") if not found.get(name)]
    if missing:
        raise command.Ended(1, "\n".join(f"{name} is required" for name in missing))
    _refuse_choice(found, "csi-version", _CSI_VERSIONS)
    _refuse_choice(found, "log-level", _LOG_LEVELS)
    if not set(modes) <= {"controller", "node"}:
        raise command.Ended(1, f'Invalid values: Argument: csi-mode, Given: "{modes[-1]}", Choices: controller, node')
    if not found.get("server-socket"):
        raise command.Ended(1, "must listen on tcp and/or unix socket; the emulator listens on --server-socket only")
    profile = profiles.democratic(_backend(found["driver-config-file"]), found["csi-name"])
    where = command.listened_at(found["server-socket"], "--server-socket")
    node_id = environment.get("CSI_NODE_ID") or socket.gethostname()
    both = set(modes) == {"controller", "node"}
    mode: command.Mode = "all" if both else "controller" if "controller" in modes else "node"
    return _played(profile, environment, where, node_id=node_id, mode=mode, flags=found)


def _yargs(words: Sequence[str], environment: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return options, from the environment as well, and the modes: a list, to which all words behind it belong."""
    prefix = "DEMOCRATIC_CSI_"
    given = {name for name in environment if name.startswith(prefix)}
    found = {name.removeprefix(prefix).lower().replace("_", "-"): environment[name] for name in given}
    modes: list[str] = []
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            values = [value] if equals else []
        else:
            values = [word]
        for value in values:
            if name == "csi-mode":
                modes.append(value)
            else:
                found[name], name = value, ""
    return found, modes or found.get("csi-mode", "controller node").split()


def _refuse_choice(found: Mapping[str, str], name: str, choices: frozenset[str]) -> None:
    if found.get(name) and found[name] not in choices:
        listed = ", ".join(f'"{each}"' for each in sorted(choices))
        raise command.Ended(1, f'Invalid values:\n  Argument: {name}, Given: "{found[name]}", Choices: {listed}')


def _backend(file: str) -> str:
    """Return the backend that a configuration names: ``zfs-generic-nfs``."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise command.Ended(1, f"failed parsing config file: {file}: {error}") from error
    match = re.search(r"""^driver:\s*["']?([\w-]+)""", text, re.MULTILINE)
    if match is None:
        raise command.Ended(1, f"invalid csi driver: {file} has no line such as `driver: zfs-generic-nfs`")
    return match[1]


def _storage(profile: profiles.Profile, environment: Mapping[str, str], own: str) -> Path | None:
    """Return the file of a driver's records: where the sandbox says, else in the driver's *own* folder; else none."""
    folder = environment.get(STORAGE) or own
    if not folder:
        return None
    try:
        Path(folder).mkdir(mode=0o750, parents=True, exist_ok=True)
    except OSError as error:
        raise command.Ended(1, f"Failed to initialize driver: failed to create {folder}: {error.strerror}") from error
    return Path(folder) / f"{profile.driver.provider}.json"


READERS: Mapping[str, Callable[[Sequence[str], Mapping[str, str]], command.Command]] = {
    "csi-hostpath": _hostpath,
    "csi-driver-nfs": _nfs,
    "gce-pd": _gce,
    "digitalocean": _digitalocean,
    "portworx": _portworx,
    "democratic-csi": _democratic,
}
"""By the name on our command line; each raises `command.Ended`, `flags.FlagError` or `flags.HelpWanted`."""
