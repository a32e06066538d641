"""An account that judges its callers, and an EBS controller in it whose user has just the actions that a test names."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import botocore.config
import pytest
import urllib3

from nomad_csi.csi import channel, endpoint, probe
from nomad_csi.plan import iam
from nomad_csi_sandbox.aws import account, session
from tests import servers

REGION = "us-east-1"
ZONE = "us-east-1a"
REAL_EBS = "aws-ebs-csi-driver"
KEY = "arn:aws:kms:us-east-1:123456789012:key/1111"
READY_S = 120


@pytest.fixture(scope="session")
def policy():
    """What the controller is granted where it makes volumes and a customer key is in use."""
    return iam.ebs_policy(REGION, create_volumes=True, kms_key_arns=[KEY])


@pytest.fixture(scope="session")
def granted(policy):
    """Every action of the policy."""
    return sorted({action for statement in policy["Statement"] for action in statement["Action"]})


@dataclass(frozen=True)
class Account:
    """A moto that judges actions, its administrator, and the driver's user."""

    url: str
    instance_id: str
    admin: tuple[str, str]
    driver: tuple[str, str]

    def client(self, service):
        """Return a client of the administrator."""
        settings = botocore.config.Config(retries={"total_max_attempts": 1}, proxies={})
        made = session.isolated(*self.admin)
        return made.client(service, region_name=REGION, endpoint_url=self.url, config=settings)

    def grant(self, actions):
        """Let the driver's user do this and nothing else."""
        _put(self.client("iam"), "driver", list(actions))


@pytest.fixture(scope="session")
def judging(tmp_path_factory):
    """A moto of its own, because judging is switched on for a whole process."""
    with servers.running("nomad_csi_sandbox.aws.moto", tmp_path_factory.mktemp("moto")) as port:
        yield _account(f"http://127.0.0.1:{port}")


def _account(url):
    seeded = account.seed(url, region=REGION, zones=(ZONE,))
    settings = botocore.config.Config(proxies={})
    users = session.isolated("sandbox", "sandbox").client("iam", region_name=REGION, endpoint_url=url, config=settings)
    keys = {}
    for name, actions in {"admin": ["*"], "driver": ["none:None"]}.items():
        users.create_user(UserName=name)
        _put(users, name, actions)
        made = users.create_access_key(UserName=name)["AccessKey"]
        keys[name] = (made["AccessKeyId"], made["SecretAccessKey"])
    judged = urllib3.request("POST", f"{url}/moto-api/reset-auth", body=b"0")
    assert judged.status == 200
    return Account(url=url, instance_id=seeded.instances[ZONE], **keys)


def _put(client, user, actions):
    """Replace the user's policy. Without resources and conditions: moto cannot judge them."""
    statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    client.put_user_policy(UserName=user, PolicyName="only", PolicyDocument=json.dumps(document))


@pytest.fixture(scope="session", params=["emulator", pytest.param("real", marks=pytest.mark.real_driver)])
def ebs(request, judging):
    """A controller as a process of its own: our emulator, and the driver itself when it is on PATH."""
    with _running(request.param, judging) as driver:
        yield driver


@pytest.fixture(params=["emulator", pytest.param("real", marks=pytest.mark.real_driver)])
def fresh_ebs(request, judging):
    """The same, for one test."""
    with _running(request.param, judging) as driver:
        yield driver


@contextlib.contextmanager
def _running(which, judging):
    command = _command(which)
    folder = Path(tempfile.mkdtemp(prefix="iam-"))
    path, log = folder / "csi.sock", folder / "driver.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*command, "controller", f"--endpoint=unix://{path}", *_more(which)],
            env=_environment(judging),
            stderr=stderr,
        )
    try:
        _until(lambda: probe.probe(str(path)).status != "missing", process)
        with channel.connect(endpoint.parse(str(path))) as connection:
            yield Driver(connection, which == "real", log)
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


@dataclass(frozen=True)
class Driver:
    """A controller that runs."""

    connection: object
    is_real: bool
    log: Path


def _command(which):
    if which == "emulator":
        return [sys.executable, "-m", "nomad_csi_sandbox.csi_plugin", "--driver", "aws-ebs"]
    binary = shutil.which(REAL_EBS)
    if binary is None:
        pytest.skip(f"{REAL_EBS} is not on PATH")
    return [binary]


def _more(which):
    """Batch calls: without, v1.64.0 ends with a nil pointer when it is to ask for the status of a volume."""
    return ["--batching=true"] if which == "real" else []


def _environment(judging):
    return {
        "PATH": os.environ["PATH"],
        "AWS_ACCESS_KEY_ID": judging.driver[0],
        "AWS_SECRET_ACCESS_KEY": judging.driver[1],
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": judging.url,
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_REGION": REGION,
    }


def _until(is_so, process):
    end = time.monotonic() + READY_S
    while not is_so():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
