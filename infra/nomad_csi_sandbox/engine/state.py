"""
The state file: locked, written whole or not at all, on the disk before anyone relies on it.

Its shape is that of ``pulumi stack export``, version 3, one resource a line. The real CLI refuses to import it, for it
does not know this secrets provider; that is wanted.
Source: pulumi/pulumi, ``ResourceV3`` and ``OperationV2`` in ``sdk/go/common/apitype/core.go``.
"""

import datetime as dt
import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi_sandbox.engine import values

Resource = dict[str, Any]
"""One resource as ``stack export`` writes it. Never changed in place once it is in a snapshot."""

SECRETS_PROVIDER = "nomad-csi-sandbox"
VERSION = "nomad-csi-sandbox"


class Stored:
    """What a state file holds."""

    def __init__(self, document: dict[str, Any], source: Path) -> None:
        deployment = document.get("deployment") or {}
        provider = deployment.get("secrets_providers") or {}
        kind = provider.get("type", SECRETS_PROVIDER)
        if kind != SECRETS_PROVIDER:
            problem = errors.Problem(
                path="deployment.secrets_providers.type",
                got=kind,
                allowed=f"{SECRETS_PROVIDER}, a state of the sandbox",
            )
            raise errors.SpecError((problem,), str(source))
        self.salt: str = (provider.get("state") or {}).get("salt") or secrets.token_hex(16)
        self.resources: list[Resource] = deployment.get("resources") or []
        self.pending: list[Resource] = deployment.get("pending_operations") or []


def read(path: Path) -> Stored:
    """Return what *path* holds, nothing at all where it does not exist. Raises `errors.SpecError` if it is no state."""
    try:
        document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:
        problem = errors.Problem(path="", got=str(error), allowed="JSON in the shape of `pulumi stack export`")
        raise errors.SpecError((problem,), str(path)) from error
    return Stored(document, path)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock beside *path* while the block runs. Raises `errors.RefusedError` where another run holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip()
            raise errors.RefusedError(
                f"{path}: the stack is locked by another run, process {holder}; wait for it to end"
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def render(resources: list[str], pending: list[str], salt: str) -> str:
    """Return the document that holds *resources* and *pending*, each given as JSON text."""
    manifest = {"time": now(), "magic": hashlib.sha256(VERSION.encode()).hexdigest(), "version": VERSION}
    provider = {"type": SECRETS_PROVIDER, "state": {"salt": salt}}
    head = json.dumps({"manifest": manifest, "secrets_providers": provider})[1:-1]
    parts = [head, _array("resources", resources)]
    if pending:
        parts.append(_array("pending_operations", pending))
    return '{"version": 3, "deployment": {' + ",\n".join(parts) + "}}\n"


def _array(name: str, items: list[str]) -> str:
    return f'"{name}": [\n' + ",\n".join(items) + "\n]"


def write(path: Path, text: str) -> None:
    """
    Put *text* at *path*: after a crash at any point the file holds the old text or the new one, and nothing else.

    Raises `errors.NomadCsiError` where the machine refuses: no space, no more files.
    """
    draft = path.with_name(path.name + ".new")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise errors.NomadCsiError(f"{path} cannot be written: {error.strerror}") from error


def now() -> str:
    """Return the time in the form that Pulumi writes: ``2026-11-21T10:00:04.992616Z``."""
    return dt.datetime.now(dt.UTC).isoformat().replace("+00:00", "Z")


def seal_of(stored: Stored) -> values.Seal:
    """Return the seal that *stored* was written under."""
    return values.Seal(stored.salt)
