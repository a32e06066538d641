"""``nomad-csi sandbox`` where it cannot run."""

import pytest

from nomad_csi import cli


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
