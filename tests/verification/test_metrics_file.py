"""A reader of the file sees the old metrics or the new ones, whatever goes wrong."""

import os

import pytest

from nomad_csi.verification import prometheus


def test_file_is_put_in_place_and_readable_for_all(tmp_path):
    """The exporter is another user; nothing is left beside."""
    path = tmp_path / "nomad_csi.prom"
    mask = os.umask(0o077)
    try:
        prometheus.write_file(path, "a 1\n")
        prometheus.write_file(path, "a 2\n")
    finally:
        os.umask(mask)

    assert prometheus.read_file(path) == "a 2\n"
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_what_stood_there_stays_where_the_disk_refuses(tmp_path, monkeypatch):
    """And the error goes up."""
    path = tmp_path / "nomad_csi.prom"
    prometheus.write_file(path, "a 1\n")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fchmod", full)
    with pytest.raises(OSError, match="No space left"):
        prometheus.write_file(path, "a 2\n")

    assert prometheus.read_file(path) == "a 1\n"
    assert list(tmp_path.iterdir()) == [path]


def test_missing_file_reads_as_empty(tmp_path):
    """The first run has none."""
    assert prometheus.read_file(tmp_path / "none.prom") == ""


def test_missing_folder_is_an_error(tmp_path):
    """It is somebody else's to make."""
    with pytest.raises(FileNotFoundError):
        prometheus.write_file(tmp_path / "none" / "a.prom", "a 1\n")
