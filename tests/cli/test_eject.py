"""``nomad-csi eject``: the list, the question, and nothing done without an answer."""

import json

import pytest

from nomad_csi import cli
from nomad_csi.pulumi_state import stack_cli

STACK = "urn:pulumi:dev::shop::"
ROOT = f"{STACK}pulumi:pulumi:Stack::shop-dev"
JOB = f"{STACK}nomad-csi:index:PluginJob::web"
DISK = f"{STACK}nomad-csi:index:EbsVolume$aws:ebs/volume:Volume::mysql"
COMPONENT = f"{STACK}nomad-csi:index:EbsVolume::mysql"
RESOURCES = [
    {"urn": ROOT, "type": "pulumi:pulumi:Stack"},
    {
        "urn": JOB,
        "type": "nomad-csi:index:PluginJob",
        "id": "default/j",
        "inputs": {"jobId": "j", "namespace": "default", "hcl": 'job "j" {}\n'},
    },
    {"urn": COMPONENT, "type": "nomad-csi:index:EbsVolume"},
    {
        "urn": DISK,
        "type": "aws:ebs/volume:Volume",
        "id": "vol-0a",
        "parent": COMPONENT,
        "outputs": {"tags": {"b": "2", "a": "1"}},
    },
]


@pytest.fixture
def forgotten(monkeypatch, tmp_path):
    """A fake for the stack of the current folder: what was forgotten, as it happens."""
    monkeypatch.chdir(tmp_path)
    done = []

    def export(_):
        return {"version": 3, "deployment": {"resources": [each for each in RESOURCES if each["urn"] not in done]}}

    def forget(_, urns, *, protected):
        assert not protected
        done.extend(urns)

    monkeypatch.setattr(stack_cli.PulumiStack, "export", export)
    monkeypatch.setattr(stack_cli.PulumiStack, "forget", forget)
    return done


def test_a_dry_run_shows_all_and_does_nothing(forgotten, capsys, tmp_path):
    """What is forgotten, kept and written, and what stays in AWS with its tags."""
    assert cli.main(["eject", "--out", "nomad", "--dry-run"]) == 0

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "state type name",
        "forgotten aws:ebs/volume:Volume mysql",
        "forgotten nomad-csi:index:EbsVolume mysql",
        "forgotten nomad-csi:index:PluginJob web",
        "kept pulumi:pulumi:Stack shop-dev",
        "file nomad/jobs/web.nomad.hcl",
        "stays in AWS aws:ebs/volume:Volume vol-0a tags: a=1, b=2",
        "3 forgotten, 1 kept",
    ]
    assert (forgotten, list(tmp_path.iterdir())) == ([], [])


def test_with_an_answer_the_stack_forgets(forgotten, capsys, tmp_path):
    """Backup and files are there; what goes on is told."""
    assert cli.main(["eject", "--out", "nomad", "--yes"]) == 0

    said = capsys.readouterr().err
    [backup] = tmp_path.glob("state-before-eject-*.json")
    assert forgotten == [DISK, COMPONENT, JOB]
    assert json.loads(backup.read_text())["deployment"]["resources"] == RESOURCES
    assert (tmp_path / "nomad/jobs/web.nomad.hcl").read_text() == 'job "j" {}\n'
    assert "The jobs still have the owner record of this stack" in said
