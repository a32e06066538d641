"""Where a sandbox keeps what is its own: ``.sandbox`` in the project, and a short folder for the sockets."""

import dataclasses
import fcntl
import hashlib
import json
import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nomad_csi import errors
from nomad_csi.provider import about

STACK = "sandbox"
"""Name of the stack; its config is ``Pulumi.sandbox.yaml``."""


PRIVATE = 0o700
"""Mode of the sandbox's folders: for their owner alone."""


@dataclass(frozen=True, kw_only=True)
class Process:
    """A process that the sandbox started."""

    name: str
    pid: int
    started: str
    """Start time in clock ticks since boot (field 22 of ``/proc/PID/stat``): a pid may have passed to another."""

    port: int = 0


@dataclass(kw_only=True)
class Record:
    """What a sandbox knows of itself between two commands."""

    parts: dict[str, str] = field(default_factory=dict)
    """What each part is: ``{"engine": "emulator", "nomad": "emulator", "aws": "moto"}``."""

    data_dir: str = ""
    aws_region: str = ""
    processes: dict[str, Process] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)
    """EC2 instance id of the Nomad client in each zone."""


class Folder:
    """The sandbox's folder in the project at *project*."""

    def __init__(self, project: Path) -> None:
        self.project = project.resolve()
        self.path = self.project / ".sandbox"

    @property
    def config(self) -> Path:
        """The stack's config."""
        return self.project / f"Pulumi.{STACK}.yaml"

    @property
    def engine_config(self) -> Path:
        """The stack's config as the engines of the sandbox read it."""
        return self.path / f"Pulumi.{STACK}.yaml"

    @property
    def outputs(self) -> Path:
        """The outputs of the stack, without secrets, for ``--stack-output``."""
        return self.path / "outputs.json"

    @property
    def state(self) -> Path:
        """The state file of the engine emulator."""
        return self.path / "state.json"

    @property
    def backend(self) -> Path:
        """The state backend of the real engine."""
        return self.path / "backend"

    @property
    def token_file(self) -> Path:
        """The token of the sandbox's Nomad; only its owner can read it."""
        return self.path / "token"

    @property
    def token(self) -> str:
        """The token of the sandbox's Nomad; empty before `make_token`."""
        return self.token_file.read_text() if self.token_file.exists() else ""

    def make_token(self) -> None:
        """Make the token, at random, unless there is one. A UUID, as Nomad's own bootstrap takes it."""
        if not self.token_file.exists():
            write_private(self.token_file, str(uuid.uuid4()))

    @property
    def certificates(self) -> dict[str, Path]:
        """The files with which the sandbox's real agent is reached, by their names in `nomad.Connection`."""
        return {name: self.path / "tls" / f"{name}.pem" for name in ("ca_cert", "client_cert", "client_key")}

    @property
    def plugin(self) -> Path:
        """The folder in which the engines find the provider plugin: `pulumi plugin install` would use it, too."""
        return self.path / "pulumi-home/plugins" / f"resource-nomad-csi-v{about.version()}"

    @property
    def logs(self) -> Path:
        """The logs of the sandbox's processes."""
        return self.path / "logs"

    def make(self) -> None:
        """Make the folder and what must be inside. Git ignores all of it."""
        for path in (self.path, self.logs, self.backend, *(self.path / name for name in ("home", "run", "tls"))):
            path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        write_private(self.path / ".gitignore", "*\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the sandbox against a second command. Raises `errors.RefusedError` when one is running."""
        self.path.mkdir(mode=PRIVATE, exist_ok=True)
        with (self.path / "lock").open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                holder = file.read() or "another command"
                raise errors.RefusedError(f"{holder} works on this sandbox; wait for it to end") from None
            with naming(self.path / "lock"):
                file.truncate(0)
                file.write(f"`nomad-csi {' '.join(sys.argv[1:])}` (process {os.getpid()})")
                file.flush()
            yield

    def load(self) -> Record | None:
        """Return the record of a sandbox that is up, or ``None``."""
        try:
            data = json.loads((self.path / "record.json").read_text())
        except FileNotFoundError:
            return None
        processes = {name: Process(**process) for name, process in data.pop("processes").items()}
        return Record(processes=processes, **data)

    def save(self, record: Record) -> None:
        """Write *record*."""
        write_private(self.path / "record.json", json.dumps(dataclasses.asdict(record), indent=2))

    def forget_state(self) -> None:
        """Remove what the engine knows."""
        shutil.rmtree(self.backend, ignore_errors=True)
        self.state.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path)


def write_private(path: Path, text: str) -> None:
    """Write *text* to *path*, whole or not at all, so that its owner alone can read it, whatever the umask."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    try:
        with naming(path):
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name *path* in an error of the block, such as that the disk is full."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


OWNER_FILE = "nomad-csi-sandbox-of"


def default_data_dir(project: Path) -> str:
    """Return the clients' data directory where the config names none: short, for sockets, and another by project."""
    return f"/tmp/nomad-csi-sandbox-{hashlib.sha256(os.fsencode(project)).hexdigest()[:8]}"  # noqa: S108  # its owner is checked


def claim_data_dir(data_dir: Path, project: Path) -> None:
    """
    Take *data_dir*, the clients' data directory, for the sandbox of *project*.

    Raises `errors.RefusedError` when it belongs to someone else.
    """
    fix = "change client_data_dir in Pulumi.sandbox.yaml"
    try:
        data_dir.mkdir(mode=PRIVATE)
    except FileExistsError:
        if data_dir.is_symlink() or data_dir.stat().st_uid != os.getuid():
            raise errors.RefusedError(f"{data_dir} belongs to another user; {fix}") from None
        owner = data_dir / OWNER_FILE
        holder = owner.read_text() if owner.exists() else "something that is not a sandbox"
        # An empty folder is what an `up` left that was killed right here.
        if holder != str(project) and any(data_dir.iterdir()):
            raise errors.RefusedError(f"{data_dir} is in use by {holder}; take that sandbox down, or {fix}") from None
    write_private(data_dir / OWNER_FILE, str(project))


def owns_data_dir(data_dir: Path, project: Path) -> bool:
    """Return whether *data_dir* was taken for the sandbox of *project*."""
    owner = data_dir / OWNER_FILE
    return owner.exists() and owner.read_text() == str(project)
