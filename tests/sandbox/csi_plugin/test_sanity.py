"""
The CSI project's own tests of plugins: the emulator is a plugin like any other.

They run where ``csi-sanity`` v5.6.0 is on PATH: ``go install github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity@v5.6.0``.
"""

import re
import shutil
import subprocess

import pytest

from nomad_csi_sandbox.csi_plugin import arguments, server

VOLUMES = (
    "CreateVolume should|DeleteVolume should return|ValidateVolumeCapabilities should (return|fail when no volume cap)|"
)
VOLUMES += "NodeUnpublishVolume should remove|Node Service should (work|be idempotent)"
UNKNOWN = "ValidateVolumeCapabilities should fail when the requested volume does not exist"
DRIVERS = {
    "csi-hostpath": (("--nodeid=n1",), "", 71),
    "csi-hostpath with attachment": (("--nodeid=n1", "--enable-attach"), "", 79),
    "digitalocean": (("--token=t",), "", 72),
    "csi-driver-nfs": (("--nodeid=n1",), UNKNOWN, 46),  # the driver never looks whether a volume is there
    "aws-ebs": ((), UNKNOWN, 78),  # the driver answers INTERNAL, not NOT_FOUND
    "aws-efs": ((), VOLUMES, 15),  # access points made through CSI are not played: all that makes a volume is left out
}
"""Words of the command line, what is left out since the driver itself does not do it, and how many tests run."""


@pytest.fixture(scope="session")
def sanity():
    """The path of csi-sanity."""
    path = shutil.which("csi-sanity")
    if path is None:
        pytest.skip("csi-sanity is not on PATH")
    return path


@pytest.mark.parametrize("name", DRIVERS)
def test_emulator_passes_the_tests_of_the_csi_project(name, folder, environment, sanity):
    """Every test that applies to what the driver claims, and as many as ever."""
    words, left_out, expected = DRIVERS[name]
    path = folder / "csi.sock"
    command = arguments.read(["--driver", name.split()[0], *words, f"--endpoint=unix://{path}"], environment)
    parameters = folder / "parameters.yaml"
    parameters.write_text('server: "127.0.0.1"\nshare: "/x"\n' if "nfs" in name else "{}\n", encoding="utf-8")

    with server.served(command, environment):
        done = subprocess.run(
            [
                *(
                    sanity,
                    f"--csi.endpoint=unix://{path}",
                    f"--csi.mountdir={folder}/m",
                    f"--csi.stagingdir={folder}/s",
                ),
                *(f"--csi.testvolumeparameters={parameters}", "--ginkgo.no-color", f"--ginkgo.skip={left_out or '^$'}"),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    summary = re.search(r"(\d+) Passed \| (\d+) Failed", done.stdout)
    assert summary is not None, done.stdout + done.stderr
    assert (done.returncode, summary[2], int(summary[1])) == (0, "0", expected), done.stdout[-4000:]
