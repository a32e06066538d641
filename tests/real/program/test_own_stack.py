"""A stack of one's own: a program that imports the package, and one command so that Pulumi finds the plugin."""

import json
import re
import shutil
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "ebs-volume"
UNTOLD = re.compile(r"warning|error|Traceback", re.IGNORECASE)


@pytest.fixture
def own(stack, world, tmp_path):
    """The example as it stands, in a folder of its own, run from this environment as from an active one."""
    folder = tmp_path / "ebs-volume"
    shutil.copytree(EXAMPLE, folder)
    made = stack(folder, PATH=world.environment["PATH"])
    made.run("config", "set", "taskDriver", json.dumps(world.task_driver))
    return made


def test_nothing_but_the_command_is_needed(own):
    """Preview, up, up, preview and destroy of the example, and no warning in what they say."""
    said = own.command("plugin", "install")

    printed = [
        own.run("preview"),
        own.run("up", "--yes", "--skip-preview"),
        own.run("up", "--yes", "--skip-preview", "--expect-no-changes"),
        own.run("preview", "--expect-no-changes"),
    ]
    outputs = json.loads(own.run("stack", "output", "--json"))
    printed.append(own.run("destroy", "--yes", "--skip-preview"))

    assert said.endswith("into .gitignore\n")
    assert not [line for text in printed for line in text.splitlines() if UNTOLD.search(line)]
    assert outputs["registrationId"] == "default/mysql"
    assert outputs["externalId"].startswith("vol-")
    assert "9 created" in printed[1], printed[1]
    assert "9 deleted" in printed[4], printed[4]


def test_without_the_command_pulumi_warns_of_the_plugin_on_path(own):
    """Why there is the command: the plugin of the active environment works, with a warning in every operation."""
    text = own.run("preview")

    assert "warning: using pulumi-resource-nomad-csi from $PATH at" in text
