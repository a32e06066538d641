"""``nomad-csi csi probe``: one line or JSON, and an exit code that says whether the plugin is ready."""

import json
import re

import pytest

from nomad_csi import cli
from nomad_csi.csi import probe
from nomad_csi.health import probe_deep
from tests import plugin_samples


@pytest.mark.usefixtures("plugin")
def test_probe_prints_one_line_of_a_ready_plugin(short_folder, capsys):
    """Endpoint, status, name and version are what a person looks for."""
    assert cli.main(["csi", "probe", f"unix://{short_folder}/csi.sock"]) == 0

    out = capsys.readouterr().out
    assert out.startswith(f"unix://{short_folder}/csi.sock ready efs.csi.aws.com v3.4.1 (")
    assert out.endswith(": every question was answered as expected\n")


@pytest.mark.parametrize(
    ("faults", "status", "detail"),
    [
        ({"probe": "not-ready"}, "not-ready", "the plugin reports that it is still starting"),
        ({"probe": "error"}, "error", "FAILED_PRECONDITION"),
        ({"probe": "hang"}, "silent", "DEADLINE_EXCEEDED: no answer within"),
        ({"name": "other.csi.example.com"}, "wrong-name", "name: expected efs.csi.aws.com, got other.csi.example.com"),
    ],
)
def test_probe_exits_1_and_says_what_is_wrong(plugin, short_folder, capsys, faults, status, detail):
    """Not ready, refusing, hanging, or another driver than was meant."""
    plugin(**faults)
    timeout = "200ms" if status == "silent" else "60s"
    words = ["csi", "probe", f"{short_folder}/csi.sock", "--probe-timeout", timeout, "--expect-name", "efs.csi.aws.com"]

    assert cli.main(words) == 1
    line = capsys.readouterr().out
    assert cli.main([*words, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)

    assert f" {status} " in line
    assert detail in line
    assert data["status"] == status


def test_probe_asks_every_plugin_of_a_machine(short_folder, capsys, request):
    """A folder per allocation, as a client keeps them; one line each, or JSON."""
    request.getfixturevalue("plugin")
    (short_folder / "plugins" / "alloc-a").mkdir(parents=True)
    (short_folder / "plugins" / "alloc-b").mkdir()
    (short_folder / "plugins" / "alloc-a" / "csi.sock").symlink_to(short_folder / "csi.sock")

    assert cli.main(["csi", "probe", "--folder", f"{short_folder}/plugins"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert cli.main(["csi", "probe", "--folder", f"{short_folder}/plugins", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)

    assert "/alloc-a/csi.sock ready efs.csi.aws.com v3.4.1" in first
    assert re.search(r"/alloc-b/csi\.sock missing \(\d+ ms\): no such socket", second)
    assert {alloc_id: item["status"] for alloc_id, item in data["reports"].items()} == {
        "alloc-a": "ready",
        "alloc-b": "missing",
    }


def test_probe_of_a_folder_that_is_not_there_exits_2(capsys, tmp_path):
    """Nothing is known then."""
    assert cli.main(["csi", "probe", "--folder", str(tmp_path / "gone"), "--json"]) == 2

    found = json.loads(capsys.readouterr().out)
    assert found["problem"] == f"No such file or directory: {probe.FOLDER}"


def test_probe_on_nodes_exits_2_for_a_plugin_that_the_cluster_lacks(empty_agent, capsys):
    """The cluster is named, and what it has."""
    address = empty_agent()

    assert cli.main(["csi", "probe", "--on-nodes", "ghost", "--address", address]) == 2

    err = capsys.readouterr().err
    assert err == (
        f"error: {address}: 1 problem\n  plugin: expected a CSI plugin of the cluster (it has none), got 'ghost'\n"
    )


def test_probe_of_another_plugins_socket_says_so(empty_agent, short_folder, capsys, request, monkeypatch):
    """By the driver's name that Nomad has for the plugin; its volumes are not compared with the other plugin."""
    request.getfixturevalue("plugin")
    monkeypatch.setattr(probe_deep, "plugin_of", lambda *_given: plugin_samples.make_plugin())
    words = ["csi", "probe", f"{short_folder}/csi.sock", "--volumes-of", "aws-ebs0", "--address", empty_agent()]

    assert cli.main(words) == 1

    [_answer, finding] = capsys.readouterr().out.splitlines()
    assert finding.startswith("error: ")
    assert "provider-differs" in finding
