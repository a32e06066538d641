"""The example with a network, a key and two kinds of storage, on the real engine."""

import functools
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e import shop
from tests.real.program import test_sdks
from tests.real.program.test_yaml_program import camel

EXAMPLE = Path(__file__).parents[3] / "examples" / "own-stack"
TAGS = "import pulumi\n\npulumi.export('tags', {'team': 'shop', 'cost': '7'})\n"


@pytest.fixture
def example(stack, world, tmp_path):
    """Return a function that makes an example ready to run, with the tags of a stack of another project."""
    return functools.partial(prepare, stack, world, tmp_path)


def prepare(stack, world, tmp_path, source, spelled=dict, **environment):
    """Make a stack of the example in *source*, whose arguments are *spelled* in the way of its language."""
    folder, other = tmp_path / "own-stack", tmp_path / "tags"
    shutil.copytree(source, folder)
    other.mkdir()
    (other / "Pulumi.yaml").write_text("name: tags\nruntime: python\n")
    (other / "__main__.py").write_text(TAGS)
    tagging = stack(other, PATH=world.environment["PATH"])
    tagging.run("up", "--yes", "--skip-preview")
    backend = tagging.environment["PULUMI_BACKEND_URL"]
    made = stack(folder, **{"PATH": world.environment["PATH"], "PULUMI_BACKEND_URL": backend} | environment)
    drivers = {
        name: spelled({**world.task_driver, "arguments": ["--driver", f"aws-{name}"]}) for name in ("ebs", "efs")
    }
    made.run("config", "set", "tagsFrom", "organization/tags/dev")
    made.run("config", "set", "taskDrivers", json.dumps(drivers))
    made.command("plugin", "install")
    return made


def test_example_in_typescript_stands_up_and_goes(example, world):
    """It compiles against the generated SDK, and its job mounts the volumes, whose blocks are typed outputs."""
    [typescript] = [one for one in test_sdks.LANGUAGES if one.folder == "typescript"]
    if typescript.absent:
        pytest.skip(f"not on PATH: {', '.join(typescript.absent)}")
    own = example(EXAMPLE.with_name("own-stack-typescript"), camel, **test_sdks.tools("npm"))
    own.run("package", "add", test_sdks.PLUGIN)
    checked = subprocess.run(
        typescript.check, cwd=own.folder, env=own.environment, capture_output=True, text=True, timeout=400, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr

    own.run("up", "--yes", "--skip-preview")
    outputs = json.loads(own.run("stack", "output", "--json"))
    with world.nomad() as client:
        listed = client.request("GET", "/v1/volumes", query={"type": "csi"}).data
        mounted = shop.mounted(client, json.loads(outputs["job"])["Job"])
    own.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    own.run("destroy", "--yes", "--skip-preview")

    assert mounted == ["orders", "stock", "uploads"]
    registered = {one["ID"]: one["ExternalID"] for one in listed}
    assert outputs["externalIds"] == [registered["orders"], registered["stock"]]
    assert sorted(outputs["mountTargets"]) == ["us-east-1a", "us-east-1b"]
    assert outputs["keyArn"].startswith("arn:aws:kms:us-east-1:")
