"""Rendered files are written whole, stay below the root, and never take the place of somebody else's file."""

import threading

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.hcl import disk
from nomad_csi.provider import rendered_file

OURS = disk.signed('id = "a"\n')
NEW = disk.signed('id = "b"\n')
FILE = rendered_file.RenderedFileResource()


@pytest.fixture
def heard():
    """Return what a step said: ``warn`` lines."""
    return {"warn": []}


@pytest.fixture
def context(heard, tmp_path):
    """Return the context of a step that writes below a folder of the test, and needs no Nomad."""
    return resource.Context(
        connect=lambda: pytest.fail("a file needs no Nomad"),
        root=tmp_path,
        status=lambda _: None,
        warn=heard["warn"].append,
        cancelled=threading.Event(),
    )


@pytest.mark.parametrize("path", ["/etc/passwd", "../a", "a/../b", "a//b", "./a", ".", "a/", "a\nb", "a\x00b"])
def test_check_rejects_paths_that_are_not_below_the_root(path):
    """A path is relative, has one spelling, and cannot lead out."""
    _, failures = FILE.check({"path": path, "content": "x"})

    reason = f"expected {rendered_file.PATH_SAYS}, got {path!r}"
    assert list(map(str, failures)) == [f"path: {reason}"]


def test_check_accepts_empty_and_unknown_content():
    """A file may be empty, and its text may follow from resources that are not made yet."""
    assert FILE.check({"path": "a.hcl", "content": ""}) == ({"path": "a.hcl", "content": ""}, ())
    assert FILE.check({"path": resource.UNKNOWN, "content": resource.UNKNOWN})[1] == ()
    FILE.preflight(resource.Context(connect=pytest.fail), {}, {"path": "a.hcl", "content": resource.UNKNOWN})


def test_create_writes_the_file_with_its_folders(context):
    """The file has exactly the text, and is readable for all."""
    news = {"path": "rendered/jobs/a.hcl", "content": 'id = "ä"\r\n'}
    planned = FILE.preview(news)
    identity, outputs = FILE.create(context, news)

    written = context.root / "rendered/jobs/a.hcl"
    assert identity == "rendered/jobs/a.hcl"
    assert written.read_bytes() == 'id = "ä"\r\n'.encode()
    assert written.stat().st_mode & 0o777 == 0o644
    assert planned == (identity, outputs) == (identity, news)
    assert [item.name for item in written.parent.iterdir()] == ["a.hcl"]


def test_create_without_a_root_says_where_to_set_it(context):
    """The plugin's working directory is never used instead of a root."""
    without = resource.Context(connect=context.connect)

    with pytest.raises(errors.SpecError) as refused:
        FILE.create(without, {"path": "a.hcl", "content": OURS})
    assert str(refused.value) == (
        "the nomad-csi provider: 1 problem\n"
        "  root: expected the folder that rendered files are written below, got nothing; "
        "set root on the nomad-csi provider, or NOMAD_CSI_ROOT"
    )


EDITED = OURS + "edited"
REFUSED, STAYS = "not overwritten", "was edited after it was written, and stays"
FATES = {
    "nothing": (None, OURS, NEW, "new", "new", "new", "gone"),
    "as it wrote it": (OURS, OURS, NEW, "new", "new", "new", "gone"),
    "as it writes it": (OURS, OURS, OURS, "new", "new", "new", "gone"),
    "of another run": (NEW, OURS, OURS, "new", "new", "new", STAYS),
    "edited": (EDITED, OURS, NEW, REFUSED, REFUSED, "new", STAYS),
    "edited, the same edit as in the spec": (EDITED, OURS, EDITED, "new", "new", "new", STAYS),
    "theirs": ("theirs", OURS, NEW, REFUSED, REFUSED, REFUSED, STAYS),
    "theirs, with the same text": ("theirs", OURS, "theirs", "new", "new", "new", STAYS),
}
"""What is there, what the stack recorded, the new text; what create, update, update after a refresh and delete do."""


@pytest.mark.parametrize(
    ("found", "recorded", "text", "created", "updated", "updated_later", "deleted"), FATES.values(), ids=FATES
)
def test_only_what_is_ours_gives_way(  # parametrized
    context, heard, found, recorded, text, created, updated, updated_later, deleted
):
    """An edit is overwritten after a refresh has shown it, and never removed; a preview refuses what `up` would."""
    file, news = context.root / "a.hcl", {"path": "a.hcl", "content": text}
    outputs = {"path": "a.hcl", "content": recorded}
    seen = outputs if found is None else outputs | {"content": found}

    def left(step):
        file.unlink(missing_ok=True)
        if found is not None:
            file.write_text(found)
        try:
            step()
        except errors.RefusedError as refused:
            assert file.read_text() == found
            advice = "move them away first" if found == "theirs" else rendered_file.ADVICE
            return REFUSED if str(refused).startswith(REFUSED) and str(refused).endswith(advice) else str(refused)
        if not file.exists():
            return "gone"
        if said := heard["warn"][:]:
            assert (file.read_text(), said) == (found, [f"a.hcl {STAYS}"])
            heard["warn"].clear()
            return STAYS
        return "new" if file.read_text() == text else "old"

    for old, outcome in (({}, created), (outputs, updated), (seen, updated_later)):
        assert left(lambda: FILE.update(context, "a.hcl", old, news)) == outcome  # noqa: B023
        assert (left(lambda: FILE.preflight(context, old, news)) == REFUSED) is (outcome == REFUSED)  # noqa: B023
    assert left(lambda: FILE.delete(context, "a.hcl", outputs)) == deleted
    assert left(lambda: FILE.delete(context, "a.hcl", seen)) == ("gone" if found in {None, OURS, NEW} else STAYS)


@pytest.mark.parametrize("link", ["out", "out/deeper"])
def test_create_refuses_a_link_out_of_the_root(context, tmp_path_factory, link):
    """A symbolic link cannot lead a write out of the root."""
    outside = tmp_path_factory.mktemp("outside")
    (context.root / "out").symlink_to(outside)

    with pytest.raises(errors.RefusedError, match="a symbolic link leads elsewhere"):
        FILE.create(context, {"path": f"{link}/a.hcl", "content": OURS})
    assert list(outside.iterdir()) == []


def test_create_refuses_a_file_that_is_a_link(context):
    """The file itself is no link."""
    (context.root / "a.hcl").symlink_to(context.root / "b.hcl")

    with pytest.raises(errors.RefusedError, match="remove the link"):
        FILE.create(context, {"path": "a.hcl", "content": OURS})


def test_create_in_a_file_as_folder_is_an_error(context):
    """What the disk refuses is told with the path."""
    (context.root / "a").write_text("")

    with pytest.raises(errors.NomadCsiError, match=r"the files cannot be written: .*a/b\.hcl: Not a directory"):
        FILE.create(context, {"path": "a/b.hcl", "content": OURS})


def test_read_shows_an_edited_file_as_another_content(context):
    """An edit by hand differs from the program."""
    _, outputs = FILE.create(context, {"path": "a.hcl", "content": OURS})
    (context.root / "a.hcl").write_text("edited")

    inputs, live = FILE.read(context, "a.hcl", {"path": "a.hcl", "content": OURS}, outputs)

    assert inputs == {"path": "a.hcl", "content": "edited"}
    assert live == inputs
    assert FILE.diff("a.hcl", inputs, live, {"path": "a.hcl", "content": OURS}).updates == ("content",)


def test_read_of_a_removed_file_is_nothing(context):
    """A file removed by hand is made again."""
    assert FILE.read(context, "a.hcl", {"path": "a.hcl", "content": "x"}, {}) is None


def test_diff_of_the_path_is_a_new_file():
    """A file at another path is another file."""
    assert FILE.diff("a", {"path": "a", "content": "x"}, {}, {"path": "b", "content": "x"}).replaces == ("path",)
