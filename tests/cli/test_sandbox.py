"""``nomad-csi sandbox`` where it cannot run, or cannot run what it is asked to."""

import os
import subprocess

import pytest

from nomad_csi import cli
from nomad_csi_sandbox.session import environment, folder, processes, report, session


@pytest.mark.parametrize("action", [["up"], ["preview"], ["down"], ["status"], ["exec", "--", "true"]])
def test_rejects_other_systems_than_linux(tmp_path, monkeypatch, capsys, action):
    """One sentence, before anything is started, whatever is asked for."""
    monkeypatch.setattr("platform.system", lambda: "Darwin")

    code = cli.main(["sandbox", "--project", str(tmp_path), *action])

    said = capsys.readouterr()
    assert (code, said.out) == (1, "")
    assert said.err == (
        "refused: the sandbox runs on Linux only, as it finds its processes in /proc, and this is Darwin; "
        "run it in a Linux virtual machine or container\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("where", "command", "given"),
    [
        ("sandbox", ["pulumi", "up"], True),
        (".", ["pulumi", "up"], True),
        ("shop/deep", ["pulumi", "up"], False),
        ("shop", ["env", "A=b", "pulumi", "--cwd", "../sandbox", "up"], True),
        ("sandbox", ["pulumi", "--cwd=../shop", "up"], False),
        ("sandbox", ["pulumi", "-C", "../shop", "up"], False),
    ],
)
def test_stack_of_the_sandbox_is_that_of_its_own_project_alone(tmp_path, monkeypatch, where, command, given):
    """Another project takes its own stack and config; where there is none, Pulumi says so."""
    for name in ("sandbox", "shop"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "Pulumi.yaml").touch()
    monkeypatch.chdir(tmp_path / where)
    place = folder.Folder(tmp_path / "sandbox")

    found = environment.of_command(environment.build(place, folder.Record(), "us-east-1"), place, command)

    assert ("PULUMI_STACK" in found, "PULUMI_OPTION_CONFIG_FILE" in found) == (given, given)
    assert found["PULUMI_BACKEND_URL"] == place.backend.as_uri()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("record.json", "{", "The record of the sandbox is damaged ("),
        ("record.json", '{"processes": []}', "The record of the sandbox is damaged ("),
        ("state.json", "no state", "The state of the sandbox cannot be read ("),
        ("state.json", '{"deployment": {"resources": [{}]}}', "The state of the sandbox cannot be read ("),
    ],
)
def test_down_removes_a_damaged_sandbox(tmp_path, monkeypatch, capsys, name, text, said):
    """With the data directory of its clients and a process that nobody recorded; what it cannot know stays, and is said."""
    place, data_dir = folder.Folder(tmp_path), tmp_path / "clients"
    monkeypatch.setattr(folder, "default_data_dir", lambda _project: str(data_dir))
    place.make()
    place.save(folder.Record(parts={"engine": "emulator", "nomad": "emulator"}, data_dir=str(data_dir)))
    folder.claim_data_dir(data_dir, tmp_path)
    (place.path / name).write_text(text)
    with subprocess.Popen(["sleep", "600"], env=os.environ | {processes.MARK: str(tmp_path)}) as unrecorded:
        code = cli.main(["sandbox", "--project", str(tmp_path), "down"])

    assert code == 0
    assert not processes.runs(unrecorded.pid)
    assert list(tmp_path.iterdir()) == []
    printed = capsys.readouterr().out.splitlines()
    assert [line.startswith(said) for line in printed] == [True, False]
    assert printed[1] == "Gone: no process, port or file of the sandbox is left."


class Session:
    """Records what it is asked for."""

    def __init__(self, calls, root):
        self.calls, self.root = calls, root

    def __getattr__(self, name):
        def call(*words, **settings):
            self.calls.append((name, *words, *settings.values()))
            return {"refresh": self.root.name == "stale", "shell_variables": {"A": "x y"}}.get(name, 0)

        return call


@pytest.mark.parametrize(
    ("words", "code", "asked", "out"),
    [
        (
            ["up", "--engine", "real", "--nomad", "emulator"],
            7,
            [("up", "real", "emulator", False), ("report", False)],
            "",
        ),
        (["up", "--skip-preview", "--refresh"], 7, [("refresh",), ("up", "", "", True), ("report", False)], ""),
        (["--project", "stale", "up", "--refresh"], 1, [("refresh",)], ""),
        (["preview"], 0, [("preview",)], ""),
        (["down"], 0, [("down",)], ""),
        (["status"], 7, [("report", True)], ""),
        (["status", "--env"], 0, [("shell_variables",)], "export A='x y'\n"),
        (["exec", "--", "nomad", "job", "--help"], 0, [("introduce",), ("execute", ["nomad", "job", "--help"])], ""),
        (["exec"], 64, [], ""),
    ],
)
def test_sandbox_is_asked_for_what_the_words_say(monkeypatch, capsys, words, code, asked, out):
    """Its own exit code is that of the command; after `up` what was verified decides."""
    calls = []

    def show(_session, *, whole=True):
        calls.append(("report", whole))
        return 7

    monkeypatch.setattr(session, "Session", lambda root: Session(calls, root))
    monkeypatch.setattr(report, "show", show)

    assert cli.main(["sandbox", *words]) == code

    assert (calls, capsys.readouterr().out) == (asked, out)
