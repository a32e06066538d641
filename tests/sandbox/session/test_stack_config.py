"""The stack config that the engines of a sandbox read."""

import copy

import pytest
import yaml

from nomad_csi_sandbox.session import folder, stack_config

TEXT = """\
# a comment
config:
  aws:region: us-east-1
  nomad-csi:storage:
    plugins:
      - {id: ebs, driver: aws-ebs, aws_region: us-east-1, controller: {count: 3}}
      - {id: second, driver: aws-ebs, aws_region: us-east-1}
      - {id: one, driver: aws-ebs, aws_region: us-east-1, controller: {count: 1}}
      - {id: efs, driver: aws-efs, aws_region: us-east-1}
"""


@pytest.fixture
def paths(tmp_path):
    """The folder of a sandbox whose project has the config."""
    (tmp_path / "Pulumi.sandbox.yaml").write_text(TEXT)
    made = folder.Folder(tmp_path)
    made.make()
    return made


def test_more_controllers_than_clients_are_lowered_and_named():
    """Written or by default; a driver without controllers, and a count that fits, stay as they are."""
    document = yaml.safe_load(TEXT)

    fitting, lowered = stack_config.fit(document, 1, "/d")

    assert [str(each) for each in lowered] == [
        "controllers of ebs: 1 instead of 3, as the agent has one client",
        "controllers of second: 1 instead of 2, as the agent has one client",
    ]
    plugins = fitting["config"]["nomad-csi:storage"]["plugins"]
    assert [plugin.get("controller") for plugin in plugins] == [{"count": 1}, {"count": 1}, {"count": 1}, None]
    assert document == yaml.safe_load(TEXT)


def test_task_drivers_without_a_data_directory_get_that_of_the_sandbox():
    """Those that need one, wherever they stand; one that is written stays, and so does the given document."""
    raw = {"name": "raw_exec", "command": "x"}
    own = raw | {"client_data_dir": "/own"}
    plugins = [
        {"task_driver": raw},
        {"task_driver": own, "controller": {"task_driver": raw}},
        {"node": {"task_driver": {"name": "docker"}}},
    ]
    document = {"config": {"nomad-csi:storage": {"plugins": plugins}}}
    before = copy.deepcopy(document)

    fitting, _ = stack_config.fit(document, None, "/d")

    filled = raw | {"client_data_dir": "/d"}
    assert fitting["config"]["nomad-csi:storage"]["plugins"] == [
        {"task_driver": filled},
        {"task_driver": own, "controller": {"task_driver": filled}},
        {"node": {"task_driver": {"name": "docker"}}},
    ]
    assert document == before


def test_salt_of_the_engine_is_kept(paths):
    """What Pulumi writes about its secrets stays when the project's config changes; the project's file gets none."""
    stack_config.write(paths, 1, "/d")
    with paths.engine_config.open("a") as file:
        file.write("encryptionsalt: v1:salt\n")
    paths.config.write_text(TEXT.replace("us-east-1", "eu-west-1"))

    stack_config.write(paths, 1, "/d")

    written = yaml.safe_load(paths.engine_config.read_text())
    assert (written["encryptionsalt"], written["config"]["aws:region"]) == ("v1:salt", "eu-west-1")
    assert "salt" not in paths.config.read_text()


def test_salt_of_the_project_goes_before_that_of_the_engine(paths):
    """A value that was encrypted in the project's config can be read only with the salt there."""
    stack_config.write(paths, None, "/d")
    with paths.engine_config.open("a") as file:
        file.write("encryptionsalt: v1:old\n")
    paths.config.write_text(TEXT + "encryptionsalt: v1:own\n")

    stack_config.write(paths, None, "/d")

    assert yaml.safe_load(paths.engine_config.read_text())["encryptionsalt"] == "v1:own"
