"""An AWS account and disks for the real EBS driver: moto, an instance metadata service and loop devices."""

import os
import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nomad_csi_sandbox.aws import account, session
from nomad_csi_sandbox.aws import server as moto
from nomad_csi_sandbox.imds import documents as metadata
from nomad_csi_sandbox.imds import server as imds

REGION = "us-east-1"
ZONE = "us-east-1a"
DISK_TOOLS = ("blkid", "losetup", "mkfs.ext4")


@dataclass
class Cloud:
    """What the driver takes for AWS."""

    ec2: Any
    ec2_url: str
    metadata_url: str
    instance_id: str

    def create_volume(self):
        return self.ec2.create_volume(AvailabilityZone=ZONE, Size=1)["VolumeId"]

    def attached(self, external_id):
        """Return the state of a volume, and the instances that it is attached to."""
        [volume] = self.ec2.describe_volumes(VolumeIds=[external_id])["Volumes"]
        return volume["State"], [item["InstanceId"] for item in volume["Attachments"]]


@contextmanager
def running_cloud():
    """Run an account with one instance, which is this machine."""
    with moto.Moto() as server:
        server.wait_until_it_answers()
        instance_id = account.seed(server.url, REGION, zones=(ZONE,)).instances[ZONE]
        instance = metadata.Instance(instance_id=instance_id, availability_zone=ZONE)
        keys = session.isolated(account.CREDENTIAL, account.CREDENTIAL)
        with imds.Server(instance) as service:
            client = keys.client("ec2", region_name=REGION, endpoint_url=server.url)
            yield Cloud(ec2=client, ec2_url=server.url, metadata_url=service.url, instance_id=instance_id)
            client.close()


def missing_for_disks():
    """Return what this machine lacks to have a disk to mount; empty when nothing."""
    tools = [tool for tool in DISK_TOOLS if not shutil.which(tool)]
    return tools + [device for device in ("/dev/loop-control",) if not Path(device).exists()]


@contextmanager
def loop_disks(folder):
    """Yield a function that gives a volume a loop device, under the name that the disks of EC2 have."""
    with ExitStack() as stack:

        def give(external_id):
            image = folder / "disk.img"
            image.touch()
            os.truncate(image, 64 * 2**20)
            device = run("losetup", "--find", "--show", image)
            stack.callback(run, "losetup", "--detach", device)
            link = Path("/dev/disk/by-id") / f"nvme-Amazon_Elastic_Block_Store_{external_id.replace('-', '')}"
            for parent in (link.parent.parent, link.parent):
                if not parent.exists():
                    parent.mkdir()
                    stack.callback(parent.rmdir)
            link.symlink_to(Path("../..") / Path(device).name)
            stack.callback(link.unlink)
            return device

        yield give


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()


def mounted(device):
    """Return where *device* is mounted."""
    lines = [line.split() for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    return [place for source, place, *_ in lines if source == device]
