"""``nomad-csi sandbox`` where it cannot run, or cannot run what it is asked to."""

import pytest

from nomad_csi import cli, errors
from nomad_csi_sandbox.session import folder, session


@pytest.mark.parametrize("action", [["up"], ["preview"], ["refresh"], ["down"], ["status"], ["exec", "--", "true"]])
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
