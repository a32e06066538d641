"""Where a stack's config says which Nomad is meant, the commands that read it ask that one."""

import json
import re
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.cli.common import command, inputs
from tests.cli import conftest

NOBODY = "http://127.0.0.1:9"
COMMANDS = [["verify"], ["plan"], ["apply", "--owner", "shop/prod"], ["doctor", "--no-aws"], ["verify"]]


@pytest.fixture
def stack(tmp_path):
    """Write a stack's config: ``stack("prod", address="...")``; return its path."""

    def write(name="prod", **settings):
        path = tmp_path / f"Pulumi.{name}.yaml"
        config = {f"nomad-csi:{key}": value for key, value in settings.items()}
        path.write_text(yaml.safe_dump({"config": {**config, "nomad-csi:storage": conftest.SPEC}}))
        return str(path)

    return write


@pytest.mark.parametrize("words", COMMANDS, ids=[words[0] for words in COMMANDS])
def test_address_of_the_config_goes_before_the_environment(stack, empty_agent, monkeypatch, capsys, words):
    """Whichever the command is."""
    address = empty_agent()
    monkeypatch.setenv("NOMAD_ADDR", NOBODY)
    path = stack(address=address)

    assert cli.main([*words, path, "--json"]) in {1, 2}

    out, err = capsys.readouterr()
    assert "no connection" not in err
    assert json.loads(out)


@pytest.mark.parametrize("prefix", ["shop:", "", "nomad-csi:"])
def test_spec_and_settings_of_the_project_go_before_ours(tmp_path, monkeypatch, capsys, prefix):
    """As `pulumi up` reads them: below the project's name, also where that is left out; else below ours."""
    monkeypatch.setenv("NOMAD_ADDR", NOBODY)
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    path = tmp_path / "stacks" / "Pulumi.prod.yaml"
    path.parent.mkdir()
    other = {"nomad-csi:address": "http://127.0.0.1:2", "other:storage": {"plugins": 1}}
    config = other | {f"{prefix}storage": conftest.SPEC, f"{prefix}address": "http://127.0.0.1:1"}
    path.write_text(yaml.safe_dump({"config": config}))

    assert cli.main(["check", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: valid, 1 plugin, 1 volume\n"
    assert cli.main(["plan", str(path)]) == 2
    assert "http://127.0.0.1:1: no connection" in capsys.readouterr().err


def test_region_and_namespace_are_those_of_the_config(stack, monkeypatch):
    """Apart from what an option names."""
    monkeypatch.setenv("NOMAD_REGION", "eu")
    path = stack(address=NOBODY, region="us", namespace="prod")

    with inputs.connect(command.Arguments(namespace="test"), [Path(path)]) as client:
        found = client.connection

    assert (found.address, found.region, found.namespace) == (NOBODY, "us", "test")


@pytest.mark.parametrize(("setting", "option"), [("address", "--address"), ("insecureHttp", "--insecure-http")])
def test_rejects_a_setting_that_is_encrypted(stack, capsys, setting, option):
    """Before NOMAD_ADDR is asked in its place; the option helps."""
    assert cli.main(["verify", stack(**{setting: {"secure": "v1:abc"}})]) == 2

    problem = f"config.nomad-csi:{setting}: expected text, in clear, got an encrypted value; name it: {option}"
    assert problem in capsys.readouterr().err
    words = [option, *([NOBODY] if setting == "address" else [])]
    assert cli.main(["verify", stack(**{setting: {"secure": "v1:abc"}}), *words]) == 2
    assert "no connection" in capsys.readouterr().err


def test_rejects_two_configs_that_name_two_clusters(stack, capsys):
    """One command asks one cluster."""
    first, second = stack("a", address="http://127.0.0.1:1"), stack("b", address=NOBODY)

    assert cli.main(["apply", first, second, "--owner", "shop/prod"]) == 64

    assert "SPEC: stack configs of several clusters; name one, or pass --address" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "words", "expected"),
    [
        ({"address": "https://10.0.0.1:4646"}, [], "https://10.0.0.1:4646"),
        ({"address": "https://10.0.0.1:4646"}, ["--address", "https://10.0.0.2:4646"], "https://10.0.0.2:4646"),
        ({"address": ""}, [], "unix://${NOMAD_SECRETS_DIR}/api.sock"),
    ],
)
def test_job_that_verifies_asks_the_nomad_of_the_config(stack, monkeypatch, capsys, settings, words, expected):
    """NOMAD_ADDR is where a person reaches it; the job's own agent is nearer, unless the config names one."""
    monkeypatch.setenv("NOMAD_ADDR", NOBODY)

    assert cli.main(["verify", "job", stack(**settings), *words]) == 0

    assert re.findall(r"NOMAD_ADDR\s*= \"(.*)\"", capsys.readouterr().out) == [expected]
