"""
Folders and files instead of mounts: nothing is mounted, and nothing that holds data is removed.

Part of the CSI driver emulator.
"""

import os
from pathlib import Path
from typing import Any

from nomad_csi.csi.v1 import csi_pb2
from nomad_csi_sandbox.csi_plugin import status


def make(path: Path) -> None:
    """Make a folder, and say that nothing is mounted there. Raises `status.StatusError`."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise status.StatusError("INTERNAL", f'Could not create dir "{path}": {error}') from error
    status.log(f"{path}: made; the emulator mounts nothing there")


def publish(path: Path, *, is_block: bool) -> None:
    """Make what a task is to see: a folder, or an empty file instead of a block device."""
    if is_block:
        make(path.parent)
        path.touch()
    else:
        make(path)


def remove(path: Path) -> None:
    """Remove an empty folder or file. Whatever holds data stays, and the call fails."""
    try:
        if path.is_dir():
            path.rmdir()
        elif path.exists() and path.stat().st_size:
            raise _kept(path, "File not empty")
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise _kept(path, str(error.strerror)) from error


def statistics(path: Path) -> Any:
    """Return the answer of ``NodeGetVolumeStats``, for the disk on which *path* is. Raises `status.StatusError`."""
    try:
        disk = os.statvfs(path)
    except OSError as error:
        text = f"Could not get file information from {path}: {error.strerror}"
        raise status.StatusError("NOT_FOUND", text) from error
    size, free = disk.f_blocks * disk.f_frsize, disk.f_bavail * disk.f_frsize
    return csi_pb2.NodeGetVolumeStatsResponse(
        usage=[
            csi_pb2.VolumeUsage(unit="BYTES", total=size, available=free, used=size - disk.f_bfree * disk.f_frsize),
            csi_pb2.VolumeUsage(
                unit="INODES", total=disk.f_files, available=disk.f_ffree, used=disk.f_files - disk.f_ffree
            ),
        ]
    )


def _kept(path: Path, why: str) -> status.StatusError:
    where = "nothing was mounted there, what it holds is on the client's own disk"
    return status.StatusError("INTERNAL", f'Could not unmount "{path}": {why}; {where}')
