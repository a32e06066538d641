"""The pages on verification and monitoring: their words and keys are the code's."""

import json
import re
import shutil
import subprocess
import typing
from pathlib import Path

import pytest
import yaml

from nomad_csi import findings
from nomad_csi.diagnosis import prometheus, verification_report
from nomad_csi.health import instances, observed_plugin, plugins, states
from nomad_csi.plan import storage

ROOT = Path(__file__).parents[2]
PAGES = ("explain/how-verification-works.md", "howto/probe-on-clients.md", "howto/monitoring.md")
PAGE = "\n".join((ROOT / "docs" / name).read_text() for name in PAGES)
MONITORING = ROOT / "examples/monitoring"
ASKED = observed_plugin.Probed(reached=True, status="ready")
FINDING = findings.finding("volume-missing", "volume n/v", expected="x", found="y")


def test_every_status_is_explained():
    """Each word of an instance has its row, and no row has another word."""
    rows = re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)

    assert sorted(rows) == sorted(typing.get_args(states.State))


def test_every_finding_about_instances_leads_to_a_status():
    """No code without an explanation, no gravity without a code."""
    assert set(states.OF_CODE.values()) == set(typing.get_args(states.State)) - {"healthy"}


def test_specs_of_the_page_can_be_planned():
    """The examples are specs."""
    [example, asked] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)

    [by_job] = storage.plan_document(yaml.safe_load(asked)).plugins
    [plugin] = storage.plan_document(yaml.safe_load(example)).plugins

    assert (plugin.expectation.min_healthy_percent, plugin.expectation.min_healthy_per_zone) == (99, 2)
    assert by_job.expectation.on_nodes.command == "/opt/nomad-csi/bin/nomad-csi"


def test_metrics_of_the_page_are_those_of_the_code():
    """Each has its row with its labels, and no row has another name; so the alerts ask for what there is."""
    held = verification_report.VolumeStatus(
        namespace="n", volume_id="v", plugin_id="p", external_id="", findings=(FINDING,)
    )
    row = instances.InstanceRow(plugin_id="p", role="node", node_id="1", node_name="a", evidence="-", csi=ASKED)
    plugin = plugins.PluginStatus(
        plugin_id="p",
        provider="",
        version="",
        instances=(row,),
        healthy_controllers=1,
        expected_controllers=1,
        healthy_nodes=1,
        expected_nodes=1,
        findings=(),
    )
    reported = verification_report.VerificationReport(plugins=(plugin,), volumes=(held,), findings=(FINDING,))
    text = prometheus.text(reported, seconds=1, last_answer_s=1)
    written = {
        name: re.findall(r'(\w+)="', labels)
        for name, labels in re.findall(r"^(nomad_csi_\w+)(\{.*\})? ", text, re.MULTILINE)
    }

    rows = re.findall(r"^\| `(nomad_csi_\w+)` \| (.*?) ?\|", PAGE, re.MULTILINE)

    assert {name: re.findall(r"`(\w+)`", labels) for name, labels in rows} == written


def test_alerts_are_rules():
    """Each has what Prometheus wants of one, asks for metrics and labels that there are, and is on the page."""
    metrics = {
        name: set(re.findall(r"`(\w+)`", labels))
        for name, labels in re.findall(r"^\| `(nomad_csi_\w+)` \| (.*?) ?\|", PAGE, re.MULTILINE)
    }

    [group] = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]

    assert set(group) == {"name", "rules"}
    for rule in group["rules"]:
        assert set(rule) - {"for"} == {"alert", "expr", "labels", "annotations"}
        assert re.fullmatch(r"\d+m", rule.get("for", "1m"))
        asked = set(re.findall(r"nomad_csi_\w+", rule["expr"]))
        used = set(re.findall(r"\{\{ \$labels\.(\w+) \}\}", rule["annotations"]["summary"]))
        assert asked
        assert all(used <= metrics[name] for name in asked)
        assert f"`{rule['alert']}`" in PAGE


def test_dashboard_shows_metrics_and_labels_that_there_are():
    """Every metric has a panel, no panel lies over another, and each asks the data source that is chosen."""
    metrics = dict(re.findall(r"^\| `(nomad_csi_\w+)` \| (.*?) ?\|", PAGE, re.MULTILINE))
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    targets = [target for panel in dashboard["panels"] for target in panel["targets"]]
    cells = [
        (x, y)
        for at in (panel["gridPos"] for panel in dashboard["panels"])
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]

    asked = {name for target in targets for name in re.findall(r"nomad_csi_\w+", target["expr"])}
    assert set(metrics) - asked == {"nomad_csi_verify_answered", "nomad_csi_plugin_ok", "nomad_csi_plugin_status"}
    assert asked <= set(metrics)
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23
    assert {target["datasource"]["uid"] for target in targets} == {"${datasource}"}
    for target in targets:
        labels = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        assert all(f"`{label}`" in " ".join(metrics.values()) for label in labels)


@pytest.mark.skipif(not shutil.which("promtool"), reason="not on PATH: promtool")
def test_promtool_accepts_the_configuration_and_the_rules():
    """Prometheus' own check."""
    done = subprocess.run(
        ["promtool", "check", "config", "prometheus.yml"], cwd=MONITORING, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 rules found" in done.stdout
