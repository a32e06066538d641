"""``nomad-csi verify --watch``: lines, metrics in a file, and a clean end."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nomad_csi import cli
from nomad_csi.diagnosis import prometheus
from nomad_csi_sandbox.nomad import cluster
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes

PROGRAM = [sys.executable, "-m", "nomad_csi", "verify"]
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
NOBODY = "http://127.0.0.1:9"
WAIT_S = 120.0


@pytest.fixture
def started(spec):
    """Start a watch: ``started("--json")``; it is killed after the test."""
    running = []

    def start(*words, address=NOBODY, **more):
        command = [*PROGRAM, spec, "--watch", "--every", "0.1s", "--address", address, *words]
        running.append(subprocess.Popen(command, text=True, **({"stdout": subprocess.PIPE} | more)))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def test_each_round_is_a_line_of_json(started, empty_agent):
    """Ended by Ctrl-C, with the last round's exit code."""
    watch = started("--json", address=empty_agent())

    lines = [json.loads(watch.stdout.readline()) for _ in range(2)]
    watch.send_signal(signal.SIGINT)

    assert watch.wait(WAIT_S) == 1
    assert [(line["round"], line["answered"], line["ok"], line["changes"]) for line in lines] == [
        (1, True, False, []),
        (2, True, False, []),
    ]
    assert re.fullmatch(TIME, lines[0]["at"])
    assert [volume["status"] for volume in lines[0]["volumes"]] == ["missing"]


def test_unreachable_nomad_is_told_and_asked_again(started, tmp_path):
    """Nothing is known: no `ok`, no metrics of plugins, exit code 2; SIGTERM ends it too."""
    file = tmp_path / "nomad_csi.prom"
    watch = started("--json", "--prometheus", str(file))

    lines = [json.loads(watch.stdout.readline()) for _ in range(2)]
    watch.send_signal(signal.SIGTERM)

    assert watch.wait(WAIT_S) == 2
    assert [(line["answered"], line["ok"], line["last_answer"]) for line in lines] == [(False, None, "")] * 2
    assert "no connection: Connection refused" in lines[0]["error"]
    assert "nomad_csi_verify_answered 0\n" in file.read_text()
    assert "nomad_csi_plugin" not in file.read_text()


def test_lines_tell_what_changed_with_its_time(started, short_folder):
    """The whole report once; then what is another answer: nothing is known any more when Nomad is gone."""
    specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
    serving = agent.Server(cluster.Cluster(cluster.Settings(data_dir=short_folder, nodes=specs)))
    try:
        watch = started(address=serving.url)
        said = []
        while not said or "  not as specified: " not in said[-1]:
            said.append(watch.stdout.readline())
            assert said[-1]
    finally:
        serving.close()
    gone = watch.stdout.readline()
    watch.send_signal(signal.SIGINT)

    assert watch.wait(WAIT_S) == 2
    assert "default/shared  missing  aws-efs0  fs-0123456789abcdef0  -\n" in said
    assert re.fullmatch(rf"{TIME}  not as specified: \d+ errors.*\n", said[-1])
    assert re.match(rf"{TIME}  not known, Nomad gave no answer \(its last answer came {TIME}\): GET /v1/", gone)


def test_wrong_token_ends_the_watch(started, empty_agent):
    """No waiting heals it."""
    environment = os.environ | {"NOMAD_TOKEN": "wrong"}
    watch = started(address=empty_agent(token="right"), stderr=subprocess.PIPE, env=environment)

    out, err = watch.communicate(timeout=WAIT_S)

    assert (watch.returncode, out) == (2, "")
    assert "status 403: Permission denied; the token needs " in err
    assert "; or it is expired, deleted or of another cluster" in err
    watch.stderr.close()


def test_metrics_go_to_a_file_beside_the_report(spec, empty_agent, tmp_path, capsys):
    """Where Nomad does not answer afterwards, the last answer stays, and no status does."""
    file = tmp_path / "nomad_csi.prom"
    words = ["verify", spec, "--prometheus", str(file)]

    assert cli.main([*words, "--address", empty_agent()]) == 1
    known = file.read_text()
    assert cli.main([*words, "--address", NOBODY]) == 2
    unknown = file.read_text()

    assert "default/shared  missing" in capsys.readouterr().out
    assert 'nomad_csi_volume_ok{namespace="default",volume_id="shared",plugin_id="aws-efs0"} 0\n' in known
    assert prometheus.last_answer_s(unknown) == prometheus.last_answer_s(known) > 0
    assert "nomad_csi_volume_ok" not in unknown


@pytest.mark.parametrize("name", ["storage.yaml", "metrics", ".prom/x"])
def test_rejects_a_file_of_metrics_that_is_none(tmp_path, name, capsys):
    """The word behind --prometheus may be the spec: it is not written over."""
    Path(tmp_path / "storage.yaml").write_text("kept")

    code = cli.main(["verify", "--prometheus", str(tmp_path / name)])

    assert code == 64
    assert "expected a file that ends in .prom, or - for standard output, got " in capsys.readouterr().err
    assert (tmp_path / "storage.yaml").read_text() == "kept"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--every", "5s"], "--every: expected it only with --watch"),
        (["--watch", "--stable", "5s"], "--stable and --watch exclude each other"),
        (["--watch", "--prometheus"], "--prometheus: expected a FILE.prom with --watch or --json"),
        (["--json", "--prometheus"], "--prometheus: expected a FILE.prom with --watch or --json"),
        (["--command", "x"], "--command: expected it only with --on-nodes"),
        (["--state-dir", "/x"], "--state-dir: expected it only with --on-nodes"),
        (["--timeout", "9s"], "--timeout: expected it only with --on-nodes"),
        (["--on-nodes", "--image", "x/y:1"], "--state-dir: expected the clients' state_dir with --image"),
    ],
)
def test_rejects_options_that_do_not_go_together(spec, words, sentence, capsys):
    """Before anything is asked or written."""
    assert cli.main(["verify", spec, *words]) == 64

    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--prometheus", "a.prom"], "--prometheus: expected an absolute path on the client"),
        (["--prometheus", "/a.prom"], "--on-client: expected the name of a client with --prometheus"),
        (["--watch"], "No such option '--watch'"),
    ],
)
def test_rejects_what_a_job_cannot_have(spec, words, sentence, capsys):
    """Before anything is printed."""
    assert cli.main(["verify", "job", spec, *words]) == 64

    assert sentence in capsys.readouterr().err
