"""``nomad-csi verify --watch``: lines for pipes, a picture for terminals, metrics in a file, and a clean end."""

import collections
import dataclasses
import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from nomad_csi import cli, findings
from nomad_csi.cli import verify
from nomad_csi.diagnosis import prometheus, rounds, verification_report
from nomad_csi_sandbox.nomad import cluster
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes
from tests.cli import hostile_peer
from tests.faults import conftest

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
    assert "status 403: Permission denied; check NOMAD_TOKEN: Nomad does not know the token" in err
    watch.stderr.close()


class Terminal:
    """A terminal of the test's own."""

    def __init__(self, columns, rows):
        self.ours, self.theirs = pty.openpty()
        self.seen = ""
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, pattern):
        """Read on until *pattern* was drawn since the last call, and return what was."""
        drawn = ""
        while not re.search(pattern, drawn, re.DOTALL):
            ready, _, _ = select.select([self.ours], [], [], WAIT_S)
            assert ready, drawn
            drawn += os.read(self.ours, 65536).decode()
        self.seen += drawn
        return drawn

    def close(self):
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def terminal():
    """A terminal of 120 columns and 30 rows."""
    made = Terminal(120, 30)
    yield made
    made.close()


def test_terminal_is_drawn_over(started, empty_agent, terminal):
    """One picture over the other; the last one stays behind."""
    environment = os.environ | {"TERM": "xterm-256color", "NO_COLOR": ""}
    watch = started(address=empty_agent(), stdout=terminal.theirs, env=environment)

    drawn = terminal.until(r"round 2 ended .*not as specified: [^\n]*\n")
    watch.send_signal(signal.SIGINT)

    assert watch.wait(WAIT_S) == 1
    assert drawn.startswith("\x1b[H\x1b[2Jnomad-csi verify ")
    assert "\x1b[31merror\x1b[0m  not as specified: " in drawn


def test_drawn_round_shows_only_what_is_not_as_specified(monkeypatch):
    """A large cluster would fill the terminal."""
    fine = verification_report.VolumeStatus(
        namespace="prod", volume_id="fine", plugin_id="ebs", external_id="", findings=()
    )
    missing = findings.finding("volume-missing", "volume prod/gone", expected="a", found="b")
    gone = dataclasses.replace(fine, volume_id="gone", findings=(missing,))
    report = verification_report.VerificationReport(plugins=(), volumes=(fine, gone))
    out = io.StringIO()
    monkeypatch.setattr(out, "fileno", lambda: 1)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((120, 30)))
    monkeypatch.setattr(verify.output, "terminal", lambda _: out)
    done = rounds.VerificationRound(number=1, at_s=1.0, seconds=0.1, outcome=report, last_answer_s=1.0)

    verify._draw("storage.yaml", collections.deque(), done)

    assert ["prod/gone" in out.getvalue(), "prod/fine" in out.getvalue()] == [True, False]


def test_no_output_of_a_watch_shows_the_token(started, empty_agent, terminal, tmp_path):
    """Neither the drawn screen, nor JSON, nor metrics in a file, though every reply repeats it."""
    token, metrics = "hunter2-and-more", tmp_path / "nomad.prom"
    environment = os.environ | {"TERM": "xterm-256color", "NOMAD_TOKEN": token}
    with conftest.proxied(empty_agent(plugin_id="aws-efs0")) as peer:
        peer.fault("GET", hostile_peer.acting(token, 10**6), times=10**6)
        drawn = started(address=peer.address, stdout=terminal.theirs, env=environment)
        terminal.until(r"round 1 ended .*not as specified: [^\n]*\n")
        lines = started("--json", "--prometheus", str(metrics), address=peer.address, env=environment)
        line = lines.stdout.readline()
        for watch in (drawn, lines):
            watch.send_signal(signal.SIGINT)
        assert (drawn.wait(WAIT_S), lines.wait(WAIT_S)) == (1, 1)

    told = [terminal.seen, line, metrics.read_text()]
    assert [token in text for text in told] == [False] * 3
    assert "[secret]" in terminal.seen
    assert "[secret]" in line


def test_metrics_go_to_standard_output(spec, empty_agent, capsys):
    """Instead of the report; the exit code is the status's."""
    assert cli.main(["verify", spec, "--address", empty_agent(), "--prometheus"]) == 1

    out = capsys.readouterr().out
    assert out.startswith("# HELP nomad_csi_verify_answered ")
    assert "nomad_csi_verify_ok 0\n" in out


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


def test_job_is_given_what_the_command_is(spec, capsys):
    """Options are passed on, with what goes with them."""
    words = ["--stable", "30s", "--probe-timeout", "2.5s", "--json"]

    assert cli.main(["verify", "job", spec, *words]) == 0

    printed = re.findall(r'^ {10}"(.*)",$', capsys.readouterr().out, re.MULTILINE)
    storage = "${NOMAD_TASK_DIR}/storage.json"
    assert printed == ["verify", storage, "--stable", "30s", "--probe-timeout", "2.5s", "--json"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--every", "5s"], "--every: expected it only with --watch"),
        (["--watch", "--stable", "5s"], "--stable and --watch exclude each other"),
        (["--watch", "--prometheus"], "--prometheus: expected a FILE.prom with --watch"),
        (["--json", "--prometheus"], "--json: expected it without metrics on standard output"),
        (["--command", "x"], "--command: expected it only with --on-nodes"),
        (["--state-dir", "/x"], "--state-dir: expected it only with --on-nodes"),
        (["--timeout", "9s"], "--timeout: expected it only with --on-nodes"),
        (["--on-nodes", "--watch"], "--watch: expected --every of 60s or more with --on-nodes"),
        (["--on-nodes", "--watch", "--every", "59s"], "--watch: expected --every of 60s or more with --on-nodes"),
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
        (["--prometheus"], "--prometheus: expected a FILE.prom"),
        (["--watch"], "No such option '--watch'"),
    ],
)
def test_rejects_what_a_job_cannot_have(spec, words, sentence, capsys):
    """Before anything is printed."""
    assert cli.main(["verify", "job", spec, *words]) == 64

    assert sentence in capsys.readouterr().err
