"""The provider as a process."""

import subprocess
import sys

import pytest

from nomad_csi import exit_codes

MODULE = "nomad_csi_sandbox.aws.provider"


def test_provider_is_served_until_terminated(run_server, endpoint_url):
    """Ready means listening; SIGTERM ends it with success and takes the ready file along."""
    process, port, ready_file = run_server(MODULE, {"AWS_ENDPOINT_URL": endpoint_url})

    process.terminate()
    process.communicate(timeout=30)

    assert port > 0
    assert (process.returncode, ready_file.exists()) == (0, False)


@pytest.mark.parametrize("environment", [{}, {"AWS_ENDPOINT_URL": "https://ec2.us-east-1.amazonaws.com"}])
def test_rejects_anything_but_loopback(environment, tmp_path):
    """Without a moto server on this machine, the process ends at once and says why."""
    ended = subprocess.run(
        [sys.executable, "-m", MODULE, "--ready-file", str(tmp_path / "ready.json")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, list(tmp_path.iterdir())) == (exit_codes.USAGE, [])
    assert ended.stderr.startswith("error: AWS_ENDPOINT_URL: expected the URL of a moto server on this machine")
