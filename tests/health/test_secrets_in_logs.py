"""A secret that a plugin writes into its log is in nothing that explains why the plugin is not well."""

import dataclasses

import pytest
import yaml

from nomad_csi import cli, errors
from nomad_csi.health import plugin_health_wait
from tests import live

SECRET = "hunter2-and-more"
LOG = f'mount failed: -o user=me,pass={SECRET},uid=0; config {{"password": "{SECRET}"}}; https://me:{SECRET}@nas/x'
CLEAN = 'mount failed: -o user=me,pass=[secret],uid=0; config {"password": [secret]}; https://me:[secret]@nas/x'


@pytest.fixture(scope="module")
def plugin():
    """A plugin that writes its secrets and ends, again and again."""
    with live.started() as made:
        script = made.data_dir / "leaky.sh"
        script.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{LOG}\nEND\nexit 1\n")
        script.chmod(0o755)
        leaky = made.run("leaky", command=str(script), arguments=[])
        leaky.until("flapping")
        yield leaky


@pytest.fixture
def spec(plugin, tmp_path):
    """A spec with that plugin."""
    task = {"name": "raw_exec", "command": "x", "client_data_dir": str(plugin.live.data_dir)}
    path = tmp_path / "storage.yaml"
    wanted = {"id": "leaky", "driver": "aws-efs", "aws_region": "us-east-1", "task_driver": task}
    path.write_text(yaml.safe_dump({"plugins": [wanted]}))
    return path


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_verify_shows_the_log_without_it(plugin, spec, capsys, words):
    """As text and as JSON, the line is there, and the values are not."""
    code = cli.main(["verify", str(spec), "--address", plugin.live.server.url, *words])

    said = "".join(capsys.readouterr())
    assert code == 1
    assert (CLEAN.replace('"', '\\"') if words else CLEAN) in " ".join(said.split())
    assert SECRET not in said


def test_error_of_the_gate_shows_the_log_without_it(context, plugin):
    """What `PluginHealth` raises is kept in the engine's own logs."""
    wanted = dataclasses.replace(plugin.expectation(), timeout_s=0.1)

    with pytest.raises(errors.NomadCsiError) as caught:
        plugin_health_wait.wait(
            dataclasses.replace(context, connect=lambda: plugin.live.client), wanted, (plugin.job_id,)
        )

    assert CLEAN in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("words", [["--json"], []])
def test_report_does_not_have_it(plugin, spec, tmp_path, capsys, words):
    """Neither as JSON nor on the page, which tell of the plugin."""
    page = tmp_path / "report.html"

    cli.main(["verify", str(spec), "--address", plugin.live.server.url, "--html", str(page), *words])

    said = "".join(capsys.readouterr()) + page.read_text()
    assert "leaky" in said
    assert SECRET not in said
