"""AWS in this process: moto behind a port of the loopback interface, emptied between walks, checked from inside."""

import boto3
from botocore import config
from moto.ec2 import ec2_backends
from moto.efs import efs_backends
from moto.iam import iam_backends

from nomad_csi_sandbox.aws import server

ACCOUNT, REGION = "123456789012", "us-east-1"

ENVIRONMENT = {
    "AWS_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "sandbox",
    "AWS_SECRET_ACCESS_KEY": "sandbox",
    "AWS_EC2_METADATA_DISABLED": "true",
}


CREDENTIALS = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}


class Cloud:
    """One account."""

    def __init__(self):
        self._moto = server.Moto()
        self.environment = ENVIRONMENT | {"AWS_ENDPOINT_URL": self._moto.url}

    def empty(self):
        """Forget all storage."""
        self._ec2.volumes.clear()
        self._ec2.snapshots.clear()
        for held in (self._efs.file_systems_by_id, self._efs.access_points, self._efs.mount_targets_by_id):
            held.clear()
        self._efs.creation_tokens.clear()
        self._iam.roles.clear()

    def close(self):
        self._moto.close()

    def disk(self):
        """Make an EBS volume by hand, and return its id."""
        return self._ec2.create_volume(5, "us-east-1a").id

    def warm(self):
        """Have EC2 answer once: the first answer takes seconds, longer than a plugin waits."""
        settings = config.Config(read_timeout=120)
        boto3.client("ec2", REGION, endpoint_url=self._moto.url, config=settings, **CREDENTIALS).describe_volumes()

    def file_system(self):
        """Make a file system by hand, and return its id."""
        chosen = {"creation_token": "by-hand", "performance_mode": "generalPurpose", "throughput_mode": "bursting"}
        absent = ("encrypted", "kms_key_id", "provisioned_throughput_in_mibps", "availability_zone_name", "backup")
        return self._efs.create_file_system(**chosen, **dict.fromkeys(absent), tags=[]).file_system_id

    def delete_disk(self, volume_id):
        """Delete an EBS volume by hand."""
        self._ec2.delete_volume(volume_id)

    def storage(self):
        """Return the ids of all volumes and file systems, and the access points as folder by id."""
        points = {each.access_point_id: each.root_directory["Path"] for each in self._efs.access_points.values()}
        return {*self._ec2.volumes, *self._efs.file_systems_by_id}, points

    def objects(self):
        """Return the ids, as a stack has them, of all that there is."""
        attached = {f"{role.name}/{arn}" for role in self._iam.roles.values() for arn in role.managed_policies}
        storage, folders = self.storage()
        return {*storage, *folders, *attached}

    @property
    def _iam(self):
        return iam_backends[ACCOUNT]["aws"]

    @property
    def _ec2(self):
        return ec2_backends[ACCOUNT][REGION]

    @property
    def _efs(self):
        return efs_backends[ACCOUNT][REGION]
