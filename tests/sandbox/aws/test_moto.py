"""The moto server as a process."""

import json

import pytest
import urllib3


def test_moto_answers_on_loopback_until_terminated(run_server):
    """Ready means answering; SIGTERM ends it and takes the ready file along."""
    process, port, ready_file = run_server("nomad_csi_sandbox.aws.moto")
    announced = json.loads(ready_file.read_text())
    with urllib3.PoolManager(retries=False) as pool:
        status = pool.request("GET", f"http://127.0.0.1:{port}/moto-api/", timeout=30).status

    process.terminate()
    process.communicate(timeout=30)

    assert (announced, status) == ({"port": port, "pid": process.pid}, 200)
    assert process.returncode == 0
    assert not ready_file.exists()


@pytest.mark.parametrize(
    "name",
    ["AmazonEBSCSIDriverPolicyV2", "service-role/AmazonEBSCSIDriverPolicy", "service-role/AmazonEFSCSIDriverPolicy"],
)
def test_moto_knows_the_policies_that_aws_manages(by_hand, name):
    """A stack that attaches AWS's own policies runs as in a real account."""
    arn = f"arn:aws:iam::aws:policy/{name}"

    assert by_hand("iam").get_policy(PolicyArn=arn)["Policy"]["Arn"] == arn
