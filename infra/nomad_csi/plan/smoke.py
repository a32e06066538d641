"""
The smoke test of a volume: its jobs, clients and script. Pure.

Two small batch jobs run in sequence. The first writes a file of known content through the volume's mount. The second
reads it back and removes it, on another client where there is one.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi.plan import registration

Kind = Literal["write", "read"]

MOUNT = "/nomad-csi-smoke"
"""Mount point of the volume in the task."""

SIZE_BYTES = 1 << 20

WRITER_MODES = (
    "single-node-writer",
    "multi-node-single-writer",
    "multi-node-multi-writer",
)
"""Access modes in which a task can write, the narrowest first."""

TASK_DRIVERS = ("docker", "podman", "exec")
"""
Task drivers that can mount a CSI volume, best first: ``raw_exec`` has no file system of its own to mount it in, and
``exec`` refuses to run as root (``user.denylist``; tried on Nomad 2.0.6-dev, 2026-11).
"""

IMAGE = "docker.io/library/busybox:1.37"
"""For Docker and Podman: a shell, ``sha256sum`` and ``head``."""

EXIT_MEANS: Mapping[int, str] = {
    42: f"{MOUNT} is no mount in the task: the volume was claimed, and nothing was mounted",
    43: "the file cannot be written: the file system is read-only, full, or not this user's (exec runs as nobody, and "
    "a new file system belongs to root: use docker or podman, or change its owner)",
    44: "the file that was written is not there: what is mounted is not what was written to",
    45: "the file came back with other content",
    46: "the file cannot be removed",
}
"""Meaning of the script's exit codes."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Options of the operator; empty: chosen here."""

    task_driver: str = ""
    image: str = IMAGE
    region: str = ""


@dataclass(frozen=True, kw_only=True)
class SmokeJob:
    """One of the two jobs."""

    job_id: str
    namespace: str
    region: str
    volume_id: str
    access_mode: str
    task_driver: str
    image: str
    node_ids: Sequence[str]
    """Candidate clients; one of them runs the job."""

    kind: Kind
    token: str
    """Alphanumeric token, unique to the run: the file's name and content."""

    has_mounts: bool = True
    """Whether the plugins mount; the sandbox's emulators do not, and then no file is written."""

    mount: str = field(default=MOUNT, init=False)

    @property
    def clients(self) -> str:
        """The `node_ids` as one regular expression for Nomad."""
        return f"^({'|'.join(self.node_ids)})$"

    @property
    def script(self) -> str:
        """Script for the task's shell."""
        return script(self.kind, self.token) if self.has_mounts else "exit 0"


def file_name(token: str) -> str:
    """Return the name of the file of a run."""
    return f".nomad-csi-smoke-{token}"


def checksum(token: str) -> str:
    """Return the SHA-256 of the file's content: the token on each line, truncated at `SIZE_BYTES`."""
    line = f"{token}\n".encode()
    return hashlib.sha256((line * (SIZE_BYTES // len(line) + 1))[:SIZE_BYTES]).hexdigest()


def script(kind: Kind, token: str) -> str:
    """Return the shell script of a round; its exit codes are in `EXIT_MEANS`."""
    file = f"{MOUNT}/{file_name(token)}"
    is_right = f"sha256sum < {file} | grep -q '^{checksum(token)}'"
    lines = [f"grep -q ' {MOUNT} ' /proc/self/mounts || exit 42"]
    if kind == "write":
        lines += [f"yes {token} | head -c {SIZE_BYTES} > {file} || exit 43", "sync", f"{is_right} || exit 45"]
    else:
        lines += [f"test -f {file} || exit 44", f"{is_right} || exit 45", f"rm {file} || exit 46", "sync"]
    return "\n".join(lines)


def access_mode(capabilities: Iterable[registration.Capability]) -> str:
    """Return the narrowest access mode that can write files; empty: none."""
    files = {each.access_mode for each in capabilities if each.attachment_mode == "file-system"}
    return next((mode for mode in WRITER_MODES if mode in files), "")


def task_driver(drivers: Sequence[Mapping[str, bool]]) -> str:
    """Return the task driver that is healthy on most clients, the best of a tie; empty: on none one that can mount."""
    counts = {name: sum(of_client.get(name, False) for of_client in drivers) for name in TASK_DRIVERS}
    best = max(TASK_DRIVERS, key=lambda name: counts[name])
    return best if counts[best] else ""
