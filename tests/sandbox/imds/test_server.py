"""The emulator of the instance metadata service as AWS's own client sees it."""

import pytest
import urllib3
from botocore import utils

from nomad_csi_sandbox.imds import documents, server
from tests import cross_site, deadlines

INSTANCE = documents.Instance(instance_id="i-0123456789abcdef0", availability_zone="eu-west-1b")


def test_client_of_aws_finds_the_region():
    """Token and path as botocore asks for them."""
    with server.Server(INSTANCE) as imds:
        fetcher = utils.InstanceMetadataRegionFetcher(timeout=deadlines.PATIENT_S, base_url=imds.url, env={})

        assert fetcher.retrieve_region() == "eu-west-1"


def test_listens_on_loopback_until_closed():
    """No other machine can connect, and after the end no program at all."""
    imds = server.Server(INSTANCE)
    assert imds.url.startswith("http://127.0.0.1:")
    imds.close()

    with urllib3.PoolManager(retries=False) as pool, pytest.raises(urllib3.exceptions.NewConnectionError):
        pool.request("GET", imds.url, timeout=5)


def test_gives_no_token_to_web_pages():
    """A name that points here, and a page elsewhere."""
    with server.Server(INSTANCE) as imds:
        port = int(imds.url.rpartition(":")[2])
        ttl = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
        for more in ({"Host": "evil.example.com"}, {"Host": f"127.0.0.1:{port}", "Origin": "https://evil.example.com"}):
            assert cross_site.send(port, "PUT", "/latest/api/token", headers=ttl | more)[0] == 403
