"""
What a storage system would hold: volumes and snapshots, in memory or in one JSON file for all processes of a driver.

Part of the CSI driver emulator. It keeps records, not data: what tasks write is on the client's own disk.
"""

import contextlib
import fcntl
import json
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Storage:
    """The records of one driver. Thread-safe, and with a file safe between processes."""

    def __init__(self, file: Path | None) -> None:
        """Keep the records in *file*, whose folder is there; ``None``: in memory, for as long as the process runs."""
        self._file = file
        self._lock = threading.RLock()
        self._held = _empty()

    @contextlib.contextmanager
    def open(self) -> Iterator["Records"]:
        """Hold all records, alone; what was changed in them is kept when the block ends without an error."""
        with self._lock, self._alone():
            records = Records(self._read())
            yield records
            self._write(records.whole)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if self._file is None:
            yield
            return
        with self._file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> Json:
        if self._file is None:
            text = json.dumps(self._held)  # a copy: a block that fails changes nothing
        elif self._file.exists():
            text = self._file.read_text(encoding="utf-8")
        else:
            text = json.dumps(_empty())
        found: Json = json.loads(text)
        return found

    def _write(self, whole: Json) -> None:
        if self._file is None:
            self._held = whole
            return
        fresh = self._file.with_suffix(".new")
        fresh.write_text(json.dumps(whole, indent=1, sort_keys=True), encoding="utf-8")
        fresh.replace(self._file)


def _empty() -> Json:
    return {"volumes": {}, "snapshots": {}, "nodes": []}


class Records:
    """The records while they are held. A volume is a mapping with ``id``, ``name``, ``size``, and what is below."""

    def __init__(self, whole: Json) -> None:
        self.whole = whole
        self.volumes: dict[str, Json] = whole["volumes"]
        """By id: besides, ``context``, ``segments``, ``source``, ``block``, ``published``, ``staged``, ``targets``."""
        self.snapshots: dict[str, Json] = whole["snapshots"]
        """By id: ``id``, ``name``, ``volume``, ``size``, ``created`` (seconds since 1970)."""
        self.nodes: list[str] = whole["nodes"]
        """Ids of the nodes on which the driver was started."""
        self.deleted: list[str] = whole.setdefault("deleted", [])
        """Ids of volumes that were deleted, and not made again: not taken for storage that others made."""

    def volume_named(self, name: str) -> Json | None:
        """Return the volume of that name."""
        return next((each for each in self.volumes.values() if each["name"] == name), None)

    def snapshot_named(self, name: str) -> Json | None:
        """Return the snapshot of that name."""
        return next((each for each in self.snapshots.values() if each["name"] == name), None)

    def add_volume(self, volume_id: str, name: str, size: int, **more: Any) -> Json:
        """Note a new volume, and return it."""
        self.deleted[:] = [each for each in self.deleted if each != volume_id]
        empty: Json = {"context": {}, "segments": {}, "source": None, "block": False}
        use: Json = {"published": {}, "staged": [], "targets": []}
        self.volumes[volume_id] = {"id": volume_id, "name": name, "size": size} | empty | use | more
        return self.volumes[volume_id]

    def delete_volume(self, volume_id: str) -> None:
        """Forget a volume, and that it ever was."""
        if self.volumes.pop(volume_id, None) is not None:
            self.deleted.append(volume_id)

    def add_snapshot(self, name: str, volume: Json, snapshot_id: str = "") -> Json:
        """Note a new snapshot of *volume*, and return it; without an id it gets a UUID."""
        snapshot_id = snapshot_id or str(uuid.uuid4())
        made = {"id": snapshot_id, "name": name, "volume": volume["id"], "size": volume["size"], "created": time.time()}
        self.snapshots[snapshot_id] = made
        return made
