"""Programs that tests need: what a run notes of them, what it says without them, and where packages are unpacked."""

import subprocess

import pytest

from tests import program_packages, programs
from tests.test_tiers import run

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


NEEDY = """
import pytest

@pytest.mark.real_driver
@pytest.mark.skip(reason="not on PATH: docker")
def test_of_another_program(): pass
"""


def test_skip_that_the_table_does_not_have_fails(tmp_path):
    """Given a reason that names a program, and a test that the table does not have with it."""
    (tmp_path / "test_needy.py").write_text(NEEDY)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = -p tests.conftest\ntestpaths = .\nmarkers = real_driver\n"
    )

    told = run("--tier", "real", folder=tmp_path, PATH="")

    assert "tests/programs.py does not say that this test needs docker" in told
