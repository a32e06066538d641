"""The folder of the clients: of this user and of this project, or it is not taken."""

import pytest

from nomad_csi import errors
from nomad_csi_sandbox.session import folder


def test_folder_of_the_clients_is_no_link(tmp_path):
    """In /tmp anybody can put one there, to a directory in which they read what the plugins write."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "clients").symlink_to(tmp_path / "theirs")

    with pytest.raises(errors.RefusedError, match="belongs to another user"):
        folder.claim_data_dir(tmp_path / "clients", tmp_path / "project")

    assert list((tmp_path / "theirs").iterdir()) == []


def test_folder_of_the_clients_of_another_sandbox_is_not_taken(tmp_path):
    """Nor one with something in it that is no sandbox; an empty one is what a killed `up` left."""
    first, second = tmp_path / "first", tmp_path / "second"
    folder.claim_data_dir(tmp_path / "clients", first)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "empty").mkdir()

    for name, holder in (("clients", str(first)), ("full", "something that is not a sandbox")):
        with pytest.raises(errors.RefusedError, match=f"is in use by {holder}"):
            folder.claim_data_dir(tmp_path / name, second)
    folder.claim_data_dir(tmp_path / "empty", second)
    folder.claim_data_dir(tmp_path / "clients", first)

    assert folder.owns_data_dir(tmp_path / "clients", first)
    assert folder.owns_data_dir(tmp_path / "empty", second)
    assert (tmp_path / "clients").stat().st_mode & 0o777 == folder.PRIVATE
