"""``nomad-csi render``: the files of a spec without Pulumi."""

import json

import pytest
import yaml

from nomad_csi import cli

SPEC = {
    "plugins": [{"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}],
    "volumes": [{"id": "mysql", "plugin_id": "aws-ebs0", "ebs": {"availability_zone": "us-east-1a", "size_gib": 40}}],
}


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "storage.yaml"
    path.write_text(yaml.safe_dump(SPEC))
    return path


@pytest.fixture
def stack_output(tmp_path):
    path = tmp_path / "outputs.json"
    path.write_text(json.dumps({"externalIds": {"default/mysql": "vol-0123456789abcdef0"}}))
    return path


def test_render_refuses_an_edited_file_unless_told_to_overwrite(spec, stack_output, tmp_path, capsys):
    """An edit is not lost in silence."""
    words = ["render", str(spec), "--stack-output", str(stack_output), "--out", str(tmp_path / "out")]
    cli.main(words)
    job = tmp_path / "out/jobs/aws-ebs0-node.nomad.hcl"
    written = job.read_text()
    job.write_text(written.replace("memory = 256", "memory = 512"))
    capsys.readouterr()

    assert cli.main(words) == 1
    assert "edited since nomad-csi wrote them: jobs/aws-ebs0-node.nomad.hcl; move" in capsys.readouterr().err
    assert cli.main([*words, "--overwrite"]) == 0

    assert capsys.readouterr().out.count("wrote") == 1
    assert job.read_text() == written


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\xff", "byte 0: expected text in UTF-8, got something else"),
        (
            b"config: {'nomad-csi:storage': {secure: abc}}",
            "config.nomad-csi:storage: expected the storage spec, in clear, got an encrypted value",
        ),
        (b"config: {a: b}", "config.nomad-csi:storage: expected the storage spec, in clear, got nothing"),
    ],
)
def test_a_file_that_is_no_spec_is_named(tmp_path, capsys, content, line):
    """Binary files, encrypted and missing specs are told apart."""
    path = tmp_path / "x.yaml"
    path.write_bytes(content)

    assert cli.main(["render", str(path), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.endswith(f" {line}\n")


def test_json_has_the_status_and_diff_of_every_file(spec, stack_output, tmp_path, capsys):
    """A pipeline reads which files are stale and why; without --check, which were written."""
    out = tmp_path / "out"
    words = ["render", str(spec), "--stack-output", str(stack_output), "--out", str(out), "--json"]
    jobs = ["jobs/aws-ebs0-controller.nomad.hcl", "jobs/aws-ebs0-node.nomad.hcl"]
    mysql, old = "volumes/default/mysql.volume.hcl", "volumes/default/old.volume.hcl"

    def rendered(*more):
        code = cli.main([*words, *more])
        found = json.loads(capsys.readouterr().out)
        assert found["folder"] == str(out)
        diffs = {item["path"]: item["diff"] for item in found["files"]}
        return code, found["ok"], {item["path"]: item["status"] for item in found["files"]}, diffs

    first, same = rendered(), rendered("--check")
    (out / jobs[1]).write_text((out / jobs[1]).read_text().replace("memory = 256", "memory = 512"))
    (out / mysql).rename(out / old)
    stale, again = rendered("--check"), rendered("--overwrite")

    assert first[:3] == (0, True, dict.fromkeys([*jobs, mysql], "wrote"))
    assert same[:3] == (0, True, dict.fromkeys([*jobs, mysql], "unchanged"))
    changed = {jobs[0]: "unchanged", jobs[1]: "edited by hand", mysql: "missing", old: "left over"}
    assert stale[:3] == (1, False, changed)
    assert "-        memory = 512\n+        memory = 256\n" in stale[3][jobs[1]]
    written = {jobs[0]: "unchanged", jobs[1]: "wrote", mysql: "wrote", old: "left over"}
    assert again[:3] == (0, True, written)
    assert {*same[3].values(), *again[3].values()} == {""}
    (out / jobs[0]).unlink()
    cli.main(words[:-1])
    left = f"left over  {out / old}: no volume or plugin of the spec has it; delete it\n"
    assert capsys.readouterr().out == f"wrote      {out / jobs[0]}\nunchanged  2 files\n{left}"
