"""One file on disk, and several at once: in place whole or not at all, and known by what stands in it."""

import os
import shutil
import subprocess

import pytest

from nomad_csi import errors
from nomad_csi.hcl import disk, documents

TEXT = disk.signed('id = "a"\n')


def everything(folder):
    """Return all files and folders below *folder*."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_signed_text_begins_with_a_hash_of_the_rest():
    """The first line tells who wrote the file, what to do instead of editing it, and whether somebody did."""
    first, rest = TEXT.split("\n", 1)

    assert first == "# Rendered by nomad-csi. Change the spec and render again. Content 9fbbd8e2833c063d"
    assert rest == 'id = "a"\n'
    assert disk.signed(f"# {disk.HEADER}\n{rest}") == TEXT


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        (None, "absent"),
        (TEXT, "ours"),
        (TEXT.replace("\n", "\r\n"), "ours"),
        (TEXT + "# a note\n", "edited"),
        (TEXT[:-1], "edited"),
        (TEXT.split("\n")[0], "edited"),
        (TEXT.replace("Content ", ""), "edited"),
        (f'# {disk.HEADER}\nid = "a"\n', "edited"),
        ("", "foreign"),
        ('id = "a"\n', "foreign"),
        (f"\n{TEXT}", "foreign"),
        (f"\ufeff{TEXT}", "foreign"),
    ],
)
def test_standing_tells_whose_a_file_is(text, standing):
    """As written, edited since, or somebody else's: what a crash left empty or short is not ours."""
    assert disk.file_origin(text) == standing
    assert disk.is_ours(text or "") == (standing == "ours")


def test_write_leaves_the_old_file_when_it_fails(tmp_path):
    """A reader sees the old text or the new one, and no temporary file stays."""
    path = tmp_path / "a.hcl"
    disk.write(path, "old")

    with pytest.raises(UnicodeEncodeError):
        disk.write(path, "new \ud800")

    assert path.read_text() == "old"
    assert everything(tmp_path) == ["a.hcl"]


def test_write_makes_folders_and_a_file_for_all_to_read(tmp_path):
    """Its bytes are the text's, whatever line ends it has."""
    disk.write(tmp_path / "a/b/c.hcl", "ä\r\n")

    assert (tmp_path / "a/b/c.hcl").read_bytes() == "ä\r\n".encode()
    assert (tmp_path / "a/b/c.hcl").stat().st_mode & 0o777 == 0o644
    assert everything(tmp_path) == ["a", "a/b", "a/b/c.hcl"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB."""
    if os.geteuid() or not shutil.which("mount"):
        pytest.skip("needs root, to mount a small file system")
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"cannot mount a small file system here: {done.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_disk_that_is_really_full_leaves_everything_as_it_was(small_disk):
    """The kernel's own refusal, half way through the files."""
    disk.write(small_disk / "a.hcl", "old")

    with pytest.raises(OSError, match="No space left on device"):
        disk.put(small_disk, {f"{index}.hcl": "x" * 4096 for index in range(40)})

    assert everything(small_disk) == ["a.hcl"]
    assert (small_disk / "a.hcl").read_text() == "old"


def test_writing_no_file_touches_nothing(tmp_path):
    """Where nothing changes, a folder may even be read-only."""
    disk.put(tmp_path / "out", {})

    assert everything(tmp_path) == []


def test_read_tells_no_file_from_an_empty_one(tmp_path):
    """Bytes that are no text are replaced, so that they differ from every text of ours."""
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "binary").write_bytes(b"\xff\r\n")

    assert disk.read(tmp_path / "none") is None
    assert disk.read(tmp_path / "empty") == ""
    assert disk.read(tmp_path / "binary") == "\ufffd\r\n"


@pytest.mark.parametrize("path", ["link", "/x", "../x", "x\x07", ".", "a/./b"])
def test_location_below_a_folder_only(tmp_path, path):
    """A link is refused whatever it leads to."""
    (tmp_path / "link").symlink_to(tmp_path / "file")

    with pytest.raises(errors.RefusedError) as refusal:
        disk.location(tmp_path, path)

    assert str(refusal.value) == (
        f"{path} is not a file below {tmp_path}: a symbolic link leads elsewhere, or it has '..'; "
        "remove the link, or choose another path"
    )


def test_left_over_are_files_of_ours_that_the_spec_no_longer_has(tmp_path):
    """Edited ones too; not those of others."""
    ours = disk.signed("a\n")
    texts = {"jobs/old.hcl": ours, "volumes/edited.hcl": f"{ours}b\n", "jobs/foreign.hcl": "a\n", "jobs/kept.hcl": ours}
    texts["jobs/note.txt"] = ours
    disk.put(tmp_path, texts)

    assert documents.left_over(tmp_path, {"jobs/kept.hcl": ""}) == ("jobs/old.hcl", "volumes/edited.hcl")
