"""The commands of the pages on moving in and out work as written, as far as neither Pulumi nor Terraform is needed."""

import json
import re
import shlex

import pytest

from nomad_csi import cli
from nomad_csi.migration import model, terraform
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan import registration
from tests.docs import page

PAGE = page.read("howto/moving-in.md", "howto/take-over-jobs.md", "howto/move-out.md")
RUN, NOT_RUN = (page.commands(PAGE, kind) for kind in ("sh", "sh no-run"))
PLUGIN = """job "plugin" {
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "aws-efs0"
        type = "node"
      }
      config {
        command = "sleep"
        args    = ["60"]
      }
    }
  }
}
"""
EXTERNAL_ID = "fs-0123456789abcdef0"
MODE = {"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}
VOLUME = {
    "volume_id": "shared",
    "namespace": "default",
    "name": "shared",
    "plugin_id": "aws-efs0",
    "external_id": EXTERNAL_ID,
    "capability": [MODE],
}
STATE = {
    "version": 4,
    "terraform_version": "1.11.4",
    "resources": [
        {
            "mode": "managed",
            "type": "nomad_csi_volume_registration",
            "name": "shared",
            "instances": [{"attributes": VOLUME}],
        }
    ],
}


@pytest.fixture
def client(tmp_path, emulated):
    """An emulator agent with the volume, and the state in the current folder."""
    _, found = emulated()
    (tmp_path / "terraform.tfstate").write_text(json.dumps(STATE))
    document = registration.VolumeRegistration(
        volume_id="shared",
        name="shared",
        external_id=EXTERNAL_ID,
        plugin_id="aws-efs0",
        capabilities=(registration.Capability(**MODE),),
    )
    jobs.register(found, jobs.parse(found, PLUGIN), source=PLUGIN, enforce_index=None)
    volumes.register(found, document)
    return found


def test_commands_run_as_written(client, capsys, tmp_path):
    """
    One after the other; what goes to a file goes there.

    Both imports lack the region, which no file and no cluster says; the plan has the plugin's jobs as new.
    """
    codes = []
    for line in RUN:
        words, _, target = line.partition(" > ")
        codes.append(cli.main(shlex.split(words)[1:]))
        printed = capsys.readouterr()
        if target:
            told = "aws_region: us-east-1\n"
            text = printed.out.replace("  driver: aws-efs\n", f"  driver: aws-efs\n  {told}")
            (tmp_path / target).write_text(text)

    assert [line.split()[:2] for line in RUN] == [
        ["nomad-csi", "import"],
        ["nomad-csi", "import"],
        ["nomad-csi", "render"],
        ["nomad-csi", "plan"],
        ["nomad-csi", "apply"],
    ]
    assert codes == [1, 1, 0, 1, 0]
    assert printed.out == "0 of 1 would change\n1 volume: 1 unchanged\n"
    assert volumes.get(client, "default", "shared").external_id == EXTERNAL_ID


@pytest.mark.parametrize("line", [line for line in NOT_RUN if line.startswith("nomad-csi")])
def test_commands_that_need_pulumi_are_typed_right(line, capsys, monkeypatch):
    """Each is understood; without pulumi on PATH it ends with that."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("NOMAD_ADDR", "http://127.0.0.1:9")

    assert cli.main(shlex.split(line)[1:]) == 2

    said = capsys.readouterr().err
    assert "error: pulumi: No such file or directory" in said or line == "nomad-csi apply nomad/ --adopt"


def test_the_table_says_what_the_import_says():
    """Every type that is read has its row, with the word on data where it counts."""
    rows = re.findall(r"^\| (`nomad_[^|]*)\|([^|]*)\|([^|]*)\|$", PAGE, re.MULTILINE)
    told = {kind: destroyed for kinds, _, destroyed in rows for kind in re.findall(r"`(nomad_[a-z_]+)`", kinds)}
    remarks = model.Remarks()
    every = [
        {"mode": "managed", "type": kind, "name": "x", "instances": [{"attributes": VOLUME}]}
        for kind in told
        if kind != "nomad_job"
    ]

    terraform.read(json.dumps(STATE | {"resources": every}), "s", remarks)

    said = {remark.file.removesuffix(".x"): remark.text for remark in remarks.entries}
    assert set(said) == set(told) - {"nomad_job"}
    assert {kind for kind, text in said.items() if "data" in text} == {
        kind for kind, text in told.items() if "data" in text
    }
