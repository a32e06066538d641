"""What `nomad-csi init` writes is a project that the real engine previews, in Python and in YAML."""

import json
import re
import shutil

import pytest

from nomad_csi.render import project

HOST = "pulumi-language-yaml"
NEEDS_YAML = pytest.mark.skipif(shutil.which(HOST) is None, reason=f"not on PATH: {HOST}")
ANSWERS = (
    *("--aws-region", "us-east-1", "--zone", "us-east-1a", "--zone", "us-east-1b"),
    *("--role-name", "nomad-client", "--client-cidr", "172.31.0.0/16"),
    *(word for name in project.STORAGES for word in ("--storage", name)),
)
UNTOLD = re.compile(r"warning|error|Traceback", re.IGNORECASE)


@pytest.mark.parametrize("form", ["python", pytest.param("yaml", marks=NEEDS_YAML)])
def test_every_storage_is_previewed(form, stack, world, tmp_path):
    """A plugin and a volume of each kind, after no other command than the one that init names; nothing is refused."""
    folder = tmp_path / "storage"
    folder.mkdir()
    own = stack(folder, PATH=world.environment["PATH"], init=False)
    own.command("init", "--pulumi", form, *ANSWERS)
    before = (folder / "Pulumi.yaml").read_text()
    if form == "python":
        config = (folder / "Pulumi.dev.yaml").read_text()

    own.command("plugin", "install")
    own.run("stack", "select", "--create", "dev")
    told = own.run("preview")
    steps = json.loads(own.run("preview", "--json"))["steps"]

    assert not [line for line in told.splitlines() if UNTOLD.search(line)], told
    kinds = [step["newState"]["type"] for step in steps]
    assert kinds.count("nomad-csi:index:CsiPlugin") == len(project.STORAGES)
    assert kinds.count("nomad-csi:index:CsiVolume") == len(project.EXAMPLES)
    assert {"aws:ebs/volume:Volume", "aws:efs/accessPoint:AccessPoint", "aws:iam/policy:Policy"} <= set(kinds)
    assert (folder / "Pulumi.yaml").read_text() == before
    if form == "python":
        assert [line for line in config.splitlines() if line not in (folder / "Pulumi.dev.yaml").read_text()] == []
