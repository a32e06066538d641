"""`nomad-csi init`: what it needs, what it writes, and what it leaves alone."""

import re
import shlex

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.hcl import project

EBS = ("--storage", "ebs", "--aws-region", "us-east-1", "--zone", "us-east-1a", "--role-name", "nomad-client")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty directory to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_all_missing_options_are_named_at_once(folder, capsys):
    """Nothing is written."""
    code = cli.main(["init", "--storage", "ebs", "--zone", "us-east-1a"])

    assert code == 64
    assert capsys.readouterr().err.endswith("expected --pulumi, --aws-region, --role-name, got nothing\n")
    assert written(folder) == {}


def test_a_network_of_clients_has_a_prefix_length(folder, capsys):
    """What the spec takes for a key, its option takes."""
    words = ["--storage", "efs", "--aws-region", "us-east-1", "--zone", "us-east-1a", "--client-cidr", "172.31.1.0/16"]

    assert cli.main(["init", "--pulumi", "python", *words]) == 64

    allowed = "an IPv4 network with its prefix length, such as 10.0.0.0/16"
    assert f"--client-cidr: expected {allowed}, and no host bits set, got '172.31.1" in capsys.readouterr().err
    assert written(folder) == {}


def test_a_repository_of_files_passes_its_own_hooks_and_pipeline(folder, capsys):
    """As they are written, after what init says to type next."""
    assert cli.main(["init", "--hcl", *EBS]) == 0
    typed = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  nomad-csi ")]
    steps = [re.split("  +", line)[0] for line in typed if line.split()[1] in ("check", "render")]
    hooks = yaml.safe_load((folder / project.HOOKS).read_text())["repos"][0]["hooks"]
    entries = [hook["entry"] + (" nomad" if hook.get("pass_filenames", True) else "") for hook in hooks]
    [job] = yaml.safe_load((folder / project.PIPELINE).read_text())["jobs"].values()
    runs = [step["run"] for step in job["steps"] if step.get("run", "").startswith("nomad-csi ")]

    codes = {line: cli.main(shlex.split(line)[1:]) for line in (*steps, *entries, *runs)}

    assert codes == dict.fromkeys(codes, 0)
    assert {line.split()[1] for line in entries} == {line.split()[1] for line in runs} == {"check", "render"}
    assert (folder / "nomad/volumes/default/data.volume.hcl").is_file()


@pytest.mark.parametrize(
    ("words", "spec", "schema", "printed"),
    [
        (("--hcl",), "storage.yaml", "spec.schema.json", ["schema"]),
        (("--pulumi", "python"), "Pulumi.dev.yaml", "stack.schema.json", ["schema", "--stack-config"]),
    ],
)
def test_editors_find_the_schema_beside_the_spec(words, spec, schema, printed, folder, capsys):
    """The one that `nomad-csi schema` prints, so that it can be written again after an upgrade."""
    cli.main(["init", *words, *EBS])
    capsys.readouterr()

    cli.main(printed)

    found = written(folder)
    assert found[spec].startswith(f"# yaml-language-server: $schema={schema}\n")
    assert found[schema] == capsys.readouterr().out


def test_files_that_exist_are_all_named_before_anything_is_written(folder, capsys):
    """Those that others share are not among them, and stay as they are."""
    for name in ("storage.yaml", "spec.schema.json", ".gitignore", project.HOOKS):
        (folder / name).write_text("mine\n")
    before = written(folder)

    assert cli.main(["init", "--hcl", *EBS]) == 1

    assert "refused: nothing was written: storage.yaml exists; spec.schema.json exists; " in capsys.readouterr().err
    assert written(folder) == before
    assert cli.main(["init", "--pulumi", "yaml", *EBS]) == 0
    assert "unchanged  .gitignore\n" in capsys.readouterr().out
    after = written(folder)
    assert {path: after[path] for path in before} == before
    assert set(after) - set(before) == {"Pulumi.yaml", project.PIPELINE}


def test_a_dry_run_lists_the_files_and_writes_none(folder, capsys):
    """Those that the run writes afterwards."""
    words = ["init", "shop", "--hcl", *EBS]

    assert cli.main([*words, "--dry-run"]) == 0
    listed = capsys.readouterr().out.splitlines()

    assert written(folder) == {}
    assert cli.main(words) == 0
    assert sorted(listed) == sorted(f"would write {path}" for path in written(folder))
