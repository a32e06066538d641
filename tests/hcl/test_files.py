"""The files of a plan: rendered one by one, written together, and never over somebody else's."""

import errno
import os
import pathlib

import pytest

from nomad_csi import errors
from nomad_csi.hcl import disk, documents, files


def test_render_plan_names_every_volume_whose_external_id_is_missing(plan):
    """All gaps at once, with the option that fills them."""
    with pytest.raises(errors.SpecError) as caught:
        documents.render_plan(plan, {})

    made = "expected the id of storage that is made by Pulumi, got nothing"
    fix = "pass --stack-output with the output of `pulumi stack output --json`"
    assert [str(problem) for problem in caught.value.problems] == [
        f"external id of default/{name}: {made}; {fix}" for name in ("mysql", "shared")
    ]


def test_files_of_a_plan_are_in_the_order_of_the_spec(plan, external_ids):
    """Jobs first."""
    assert list(documents.render_plan(plan, external_ids)) == [
        "jobs/aws-ebs0-controller.nomad.hcl",
        "jobs/aws-ebs0-node.nomad.hcl",
        "jobs/aws-efs0-node.nomad.hcl",
        "volumes/default/mysql.volume.hcl",
        "volumes/default/shared.volume.hcl",
    ]


def test_write_all_returns_what_changed_and_leaves_the_rest(tmp_path, plan, external_ids):
    """The second run writes nothing."""
    rendered = documents.render_plan(plan, external_ids)

    assert sorted(disk.write_all(tmp_path, rendered)) == sorted(rendered)
    assert disk.write_all(tmp_path, rendered) == frozenset()


FOREIGN = (
    "not overwritten, because nomad-csi did not write them: volumes/default/mysql.volume.hcl; move them away first"
)
EDITED = (
    "not overwritten, because they were edited since nomad-csi wrote them: jobs/aws-ebs0-controller.nomad.hcl; "
    "move the edits into the spec, then render with --overwrite"
)


def test_write_all_refuses_files_of_somebody_else_before_it_writes(tmp_path, plan, external_ids):
    """One foreign file stops all of them."""
    rendered = documents.render_plan(plan, external_ids)
    foreign = tmp_path / "volumes/default/mysql.volume.hcl"
    foreign.parent.mkdir(parents=True)
    foreign.write_text('id = "mysql"\n')

    with pytest.raises(errors.RefusedError) as refusal:
        disk.write_all(tmp_path, rendered)

    assert str(refusal.value) == FOREIGN
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [foreign]


def edited_by_hand(folder):
    """Change a number in a file below *folder*, and return the file."""
    path = folder / "jobs/aws-ebs0-controller.nomad.hcl"
    path.write_text(path.read_text().replace("count = 2", "count = 1"))
    return path


def test_write_all_refuses_a_file_that_was_edited_unless_told_to_overwrite(tmp_path, plan, external_ids):
    """What somebody wrote into a rendered file is not lost; who knows of it may say so."""
    rendered = documents.render_plan(plan, external_ids)
    disk.write_all(tmp_path, rendered)
    edited = edited_by_hand(tmp_path)
    before = edited.read_text()

    with pytest.raises(errors.RefusedError) as refusal:
        disk.write_all(tmp_path, rendered)

    assert str(refusal.value) == EDITED
    assert edited.read_text() == before
    changed = disk.write_all(tmp_path, rendered, overwrite=True)
    assert changed == {"jobs/aws-ebs0-controller.nomad.hcl"}
    assert edited.read_text() == rendered["jobs/aws-ebs0-controller.nomad.hcl"]


def test_write_all_overwrites_no_foreign_file_when_told_to_overwrite(tmp_path, plan, external_ids):
    """An edited file of ours gives way then; somebody else's does not."""
    rendered = documents.render_plan(plan, external_ids)
    disk.write_all(tmp_path, rendered)
    edited_by_hand(tmp_path)
    foreign = tmp_path / "volumes/default/mysql.volume.hcl"
    foreign.write_text("")

    for overwrite, message in ((True, FOREIGN), (False, f"{FOREIGN}; {EDITED}")):
        with pytest.raises(errors.RefusedError) as refusal:
            disk.write_all(tmp_path, rendered, overwrite=overwrite)
        assert str(refusal.value) == message

    assert foreign.read_text() == ""


def test_write_all_names_what_the_disk_refuses_and_leaves_no_file_behind(tmp_path, plan, external_ids, monkeypatch):
    """One error, and no file changed: the second draft finds no space."""
    really_open = pathlib.Path.open

    def open_draft(path, *words, **options):
        if path.match(".nomad-csi-*/1"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return really_open(path, *words, **options)

    monkeypatch.setattr(pathlib.Path, "open", open_draft)
    with pytest.raises(errors.NomadCsiError, match=r"/out: the files cannot be written: .*No space left on device"):
        disk.write_all(tmp_path / "out", documents.render_plan(plan, external_ids))

    assert list(tmp_path.rglob("*")) == [tmp_path / "out"]


@pytest.mark.parametrize("path", ["volumes", "volumes/default/mysql.volume.hcl"])
def test_write_all_names_what_is_in_the_way(tmp_path, plan, external_ids, path):
    """A file where a folder belongs, or a folder where a file belongs."""
    if path == "volumes":
        (tmp_path / path).write_text("")
    else:
        (tmp_path / path).mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(errors.NomadCsiError, match=r"volumes/default/mysql\.volume\.hcl: (Not|Is) a directory"):
        disk.write_all(tmp_path, documents.render_plan(plan, external_ids))

    assert sorted(tmp_path.rglob("*")) == before


def test_stale_tells_edits_from_files_that_are_only_old(tmp_path, plan, external_ids):
    """What would change is readable, and why it is not as it would be."""
    rendered = documents.render_plan(plan, external_ids)
    old = documents.render_plan(plan, external_ids | {"default/mysql": "vol-11111111"})
    disk.write_all(tmp_path, old)
    edited_by_hand(tmp_path)
    (tmp_path / "volumes/default/shared.volume.hcl").unlink()
    (tmp_path / "jobs/aws-ebs0-node.nomad.hcl").write_text("mine")
    (tmp_path / "volumes/default/gone.volume.hcl").write_text(old["volumes/default/mysql.volume.hcl"])

    found = {item.path: item for item in documents.stale(tmp_path, dict(reversed(rendered.items())))}

    assert list(found) == sorted(found, key=lambda path: ("gone" in path, path))
    assert {path: item.reason for path, item in found.items()} == {
        "jobs/aws-ebs0-controller.nomad.hcl": "edited by hand",
        "jobs/aws-ebs0-node.nomad.hcl": "not ours",
        "volumes/default/mysql.volume.hcl": "out of date",
        "volumes/default/shared.volume.hcl": "missing",
        "volumes/default/gone.volume.hcl": "left over",
    }
    assert "-    count = 1\n+    count = 2\n" in found["jobs/aws-ebs0-controller.nomad.hcl"].diff
    heads = {path.rpartition("/")[2]: item.diff.splitlines()[:2] for path, item in found.items()}
    assert heads["shared.volume.hcl"] == ["--- nothing", "+++ volumes/default/shared.volume.hcl (rendered)"]
    assert heads["gone.volume.hcl"] == ["--- volumes/default/gone.volume.hcl (on disk)", "+++ nothing"]
    assert heads["mysql.volume.hcl"] == [
        "--- volumes/default/mysql.volume.hcl (on disk)",
        "+++ volumes/default/mysql.volume.hcl (rendered)",
    ]


def test_left_over_is_what_nomad_csi_wrote_edited_or_not(tmp_path, plan, external_ids):
    """A file of somebody else in the folder is nobody's business."""
    rendered = documents.render_plan(plan, external_ids)
    disk.write_all(tmp_path, rendered)
    text = rendered["volumes/default/mysql.volume.hcl"]
    (tmp_path / "volumes/default/a.volume.hcl").write_text(text)
    (tmp_path / "volumes/z.volume.hcl").write_text(text + "# note\n")
    (tmp_path / "volumes/own.hcl").write_text("mine")

    assert documents.left_over(tmp_path, rendered) == ("volumes/default/a.volume.hcl", "volumes/z.volume.hcl")


@pytest.mark.parametrize("way", ["write", "check"])
def test_no_symbolic_link_leads_out_of_the_folder(tmp_path, way):
    """A linked folder or file is refused before anything is written; `--out` itself may be a link."""
    out, outside = tmp_path / "out", tmp_path / "outside"
    outside.mkdir()
    rendered = {"jobs/a.nomad.hcl": disk.signed("a\n"), "volumes/default/b.volume.hcl": disk.signed("b\n")}
    (tmp_path / "real").mkdir()
    out.symlink_to(tmp_path / "real")
    use = (lambda: disk.write_all(out, rendered)) if way == "write" else (lambda: list(documents.stale(out, rendered)))

    (out / "jobs").symlink_to(outside)
    with pytest.raises(
        errors.RefusedError, match=r"jobs/a.nomad.hcl is not a file below .*: a symbolic link leads elsewhere"
    ):
        use()
    (out / "jobs").unlink()
    (out / "jobs").mkdir()
    (out / "jobs/a.nomad.hcl").symlink_to(outside / "a.nomad.hcl")
    with pytest.raises(errors.RefusedError, match=r"jobs/a.nomad.hcl is not a file below"):
        use()
    (out / "jobs/a.nomad.hcl").unlink()
    use()

    assert list(outside.iterdir()) == []
    assert {path.name for path in out.rglob("*.hcl")} == ({"a.nomad.hcl", "b.volume.hcl"} if way == "write" else set())


def test_files_behind_a_link_are_not_left_over(tmp_path):
    """Nothing outside of the folder is named for deletion."""
    outside = tmp_path / "outside"
    disk.write_all(outside, {"a.nomad.hcl": disk.signed("a\n")})
    (tmp_path / "out").mkdir()
    (tmp_path / "out/jobs").symlink_to(outside)

    assert documents.left_over(tmp_path / "out", {}) == ()


def test_links_within_the_folder_stay_allowed(tmp_path):
    """Somebody may keep the jobs beside their other jobs of the same tree."""
    (tmp_path / "other").mkdir()
    (tmp_path / "jobs").symlink_to(tmp_path / "other")

    disk.write_all(tmp_path, {"jobs/a.nomad.hcl": disk.signed("a\n")})

    assert (tmp_path / "other/a.nomad.hcl").is_file()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            'job "x" {\n  dynamic "group" {\n    content {}\n  }\n}\n',
            'line 2: expected blocks that are written out, got dynamic "group"; give the output of `nomad job run -output '
            "FILE`",
        ),
        ("a = 1\n", "expected a job file, a volume file or an IAM policy, got none of them"),
        ("locals {\n}\nid = 1\n", "expected a job file, a volume file or an IAM policy, got none of them"),
        ("variables {\n}\nid = 1\n", "expected a job file, a volume file or an IAM policy, got none of them"),
        ('id = "x"\ntype = "nfs"\n', 'expected a CSI volume (type = "csi"), got a volume of another type'),
    ],
)
def test_file_of_another_kind_is_refused(text, problem):
    """Or one in which only Nomad knows the blocks."""
    with pytest.raises(errors.SpecError) as refusal:
        files.parse(text, "x")

    assert str(refusal.value) == f"x: 1 problem\n  {problem}"
