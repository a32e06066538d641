"""The engine emulator is for the sandbox only, and what was made in one is not touched from outside."""

import subprocess
import sys

from tests import deadlines


def preview(sandbox, mark):
    """Run the engine emulator by hand, with *mark* in its environment."""
    command = [sys.executable, "-m", "nomad_csi_sandbox.engine", "preview", "--project", sandbox.project]
    command += ["--stack", "sandbox", "--state", sandbox.state]
    variables = sandbox.variables() | {"NOMAD_CSI_SANDBOX": mark}
    return subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=deadlines.PATIENT_S, check=False
    )


def test_state_of_other_parts_is_refused(untouched):
    """State made with an emulator of Nomad is not used with a real one."""
    done = preview(untouched, "aws:moto,engine:emulator,nomad:real,plugins:emulator")

    assert done.returncode == 1
    assert "this state belongs to the sandbox aws:moto,engine:emulator,nomad:emulator," in done.stdout
    assert "and this process to the sandbox aws:moto,engine:emulator,nomad:real," in done.stdout
