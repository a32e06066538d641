"""
The EBS driver in containers, by our jobs as they are rendered by default, with moto as EC2 and a loop device as disk.

The containers are on the host's network, because moto and the emulator of instance metadata listen on loopback.
"""

import os
import shutil
from pathlib import Path

import pytest

from nomad_csi.diagnosis import smoke
from nomad_csi.drivers import catalogue
from nomad_csi.plan import smoke as plan
from nomad_csi_sandbox.aws import account
from tests.real import ebs_world

COMMAND = shutil.which("aws-ebs-csi-driver")
DRIVER = catalogue.DRIVERS["aws-ebs"]
DRIVER_PATH = "/bin/aws-ebs-csi-driver"
MKFS_FILES = ("/etc/mke2fs.conf",)
TOOLS = (
    "blkid",
    "blockdev",
    "dumpe2fs",
    "e2fsck",
    "fsck",
    "fsck.ext4",
    "mkfs.ext4",
    "mount",
    "resize2fs",
    "umount",
)
VARIABLE = "nomad/jobs/plugin-aws-ebs0-controller"
USE_S = 60.0

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not COMMAND or os.geteuid() != 0, reason="needs `aws-ebs-csi-driver` on PATH, and root"),
]


@pytest.fixture(scope="module")
def document(agent, image, images, cloud):
    """The plugin with keys from a Nomad variable, which moto takes any of."""
    programs = {DRIVER_PATH: COMMAND} | images.on_path(*TOOLS)
    image(DRIVER.image, [DRIVER_PATH], programs, files=[file for file in MKFS_FILES if Path(file).exists()])
    keys = dict.fromkeys(("access_key_id", "secret_access_key"), account.CREDENTIAL)
    agent.client.request("PUT", f"/v1/var/{VARIABLE}", body={"Items": keys})
    plugin = {
        "id": "aws-ebs0",
        "driver": "aws-ebs",
        "aws_region": ebs_world.REGION,
        "controller": {"count": 1},
        "host_network": True,
        "credentials": {"nomad_variable": VARIABLE},
        "environment": {
            "AWS_EC2_ENDPOINT": cloud.ec2_url,
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": cloud.metadata_url,
        },
    }
    return {"plugins": [plugin]}


def test_both_roles_verify_themselves_over_their_sockets(stack):
    """The controller has its keys through the template and reaches EC2; the node knows its zone."""
    health = stack.health["aws-ebs0"]
    counted = {name: health[name] for name in ("healthyControllers", "healthyNodes", "expectedNodes")}

    [node] = stack.plugin("aws-ebs0").nodes

    assert counted == {"healthyControllers": 1, "healthyNodes": 1, "expectedNodes": 1}
    assert (health["verifiedBy"], health["status"]) == ("csi", "healthy")
    assert node.segments[DRIVER.topology_key] == ebs_world.ZONE


def test_volume_is_attached_formatted_and_mounted_for_another_container(stack, cloud, disk, register, image, images):
    """The disk comes after the container of the plugin has started; what is mounted from it is seen beside it."""
    image(plan.IMAGE, [], images.on_path("sh", "grep", "head", "rm", "sha256sum", "sync", "yes"))
    external_id = cloud.create_volume()
    device = disk(external_id)
    existing = {"external_id": external_id, "availability_zone": ebs_world.ZONE}
    register({"id": "data", "plugin_id": "aws-ebs0", "existing": existing})

    outcome = smoke.try_out(
        stack.agent.client, ("default", "data"), wish=plan.Wish(task_driver="docker"), timeout_s=USE_S
    )

    assert [(done.kind, done.reason) for done in outcome.rounds] == [("write", ""), ("read", "")]
    assert ebs_world.run("blkid", "--output", "value", "--match-tag", "TYPE", device) == "ext4"
    stack.until(lambda: cloud.attached(external_id) == ("available", []), USE_S, "EC2 has detached the volume")
    assert ebs_world.mounted(device) == []
