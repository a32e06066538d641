"""The page on verdicts: its command runs, its words and keys are the code's."""

import re
import shlex
import typing
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.plan import storage
from nomad_csi.verify import states

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "verify.md").read_text()


def test_every_verdict_is_explained():
    """Each word of an instance has its row, and no row has another word."""
    rows = re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)

    assert sorted(rows) == sorted(typing.get_args(states.State))


def test_every_finding_about_instances_leads_to_a_verdict():
    """No code without a word, no gravity without a code."""
    assert set(states.OF_CODE.values()) == set(states.GRAVITY)
    assert set(states.GRAVITY) == set(typing.get_args(states.State)) - {"healthy"}


def test_policy_of_the_page_can_be_planned():
    """The example is a spec."""
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)

    [plugin] = storage.plan_document(yaml.safe_load(example)).plugins

    assert (plugin.expectation.min_healthy_percent, plugin.expectation.min_healthy_per_zone) == (99, 2)


def test_command_of_the_page_runs(monkeypatch, capsys):
    """As far as without a cluster: everything was read, and nobody listens."""
    [command] = re.findall(r"```sh\nnomad-csi (.*?)\n```", PAGE, re.DOTALL)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NOMAD_ADDR", "http://127.0.0.1:9")

    assert cli.main(shlex.split(command)) == 2

    assert "no connection: Connection refused" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--stable-s", "--json", "--probe-timeout-s"])
def test_options_of_the_page_exist(option, capsys):
    """What the page names, the command has."""
    with pytest.raises(SystemExit):
        cli.main(["verify", "--help"])

    assert option in PAGE
    assert option in capsys.readouterr().out
