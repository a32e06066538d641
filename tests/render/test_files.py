"""Files on disk: whole or not at all, and never somebody else's."""

import pytest

from nomad_csi import errors
from nomad_csi.render import disk, files


def test_render_plan_names_every_volume_whose_external_id_is_missing(plan):
    """All gaps at once, with the option that fills them."""
    with pytest.raises(errors.SpecError) as caught:
        files.render_plan(plan, {})

    assert [problem.path for problem in caught.value.problems] == [
        "external id of default/mysql",
        "external id of default/shared",
    ]
    assert "--stack-output" in str(caught.value)


def test_write_all_returns_what_changed_and_leaves_the_rest(tmp_path, plan, external_ids):
    """The second run writes nothing."""
    rendered = files.render_plan(plan, external_ids)

    assert sorted(files.write_all(tmp_path, rendered)) == sorted(rendered)
    assert files.write_all(tmp_path, rendered) == ()


def test_write_all_refuses_files_of_somebody_else_before_it_writes(tmp_path, plan, external_ids):
    """One foreign file stops all of them."""
    rendered = files.render_plan(plan, external_ids)
    foreign = tmp_path / "volumes/default/mysql.volume.hcl"
    foreign.parent.mkdir(parents=True)
    foreign.write_text('id = "mysql"\n')

    with pytest.raises(errors.RefusedError, match=r"volumes/default/mysql\.volume\.hcl"):
        files.write_all(tmp_path, rendered)

    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [foreign]


def test_stale_shows_edited_and_missing_files_as_a_diff(tmp_path, plan, external_ids):
    """What would change is readable."""
    rendered = files.render_plan(plan, external_ids)
    files.write_all(tmp_path, rendered)
    edited = tmp_path / "jobs/aws-ebs0-controller.nomad.hcl"
    edited.write_text(edited.read_text().replace("count = 2", "count = 1"))
    (tmp_path / "volumes/default/shared.volume.hcl").unlink()

    first, second = files.stale(tmp_path, rendered)

    assert first.path == "jobs/aws-ebs0-controller.nomad.hcl"
    assert "-    count = 1\n+    count = 2\n" in first.diff
    assert second.path == "volumes/default/shared.volume.hcl"
    assert second.diff.startswith("--- nothing\n")


def test_write_leaves_the_old_file_when_it_fails(tmp_path):
    """A reader sees the old text or the new one, and no temporary file stays."""
    path = tmp_path / "a.hcl"
    disk.write(path, "old")

    with pytest.raises(UnicodeEncodeError):
        disk.write(path, "new \ud800")

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
