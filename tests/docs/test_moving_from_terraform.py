"""The commands of docs/howto/moving-from-terraform.md."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.migration import aws_storage
from tests.docs import page

PAGE = page.read("howto/moving-from-terraform.md")
CASES = Path(__file__).parents[1] / "cases"
RUN, NOT_RUN = (page.commands(PAGE, kind) for kind in ("sh", "sh no-run"))
VOLUME = {
    "id": "vol-0b756b75620d63af5",
    "arn": "arn:aws:ec2:us-east-1:123456789012:volume/vol-0b756b75620d63af5",
    "availability_zone": "us-east-1a",
    "size": 40,
    "type": "gp2",
    "iops": 120,
    "throughput": 0,
    "encrypted": False,
    "kms_key_id": "",
    "tags": {},
}
POLICY = {
    "id": "nomad-client:mount_ebs_volumes",
    "role": "nomad-client",
    "policy": (CASES / "tutorial-iam-policy.json").read_text(encoding="utf-8"),
}


def shown(kind, name, values):
    """Return a resource as ``terraform show -json`` writes it."""
    return {"address": f"{kind}.{name}", "mode": "managed", "type": kind, "name": name, "values": values}


@pytest.fixture
def folder(tmp_path, emulated):
    """The tutorial's files and state in the current folder, and an emulated agent."""
    found = [
        shown("aws_ebs_volume", "mysql", VOLUME),
        shown("aws_iam_role_policy", "mount_ebs_volumes", POLICY),
        shown("aws_instance", "client", {"id": "i-1"}),
    ]
    document = {"format_version": "1.0", "terraform_version": "1.11.4", "values": {"root_module": {"resources": found}}}
    (tmp_path / "state.json").write_text(json.dumps(document))
    (tmp_path / "main.tf").write_text('resource "aws_ebs_volume" "mysql" {\n  size = 40\n}\n')
    for name in ("controller", "nodes"):
        text = (CASES / f"tutorial-ebs-{name}.nomad.hcl").read_text(encoding="utf-8")
        (tmp_path / f"plugin-ebs-{name}.nomad.hcl").write_text(text)
    (tmp_path / "volume.hcl").write_text((CASES / "tutorial-volume.hcl").read_text(encoding="utf-8"))
    emulated()
    return tmp_path


def test_commands_run_as_written(folder, capsys):
    """The spec has all that the page shows; the jobs do not run in this cluster, so that the plan is not empty."""
    codes, notes = [], ""
    for line in RUN:
        words, _, target = line.partition(" > ")
        codes.append(cli.main(shlex.split(words)[1:]))
        printed = capsys.readouterr()
        if target:
            (folder / target).write_text(printed.out)
            notes = printed.err
    [shown_spec] = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    made = yaml.safe_load((folder / "storage.yaml").read_text())

    assert [line.split()[1] for line in RUN] == ["import", "plan", "claims"]
    assert codes == [0, 1, 0], printed.err
    for kind in ("plugins", "volumes"):
        [expected], [found] = shown_spec[kind], made[kind]
        assert {name: found.get(name) for name in expected} == expected
    assert "existing" not in made["volumes"][0]
    assert "terraform state rm 'aws_ebs_volume.mysql'" in notes


@pytest.mark.usefixtures("folder")
def test_terraform_source_is_named_with_the_next_step(capsys):
    """Nothing is guessed from it."""
    assert cli.main(["import", "main.tf"]) == 2

    assert capsys.readouterr().err == (
        "error: main.tf is Terraform source, which is not evaluated here: run `terraform show -json > state.json` in "
        "its folder, and pass state.json\n"
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("line", [line for line in NOT_RUN if line.startswith("nomad-csi")])
def test_command_that_needs_pulumi_is_typed_right(line, capsys, monkeypatch):
    """It reads the state, and without pulumi on PATH ends with that."""
    monkeypatch.setenv("PATH", "")

    assert cli.main(shlex.split(line)[1:]) == 2

    assert "pulumi is not on PATH" in capsys.readouterr().err


def test_every_resource_that_is_read_has_its_row():
    """And no other has one."""
    rows = re.findall(r"^\| (`aws_[^|]*)\|", PAGE, re.MULTILINE)

    assert {kind for row in rows for kind in re.findall(r"`(aws_[a-z_]+)`", row)} == set(aws_storage.TYPES)
