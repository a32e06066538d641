"""The emulator plugin on sockets of its own, one moto for all tests here, and the real EBS driver where it is found."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from nomad_csi.csi import channel, endpoint, probe
from nomad_csi_sandbox.aws import account, session
from nomad_csi_sandbox.aws import server as moto
from nomad_csi_sandbox.csi_plugin import arguments, server

REGION = "us-east-1"
ZONES = ("us-east-1a", "us-east-1b")
REAL_EBS = "aws-ebs-csi-driver"


@pytest.fixture(scope="module")
def aws():
    """A moto server with a Nomad client in each zone; its URL."""
    with moto.Moto() as running:
        running.wait_until_it_answers()
        yield running.url


@pytest.fixture(scope="module")
def instances(aws):
    """The instance id of the Nomad client in each zone."""
    return account.seed(aws, region=REGION, zones=ZONES).instances


@pytest.fixture(scope="module")
def ec2(aws):
    """Moto's EC2, asked directly."""
    client = session.isolated("sandbox", "sandbox").client("ec2", region_name=REGION, endpoint_url=aws)
    yield client
    client.close()


@pytest.fixture
def new_volume(ec2):
    """Make a volume and return its id."""

    def make(zone=ZONES[0], **more):
        return ec2.create_volume(AvailabilityZone=zone, Size=1, **more)["VolumeId"]

    return make


@pytest.fixture
def environment(aws, instances):
    """What the sandbox gives to a task of its first client."""
    return {
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": aws,
        "AWS_REGION": REGION,
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "NOMAD_CSI_SANDBOX_INSTANCE_ID": instances[ZONES[0]],
        "NOMAD_CSI_SANDBOX_ZONE": ZONES[0],
    }


@pytest.fixture
def folder():
    """A folder with a path short enough for sockets, which tmp_path is not on every machine."""
    path = Path(tempfile.mkdtemp(prefix="csi-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def start(folder, environment):
    """Serve what a command line says, in this process; return an open connection."""
    with contextlib.ExitStack() as stack:

        def run(driver, *words, **variables):
            path = folder / f"{len(list(folder.iterdir()))}.sock"
            option = "--server-socket" if driver == "democratic-csi" else "--endpoint"
            given = [*words, f"{option}=unix://{path}"]
            command = arguments.read(["--driver", driver, *given], environment | variables)
            stack.enter_context(server.served(command, environment | variables))
            return stack.enter_context(channel.connect(endpoint.parse(str(path))))

        yield run


@pytest.fixture(params=["emulator", pytest.param("real", marks=pytest.mark.real_driver)])
def ebs_controller(request, folder, environment):
    """A connection to an EBS controller: our emulator, and the driver itself when it is on PATH."""
    path = folder / "controller.sock"
    if request.param == "emulator":
        command = arguments.read(["--driver", "aws-ebs", "controller", f"--endpoint=unix://{path}"], environment)
        with server.served(command, environment), channel.connect(endpoint.parse(str(path))) as connection:
            yield connection
        return
    binary = shutil.which(REAL_EBS)
    if binary is None:
        pytest.skip(f"{REAL_EBS} is not on PATH")
    process = subprocess.Popen(
        [binary, "controller", f"--endpoint=unix://{path}"],
        env={"PATH": os.environ["PATH"], **environment},
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(path, process)
        with channel.connect(endpoint.parse(str(path))) as connection:
            yield connection
    finally:
        process.terminate()
        process.wait()


def wait_for(path, process):
    end = time.monotonic() + 60
    while probe.probe(str(path)).status == "missing":
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
