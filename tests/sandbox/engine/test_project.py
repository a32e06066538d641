"""Project and stack files, and what the command line adds."""

import json

import pytest

from nomad_csi import errors
from nomad_csi_sandbox.engine import project


@pytest.fixture
def write(tmp_path):
    def write(project_file, stack_file=None):
        (tmp_path / "Pulumi.yaml").write_text(json.dumps(project_file), encoding="utf-8")
        if stack_file is not None:
            (tmp_path / "Pulumi.dev.yaml").write_text(json.dumps(stack_file), encoding="utf-8")
        return tmp_path

    return write


def test_config_comes_from_three_places_and_the_last_one_wins(write):
    """Defaults of the project, the stack file, the command line; keys get the project's name."""
    declared = {"aws:region": "us-east-1", "size": {"type": "integer", "default": 1}, "none": {"type": "string"}}
    root = write({"name": "p", "config": declared}, {"config": {"p:size": 2, "p:on": True}})

    found = project.read(root, "dev", {"size": "3", "aws:profile": "x"})

    assert found.config == {"aws:region": "us-east-1", "p:size": "3", "p:on": "true", "aws:profile": "x"}


@pytest.mark.parametrize("value", [{"secure": "v1:abc"}, {"a": [{"secure": "v1:abc"}]}])
def test_encrypted_config_is_refused_with_the_way_out(write, value):
    """There is no key to open it with."""
    root = write({"name": "p"}, {"config": {"p:token": value}})

    with pytest.raises(errors.SpecError, match=r"config\.p:token: expected plain text .*--config p:token=VALUE"):
        project.read(root, "dev", {})
