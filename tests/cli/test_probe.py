"""``nomad-csi probe``: one line or JSON, and an exit code that says whether the plugin is ready."""

import json

import pytest

from nomad_csi import cli


@pytest.mark.usefixtures("plugin")
def test_probe_prints_one_line_of_a_ready_plugin(short_folder, capsys):
    """Endpoint, verdict, name and version are what a person looks for."""
    assert cli.main(["probe", f"unix://{short_folder}/csi.sock"]) == 0

    out = capsys.readouterr().out
    assert out.startswith(f"unix://{short_folder}/csi.sock ready efs.csi.aws.com v3.4.1 (")
    assert out.endswith(": every question was answered as expected\n")


@pytest.mark.usefixtures("plugin")
def test_probe_prints_every_answer_as_json(short_folder, capsys):
    """Keys are kept once released."""
    assert cli.main(["probe", f"{short_folder}/csi.sock", "--role", "node", "--json"]) == 0

    data = json.loads(capsys.readouterr().out)
    assert data.keys() == {
        "endpoint", "ready", "verdict", "detail", "latency_ms", "name", "vendor_version", "plugin_capabilities",
        "controller_capabilities", "node_capabilities", "node_id", "segments", "max_volumes",
    }  # fmt: skip
    assert (data["verdict"], data["ready"], data["node_id"]) == ("ready", True, "i-0123456789abcdef0")


@pytest.mark.parametrize(
    ("faults", "verdict", "detail"),
    [
        ({"probe": "not-ready"}, "not-ready", "the plugin says that it is still starting"),
        ({"probe": "error"}, "error", "FAILED_PRECONDITION"),
        ({"probe": "hang"}, "silent", "DEADLINE_EXCEEDED: no answer within"),
        ({"name": "other.csi.example.com"}, "wrong-name", "name: expected efs.csi.aws.com, got other.csi.example.com"),
    ],
)
def test_probe_exits_1_and_says_what_is_wrong(plugin, short_folder, capsys, faults, verdict, detail):
    """Not ready, refusing, hanging, or another driver than was meant."""
    plugin(**faults)
    words = ["probe", f"{short_folder}/csi.sock", "--timeout-s", "1", "--expect-name", "efs.csi.aws.com"]

    assert cli.main(words) == 1
    line = capsys.readouterr().out
    assert cli.main([*words, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)

    assert f" {verdict} " in line
    assert detail in line
    assert data["verdict"] == verdict


def test_probe_exits_1_where_no_socket_is(short_folder, capsys):
    """The plugin may not run here; that is an answer."""
    assert cli.main(["probe", f"{short_folder}/csi.sock"]) == 1

    assert capsys.readouterr().out.startswith(f"{short_folder}/csi.sock missing (0 ms): no such socket; ")


def test_probe_exits_2_for_an_endpoint_that_is_none(capsys):
    """What cannot be asked gives no answer."""
    assert cli.main(["probe", "csi.sock"]) == 2

    expected = "error: csi.sock: expected unix:///run/csi.sock, /run/csi.sock or HOST:PORT, got 'csi.sock'\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon"])
def test_a_deadline_that_is_none_is_wrong_usage(text, capsys):
    """Nothing is asked without a deadline."""
    with pytest.raises(SystemExit) as caught:
        cli.main(["probe", "/x.sock", f"--timeout-s={text}"])

    assert caught.value.code == 64
    assert f"expected a number of seconds above 0, got '{text}'" in capsys.readouterr().err
