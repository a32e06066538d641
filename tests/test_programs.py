"""Programs that tests need: what a run notes of them, what it says without them, and where packages are unpacked."""

import json
import subprocess

import pytest

from tests import program_packages, programs
from tests.test_tiers import run

NEEDY = """
import pytest

@pytest.mark.real_nomad
def test_passes(): pass

@pytest.mark.real_driver
@pytest.mark.skip(reason="not on PATH: docker")
def test_of_another_program(): pass

@pytest.mark.real_pulumi
def test_fails(): assert False
"""
APT_GET = """#!/bin/sh
PATH=/bin
for word; do case $word in --option=Dir::Cache=*) folder=${word#--option=Dir::Cache=};; esac; done
case "$*" in *install*prometheus) touch "$folder/archives/a.deb";; esac
"""
DPKG = r"""#!/bin/sh
PATH=/bin
mkdir -p "$3/usr/bin" && printf '#!/bin/sh\necho unpacked "$1"\n' > "$3/usr/bin/promtool" && chmod +x "$3/usr/bin/promtool"
"""


@pytest.fixture(name="script")
def _script(tmp_path, monkeypatch):
    """Put scripts, and nothing else, on PATH."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def write(name, text="#!/bin/sh\n"):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)

    return write


def test_run_notes_programs_whose_tests_passed(tmp_path, script):
    """Given two programs, the one of which a test failed is not noted; a skip that the table does not have fails."""
    script("nomad")
    script("pulumi")
    (tmp_path / "test_needy.py").write_text(NEEDY)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = -p tests.conftest\ntestpaths = .\nmarkers =\n  real_driver\n  real_nomad\n  real_pulumi\n"
    )

    told = run("--tier", "real", folder=tmp_path, PATH=f"{tmp_path}/bin")

    noted = json.loads((tmp_path / ".pytest_cache/v" / programs.CACHED).read_text())
    assert {name: (row["passed"], row["skipped"]) for name, row in noted.items()} == {"nomad": (1, 0)}
    assert "tests/programs.py does not say that this test needs docker" in told


def test_later_note_is_recorded(tmp_path, monkeypatch, capsys):
    """Given a record and notes of runs here, the later of both is printed, and written down."""
    old, new = ({"date": day, "commit": "c0ffee", "passed": 7, "skipped": 0} for day in ("2026-01-01", "2026-02-02"))
    noted = tmp_path / ".pytest_cache/v" / programs.CACHED
    noted.parent.mkdir(parents=True)
    noted.write_text(json.dumps({"sshd": new, "promtool": old}))
    (tmp_path / "record.json").write_text(json.dumps({"nomad": old, "promtool": new}))
    monkeypatch.setattr(programs, "PROJECT", tmp_path)
    monkeypatch.setattr(programs, "RECORD", tmp_path / "record.json")
    monkeypatch.setenv("PATH", "")

    programs.main(["--record"])

    assert json.loads((tmp_path / "record.json").read_text()) == {"nomad": old, "promtool": new, "sshd": new}
    [line] = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("nomad ")]
    assert line == ["nomad", "not", "found", "none:", "by", "hand", "2026-01-01", "c0ffee", "7,", "0"]


def test_packages_are_unpacked_for_a_user_who_is_not_root(tmp_path, script, monkeypatch, capfd):
    """The administrator's command is printed, and the program runs from the folder."""
    script("apt-get", APT_GET)
    script("dpkg", DPKG)
    [promtool] = [each for each in programs.PROGRAMS if each.names == ("promtool",)]
    monkeypatch.setattr(programs, "PROGRAMS", (promtool,))
    monkeypatch.setattr(programs, "UNPACKED", tmp_path / "unpacked")
    monkeypatch.setattr("os.geteuid", lambda: 1000)

    assert program_packages.main(["--dry-run"]) == 0
    assert capfd.readouterr().err == "not found: promtool; `make test-programs` installs them\n"
    code = program_packages.main([])

    command = "apt-get update && apt-get install --yes --no-install-recommends prometheus"
    assert (code, capfd.readouterr().err) == (0, f"for an administrator: {command}\n")
    done = subprocess.run([programs.path_of("promtool"), "it"], capture_output=True, check=True)
    assert done.stdout == b"unpacked it\n"
