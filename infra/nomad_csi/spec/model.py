"""
The spec: what an operator writes, in a YAML file or under ``nomad-csi:storage`` of a Pulumi stack config.

Each model checks its own values; what joins two of them is checked in `nomad_csi.plan`.
"""

import ipaddress
import re
from typing import Annotated, Literal

import pydantic
import pydantic_core

from nomad_csi.spec import access, names


class Model(pydantic.BaseModel):
    """Base of all spec models: unknown keys are refused, values are not converted behind one's back."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


def _matching(pattern: re.Pattern[str], allowed: str) -> pydantic.AfterValidator:
    def check(value: str) -> str:
        if not pattern.fullmatch(value):
            raise ValueError(allowed)
        return value

    return pydantic.AfterValidator(check)


def _plain(value: str) -> str:
    if "\0" in value:
        raise ValueError("text without a NUL character")
    return value


def _network(value: str) -> str:
    try:
        ipaddress.IPv4Network(value)
    except ValueError:
        raise ValueError("an IPv4 network such as 10.0.0.0/16, with no bits set behind the prefix") from None
    return value


Text = Annotated[str, pydantic.AfterValidator(_plain)]
Word = Annotated[Text, pydantic.Field(min_length=1)]
VolumeId = Annotated[
    str,
    _matching(names.VOLUME_ID, "letters, digits, '.', '_' or '-', not '.' or '..', an index like [0] at the end"),
]
PluginId = Annotated[str, _matching(names.PLUGIN_ID, "at most 63 letters, digits, '.', '_' or '-', no '.' in front")]
Namespace = Annotated[str, _matching(names.NAMESPACE, "letters, digits and '-'")]
Zone = Annotated[str, _matching(names.AVAILABILITY_ZONE, "an Availability Zone such as us-east-1a")]
Region = Annotated[str, _matching(names.AWS_REGION, "an AWS region such as us-east-1")]
KmsKeyArn = Annotated[
    str,
    _matching(re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/.+"), "the full ARN of a KMS key, not of an alias"),
]
SubnetId = Annotated[str, _matching(re.compile(r"subnet-[0-9a-f]{8,17}"), "a subnet id such as subnet-0abc12345")]
SecurityGroupId = Annotated[
    str, _matching(re.compile(r"sg-[0-9a-f]{8,17}"), "a security group id such as sg-0abc12345")
]
EbsVolumeId = Annotated[
    str, _matching(re.compile(r"vol-[0-9a-f]{8}([0-9a-f]{9})?"), "an EBS volume id such as vol-0123456789abcdef0")
]
RoleName = Annotated[str, _matching(re.compile(r"[\w+=,.@-]{1,64}"), "the name of an IAM role, not its ARN")]
CidrBlock = Annotated[str, pydantic.AfterValidator(_network)]
Directory = Annotated[str, _matching(re.compile(r"/[^\0]{1,39}"), "an absolute path of at most 40 characters")]
Count = Annotated[int, pydantic.Field(ge=1)]
Seconds = Annotated[float, pydantic.Field(gt=0, le=86_400, allow_inf_nan=False, strict=False)]
EnvironmentName = Annotated[str, _matching(re.compile(r"[A-Za-z_][A-Za-z0-9_]*"), "a name of letters, digits and '_'")]
UnixId = Annotated[int, pydantic.Field(ge=0, le=4_294_967_295)]


class IamSpec(Model):
    """Whom the plugin's AWS permissions are given to."""

    role_name: RoleName
    """The instance role of the Nomad clients that may run the controller. It exists; a policy is attached to it."""

    create_volumes: bool = False
    """Also allow the driver to create, expand, snapshot and delete volumes, as Nomad's ``volume create`` needs."""

    kms_key_arns: tuple[KmsKeyArn, ...] = ()
    """Customer keys of volumes that are not in this spec. Keys of volumes in the spec are added by themselves."""

    volume_ids: tuple[EbsVolumeId, ...] = ()
    """EBS volumes made elsewhere, which may lack the tag that the policy asks for. Those in the spec are added."""


class ControllerSpec(Model):
    """The controller service job."""

    count: Count = 2
    """Instances, on distinct clients. Two keep attachments working while one client is drained."""


class TaskDriverSpec(Model):
    """How the plugin's process is run on the clients."""

    name: Literal["docker", "raw_exec"] = "docker"
    """``docker``, or ``raw_exec`` for clients without it."""

    command: Word | None = None
    """``raw_exec``: the driver's binary, an absolute path or a name on the client agent's PATH. Required there."""

    arguments: tuple[Text, ...] = ()
    """``raw_exec``: arguments of *command* that stand before the driver's own."""

    client_data_dir: Directory | None = None
    """``data_dir`` of the Nomad clients. Required for ``raw_exec``: no API tells it. Elsewhere only probes use it."""


class ResourcesSpec(Model):
    """What Nomad reserves for each plugin task."""

    cpu_mhz: Count = 100
    memory_mib: Annotated[int, pydantic.Field(ge=32)] = 256


class ExtraArgumentsSpec(Model):
    """Arguments for the driver beyond those that the catalogue renders."""

    controller: tuple[Text, ...] = ()
    node: tuple[Text, ...] = ()


class VerifySpec(Model):
    """When the plugin counts as proven."""

    proof: Literal["nomad", "csi"] = "nomad"
    """``nomad`` believes Nomad's health; ``csi`` wants the plugin's own answers over its socket."""

    timeout_s: Seconds = 300.0
    """How long to wait for the proof."""

    stable_s: Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False, strict=False)] = 3.0
    """How long every instance must stay healthy, without a restart."""


class PluginSpec(Model):
    """One CSI plugin: a driver under the id that volumes name."""

    id: PluginId
    driver: Literal["aws-ebs", "aws-efs"]
    """Name in the driver catalogue."""

    aws_region: Region
    """Region of the storage. Not Nomad's region."""

    namespace: Namespace = "default"
    """Nomad namespace of the plugin jobs. The plugin itself is global."""

    datacenters: Annotated[tuple[Word, ...], pydantic.Field(min_length=1)] = ("*",)
    node_pool: Word = "default"
    priority: Annotated[int, pydantic.Field(ge=1, le=100)] = 80
    """Above the 50 of other jobs: consumers cannot run without their plugin."""

    iam: IamSpec | None = None
    controller: ControllerSpec = ControllerSpec()
    task_driver: TaskDriverSpec = TaskDriverSpec()
    image: Word | None = None
    """Container image in place of the catalogue's, for a mirror or another version."""

    extra_arguments: ExtraArgumentsSpec = ExtraArgumentsSpec()
    environment: dict[EnvironmentName, Text] = pydantic.Field(default_factory=dict)
    resources: ResourcesSpec = ResourcesSpec()
    log_verbosity: Annotated[int, pydantic.Field(ge=0, le=10)] = 2
    """klog verbosity (``--v``)."""

    health_timeout_s: Annotated[int, pydantic.Field(ge=5, le=3600)] | None = None
    """How long Nomad waits for the first healthy answer before it restarts the task. The driver's default else."""

    verify: VerifySpec = VerifySpec()
    adopt: bool = False
    """Take over plugin jobs of the same ids that exist and differ."""


class CapabilitySpec(Model):
    """One way in which allocations may use a volume."""

    access_mode: access.AccessMode
    attachment_mode: access.AttachmentMode = "file-system"


class MountOptionsSpec(Model):
    """How the file system is mounted."""

    fs_type: Text = ""
    mount_flags: tuple[Text, ...] = ()


class EbsSpec(Model):
    """An EBS volume to be made. Limits per type: `nomad_csi.drivers.ebs_limits`."""

    availability_zone: Zone
    """Only clients in this zone can attach the volume."""

    size_gib: int
    """Size in GiB (2**30 bytes)."""

    volume_type: Text = "gp3"
    iops: int | None = None
    """Provisioned operations per second; the baseline of the type when absent."""

    throughput_mib_per_s: int | None = None
    """Provisioned throughput in MiB/s, gp3 only; 125 when absent."""

    encrypted: bool = True
    kms_key_arn: KmsKeyArn | None = None
    """Customer key; the account's default EBS key when absent."""

    tags: dict[str, Text] = pydantic.Field(default_factory=dict)


class MountTargetSpec(Model):
    """Where the file system can be mounted from: one per Availability Zone."""

    availability_zone: Zone
    subnet_id: SubnetId | None = None
    """Subnet of the mount target; the default subnet of the zone when absent."""


class EfsClientsSpec(Model):
    """Who may reach the mount targets (TCP 2049)."""

    cidr_blocks: tuple[CidrBlock, ...] = ()
    security_group_ids: tuple[SecurityGroupId, ...] = ()


class AccessPointSpec(Model):
    """The folder of the file system that the volume is, and the user that owns it."""

    path: Text
    uid: UnixId
    gid: UnixId
    permissions: Annotated[str, _matching(re.compile(r"[0-7]{3,4}"), "octal permissions such as 0755")] = "0755"


class EfsSpec(Model):
    """An EFS file system to be made, with its mount targets, security group and access point."""

    mount_targets: Annotated[tuple[MountTargetSpec, ...], pydantic.Field(min_length=1)]
    clients: EfsClientsSpec
    access_point: AccessPointSpec | None = None
    """Absent: the volume is the root of the file system."""

    performance_mode: Literal["generalPurpose", "maxIO"] = "generalPurpose"
    throughput_mode: Literal["bursting", "elastic"] = "bursting"
    encrypted: bool = True
    kms_key_arn: KmsKeyArn | None = None
    tags: dict[str, Text] = pydantic.Field(default_factory=dict)


class ExistingSpec(Model):
    """Storage that exists already and is only registered."""

    external_id: Text
    availability_zone: Zone | None = None
    """Zone of an EBS volume; it pins allocations to the clients that can attach it. Required there."""


class VolumeSpec(Model):
    """One volume: where its storage comes from, and how Nomad is to hold it."""

    id: VolumeId
    namespace: Namespace = "default"
    name: Text | None = None
    """Shown by Nomad; the id when absent. Fixed after the first registration."""

    plugin_id: PluginId
    ebs: EbsSpec | None = None
    efs: EfsSpec | None = None
    existing: ExistingSpec | None = None
    capabilities: tuple[CapabilitySpec, ...] = ()
    """Absent: the driver's usual one."""

    mount_options: MountOptionsSpec = MountOptionsSpec()
    context: dict[str, Text] = pydantic.Field(default_factory=dict)
    parameters: dict[str, Text] = pydantic.Field(default_factory=dict)
    secrets: dict[str, pydantic.SecretStr] = pydantic.Field(default_factory=dict)
    """CSI secrets. Kept secret in state, never written to a file."""

    protect: bool | None = None
    """Whether Pulumi refuses to delete or replace the storage; the spec's ``protect`` when absent."""

    adopt: bool = False
    """Take over a registration of the same id that exists and differs."""

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "VolumeSpec":
        given = [name for name in ("ebs", "efs", "existing") if getattr(self, name) is not None]
        if len(given) != 1:
            got = " and ".join(given) or "none of them"
            raise pydantic_core.PydanticCustomError(
                "rule", "{allowed}", {"allowed": "exactly one of ebs, efs, existing", "got": got}
            )
        return self


class StorageSpec(Model):
    """Everything: the plugins and the volumes of one Nomad cluster."""

    protect: bool = True
    """Whether Pulumi refuses to delete or replace storage unless a volume says otherwise."""

    plugins: tuple[PluginSpec, ...] = ()
    volumes: tuple[VolumeSpec, ...] = ()
