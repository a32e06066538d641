"""A reader of the file sees the old metrics or the new ones, whatever goes wrong."""

import os

import pytest

from nomad_csi.verification import metrics_file


def test_file_is_put_in_place_and_readable_for_all(tmp_path):
    """The exporter is another user; nothing is left beside."""
    path = tmp_path / "nomad_csi.prom"
    mask = os.umask(0o077)
    try:
        metrics_file.write(path, "a 1\n")
        metrics_file.write(path, "a 2\n")
    finally:
        os.umask(mask)

    assert metrics_file.read(path) == "a 2\n"
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_what_stood_there_stays_where_the_disk_refuses(tmp_path, monkeypatch):
    """And the error goes up."""
    path = tmp_path / "nomad_csi.prom"
    metrics_file.write(path, "a 1\n")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(OSError, match="No space left"):
        metrics_file.write(path, "a 2\n")

    assert metrics_file.read(path) == "a 1\n"
    assert list(tmp_path.iterdir()) == [path]


def test_missing_file_reads_as_empty(tmp_path):
    """The first run has none."""
    assert metrics_file.read(tmp_path / "none.prom") == ""


def test_missing_folder_is_an_error(tmp_path):
    """It is somebody else's to make."""
    with pytest.raises(FileNotFoundError):
        metrics_file.write(tmp_path / "none" / "a.prom", "a 1\n")
