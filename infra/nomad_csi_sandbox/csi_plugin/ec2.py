"""
EC2 as the EBS driver uses it, asked over boto3. Part of the CSI driver emulator: speaks to moto only.

Errors have the text that the driver's Go SDK gives them. Two refusals of the real EC2 that moto 5.2.5 does not make are
made here, so that the sandbox shows them: a volume attached elsewhere, and an instance in another zone.
One limit of moto stays: it remembers one attachment of a volume, also where multi-attach allows more.
"""

import string
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import botocore
import botocore.config
from botocore import exceptions

from nomad_csi import errors
from nomad_csi_sandbox.aws import process, session

NAME_TAG = "CSIVolumeName"

ATTEMPTS = 8
"""Times a throttled call is sent at most; the real driver's are 50."""

DEVICES = tuple(f"/dev/xvd{first}{second}" for first in "abcd" for second in string.ascii_lowercase)[:102]
"""Device names in the driver's order. Source: aws-ebs-csi-driver, ``pkg/cloud/devicemanager/device_names.go``."""

NOT_ATTACHED = frozenset({"IncorrectState", "InvalidAttachment.NotFound", "InvalidVolume.NotFound"})
"""Codes that mean a detachment is done. Source: aws-ebs-csi-driver, ``pkg/cloud/cloud.go`` (``DetachDisk``)."""


class Ec2Error(Exception):
    """EC2 refused, or could not be asked. ``code`` is its error code, empty when there was no answer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, kw_only=True)
class NewVolume:
    """What is to be made."""

    name: str
    size_gib: int
    zone: str
    volume_type: str = "gp3"
    iops: int | None = None
    throughput: int | None = None
    encrypted: bool = False
    kms_key_id: str = ""
    multi_attach: bool = False
    snapshot_id: str = ""
    tags: Mapping[str, str]


def connect(region: str, environment: Mapping[str, str]) -> "Ec2":
    """
    Return EC2 at ``AWS_EC2_ENDPOINT`` or ``AWS_ENDPOINT_URL`` with the keys of *environment*, and nothing else.

    Nomad hands no AWS keys down to tasks; on an instance they come from its role. The simulated instance is known by
    ``NOMAD_CSI_SANDBOX_INSTANCE_ID``, and moto takes any keys.
    Raises `errors.RefusedError` for an end point that is not on this machine, and where there are neither.
    """
    url = process.loopback_url(environment.get("AWS_EC2_ENDPOINT") or environment.get("AWS_ENDPOINT_URL", ""))
    role = environment.get("NOMAD_CSI_SANDBOX_INSTANCE_ID", "")
    key, secret = environment.get("AWS_ACCESS_KEY_ID") or role, environment.get("AWS_SECRET_ACCESS_KEY") or role
    if not key or not secret:
        names = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or NOMAD_CSI_SANDBOX_INSTANCE_ID"
        raise errors.RefusedError(f"no AWS credentials: set {names}, whose role is played")
    retries = {"mode": "standard", "total_max_attempts": ATTEMPTS}
    settings = botocore.config.Config(connect_timeout=2, read_timeout=10, retries=retries, proxies={})
    return Ec2(session.isolated(key, secret).client("ec2", region_name=region, endpoint_url=url, config=settings))


class Ec2:
    """The calls of the driver. Thread-safe: what chooses a device holds a lock."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._choosing = threading.Lock()

    def dry_run(self) -> None:
        """Ask whether ``DescribeAvailabilityZones`` is allowed. Raises `Ec2Error` for every other answer."""
        try:
            self.call("DescribeAvailabilityZones", DryRun=True)
        except Ec2Error as error:
            if error.code != "DryRunOperation":
                raise

    def volume(self, volume_id: str) -> Mapping[str, Any]:
        """Return what ``DescribeVolumes`` says of one volume."""
        found = self.call("DescribeVolumes", VolumeIds=[volume_id])["Volumes"]
        return dict(found[0])

    def attach(self, volume_id: str, instance_id: str) -> str:
        """Attach the volume and return its device, such as ``/dev/xvdaa``; the same one when it is attached there."""
        with self._choosing:
            instance = self._instance(instance_id)
            devices = {each["DeviceName"]: each["Ebs"]["VolumeId"] for each in instance["BlockDeviceMappings"]}
            there = [device for device, attached in devices.items() if attached == volume_id]
            if there:
                return there[0]
            self._refuse_what_moto_lets_pass(volume_id, instance)
            self._cards(instance["InstanceType"])
            device = next(name for name in DEVICES if name not in devices)
            self.call("AttachVolume", VolumeId=volume_id, InstanceId=instance_id, Device=device)
            return device

    def detach(self, volume_id: str, instance_id: str) -> None:
        """
        Detach the volume from the instance; when it is not attached there, or either is gone, there is nothing to do.

        moto detaches from wherever a volume is attached, so that is looked up first.
        """
        try:
            self._instance(instance_id)
            attachments = self.volume(volume_id)["Attachments"]
            if instance_id in {each["InstanceId"] for each in attachments}:
                self.call("DetachVolume", VolumeId=volume_id, InstanceId=instance_id)
        except Ec2Error as error:
            if error.code not in NOT_ATTACHED | {"InvalidInstanceID.NotFound"}:
                raise

    def create(self, wanted: NewVolume) -> Mapping[str, Any]:
        """Make a volume, or return the one that has the name in its tag."""
        named = [{"Name": f"tag:{NAME_TAG}", "Values": [wanted.name]}]
        existing = self.call("DescribeVolumes", Filters=named)["Volumes"]
        if existing:
            return dict(existing[0])
        tags = [{"Key": key, "Value": value} for key, value in sorted(wanted.tags.items())]
        optional = {"Iops": wanted.iops, "Throughput": wanted.throughput, "KmsKeyId": wanted.kms_key_id}
        optional |= {"SnapshotId": wanted.snapshot_id}
        made = self.call(
            "CreateVolume",
            AvailabilityZone=wanted.zone,
            Size=wanted.size_gib,
            VolumeType=wanted.volume_type,
            Encrypted=wanted.encrypted,
            MultiAttachEnabled=wanted.multi_attach,
            TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
            **{name: value for name, value in optional.items() if value},
        )
        return dict(made)

    def delete(self, volume_id: str) -> None:
        """Delete the volume; one that is gone is no error."""
        try:
            self.call("DeleteVolume", VolumeId=volume_id)
        except Ec2Error as error:
            if error.code != "InvalidVolume.NotFound":
                raise

    def first_zone(self) -> str:
        """Return a zone of the region, for a volume whose place no one cares about."""
        return str(self.call("DescribeAvailabilityZones")["AvailabilityZones"][0]["ZoneName"])

    def _instance(self, instance_id: str) -> Mapping[str, Any]:
        [reservation] = self.call("DescribeInstances", InstanceIds=[instance_id])["Reservations"]
        return dict(reservation["Instances"][0])

    def _cards(self, instance_type: str) -> None:
        """Ask how many EBS cards the type has, as the driver before it chooses a device: a refusal is only logged."""
        try:
            self.call("DescribeInstanceTypes", InstanceTypes=[instance_type])
        except Ec2Error as error:
            print(f'E "Failed to describe instance type, falling back to static table" err="{error}"', file=sys.stderr)

    def _refuse_what_moto_lets_pass(self, volume_id: str, instance: Mapping[str, Any]) -> None:
        by_id = [{"Name": "volume-id", "Values": [volume_id]}]
        for volume in self.call("DescribeVolumes", Filters=by_id)["Volumes"]:
            if volume["Attachments"] and not volume.get("MultiAttachEnabled"):
                raise _refusal("VolumeInUse", f"{volume_id} is already attached to an instance")
            if volume["AvailabilityZone"] != instance["Placement"]["AvailabilityZone"]:
                where = f"the same availability zone as instance '{instance['InstanceId']}'"
                raise _refusal("InvalidVolume.ZoneMismatch", f"The volume '{volume_id}' is not in {where}")

    def call(self, operation: str, **arguments: Any) -> Any:
        """Return the answer of one operation. Raises `Ec2Error`."""
        try:
            return getattr(self._client, botocore.xform_name(operation))(**arguments)
        except exceptions.ClientError as error:
            answer, meta = error.response["Error"], error.response["ResponseMetadata"]
            raise Ec2Error(answer["Code"], _sentence(operation, meta, answer["Code"], answer["Message"])) from error
        except exceptions.BotoCoreError as error:
            raise Ec2Error("", f"operation error EC2: {operation}, request send failed, {error}") from error


def _sentence(operation: str, meta: Mapping[str, Any], code: str, message: str) -> str:
    """Return an error as the Go SDK writes it."""
    reply = f"https response error StatusCode: {meta['HTTPStatusCode']}, RequestID: {meta.get('RequestId', '')}"
    return f"operation error EC2: {operation}, {reply}, api error {code}: {message}"


def _refusal(code: str, message: str) -> Ec2Error:
    return Ec2Error(code, _sentence("AttachVolume", {"HTTPStatusCode": 400}, code, message))
