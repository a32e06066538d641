"""``nomad-csi sandbox`` where it cannot run, or cannot run what it is asked to."""

import json

import pytest

from nomad_csi import cli, errors
from nomad_csi_sandbox.session import folder, session


@pytest.mark.parametrize(
    "action", [["up"], ["preview"], ["refresh"], ["down"], ["status"], ["output"], ["env"], ["exec", "--", "true"]]
)
@pytest.mark.parametrize("system", ["Darwin", "Windows"])
def test_rejects_other_systems_than_linux(tmp_path, monkeypatch, capsys, system, action):
    """One sentence, before anything is started, whatever is asked for."""
    monkeypatch.setattr("platform.system", lambda: system)

    code = cli.main(["sandbox", "--project", str(tmp_path), *action])

    said = capsys.readouterr()
    assert (code, said.out) == (1, "")
    assert said.err == (
        f"refused: the sandbox runs on Linux only, as it finds its processes in /proc, and this is {system}; "
        "run it in a Linux virtual machine or container\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_names_the_folder_that_has_no_sandbox(tmp_path, capsys):
    """Somebody stands in another folder."""
    assert cli.main(["sandbox", "--project", str(tmp_path), "status"]) == 2

    assert capsys.readouterr().err == (
        f"error: there is no sandbox in {tmp_path}; type `make up` there first, "
        "or name the checkout: nomad-csi sandbox --project DIR\n"
    )


@pytest.mark.parametrize(
    ("engine", "command", "said"),
    [
        (
            "stand-in",
            "pulumi",
            "pulumi is not on PATH; the sandbox uses its stand-in engine: nomad-csi sandbox preview, "
            "nomad-csi sandbox up, nomad-csi sandbox refresh",
        ),
        ("real", "pulumi", "pulumi is not on PATH; nothing was run"),
        ("stand-in", "nomda", "nomda is not on PATH; nothing was run"),
        ("stand-in", "./nomda", "./nomda is no file that can be run; nothing was run"),
    ],
)
def test_exec_names_a_command_that_is_not_there(tmp_path, monkeypatch, engine, command, said):
    """What the sandbox uses instead of Pulumi is said with it."""
    here = session.Session(tmp_path)
    monkeypatch.setattr(here, "environment", lambda: {"PATH": str(tmp_path)})
    monkeypatch.setattr(here, "record", lambda: folder.Record(parts={"engine": engine}))

    with pytest.raises(errors.NomadCsiError) as caught:
        here.execute([command, "up"])

    assert str(caught.value) == said


SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
OUTPUTS = {
    "externalIds": {"default/mysql": "vol-1"},
    "endpoint": "fs-1.efs.us-east-1.amazonaws.com",
    "keys": [SECRET | {"ciphertext": "v1:canary-9d2c"}, {"inner": SECRET | {"plaintext": '"canary-9d2c"'}}],
}


@pytest.fixture
def output(monkeypatch, tmp_path, capsys):
    """Run ``sandbox output`` for a stack with `OUTPUTS`; return its exit code, what it printed, and its complaint."""
    monkeypatch.setattr(session.Session, "outputs", lambda _: OUTPUTS)

    def run(*words):
        code = cli.main(["sandbox", "--project", str(tmp_path), "output", *words])
        return code, *capsys.readouterr()

    return run


def test_outputs_of_the_stack_are_printed_without_secrets(output):
    """A table for people; JSON for programs."""
    code, table, _ = output()

    assert code == 0
    assert table.splitlines() == [
        "output       value",
        "endpoint     fs-1.efs.us-east-1.amazonaws.com",
        'externalIds  {"default/mysql": "vol-1"}',
        'keys         ["[secret]", {"inner": "[secret]"}]',
    ]
    code, document, _ = output("--json")
    assert (code, json.loads(document)) == (0, OUTPUTS | {"keys": ["[secret]", {"inner": "[secret]"}]})


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["endpoint"], "fs-1.efs.us-east-1.amazonaws.com\n"),
        (["endpoint", "--json"], '"fs-1.efs.us-east-1.amazonaws.com"\n'),
        (["externalIds"], '{"default/mysql": "vol-1"}\n'),
    ],
)
def test_one_output_is_its_value_alone(output, words, printed):
    """For a variable of a shell."""
    assert output(*words) == (0, printed, "")


def test_output_that_there_is_not_is_answered_by_those_there_are(output):
    """Exit code 2, as for whatever was not found out."""
    code, out, said = output("endpiont")

    assert (code, out) == (2, "")
    assert said == "error: NAME: expected an output of the stack (endpoint, externalIds, keys), got 'endpiont'\n"


def test_exec_of_nothing_is_typed_wrong(tmp_path, capsys):
    """As any word that lacks."""
    assert cli.main(["sandbox", "--project", str(tmp_path), "exec"]) == 64

    assert "COMMAND: expected a command to run, got nothing; type it behind --" in capsys.readouterr().err
