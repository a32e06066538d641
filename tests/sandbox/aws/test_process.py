"""What the servers share."""

import pytest

from nomad_csi import errors
from nomad_csi_sandbox.aws import process


@pytest.mark.parametrize("url", ["http://127.0.0.1:5000", "http://localhost:1", "http://[::1]:5000"])
def test_loopback_url_is_kept(url):
    """A URL of this machine is what an emulator may talk to."""
    assert process.loopback_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://ec2.us-east-1.amazonaws.com",
        "http://10.0.0.1:5000",
        "http://127.0.0.1.example.net",
        "ftp://127.0.0.1",
    ],
)
def test_rejects_url_of_another_machine(url):
    """Anything else is refused before a request is sent."""
    with pytest.raises(errors.RefusedError, match="AWS_ENDPOINT_URL: expected the URL of a moto server"):
        process.loopback_url(url)
