"""The base model of the spec, and the types of values."""

import functools
import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pydantic
import pydantic_core
from pydantic.fields import FieldInfo

from nomad_csi.spec import names
from nomad_csi.text import docstrings

# The base model, and the types of values.


class Model(pydantic.BaseModel):
    """
    Base of all spec models: refuses unknown keys, and converts no values.

    A field's default that is a model is made with `model_construct`: no validator is built when it is imported.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: pydantic_core.CoreSchema, handler: pydantic.GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """
        Return the JSON schema, with the docstring of each field as its description.

        pydantic's own ``use_attribute_docstrings`` reads the source of each model when it is imported.
        """
        json_schema = handler(schema)
        fields = handler.resolve_ref_schema(json_schema).get("properties", {})
        for name, text in docstrings.of_attributes(cls).items():
            if name in fields:
                fields[name].setdefault("description", text)
        return json_schema


@functools.cache
def fields_of(kind: type[pydantic.BaseModel]) -> Mapping[str, FieldInfo]:
    """Return the fields of a *kind* by their keys in a document."""
    key: Any = kind.model_config.get("alias_generator") or str
    return {key(name): field for name, field in kind.model_fields.items()}


@dataclass(frozen=True)
class Matching:
    """A validator that requires text to match *pattern*; *allowed* describes it, also in the JSON schema."""

    pattern: re.Pattern[str]
    allowed: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: pydantic.GetCoreSchemaHandler
    ) -> pydantic_core.CoreSchema:
        """Return the schema of *source*, followed by the check."""
        return pydantic_core.core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: pydantic_core.CoreSchema, handler: pydantic.GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON schema, with the error message for the YAML language server."""
        return handler(schema) | {"pattern": f"^(?:{self.pattern.pattern})$", "patternErrorMessage": self.allowed}

    def _check(self, value: str) -> str:
        if not self.pattern.fullmatch(value):
            raise ValueError(self.allowed)
        return value


def _network(value: str) -> str:
    try:
        ipaddress.IPv4Network(value)
        _, _, length = value.partition("/")
        int(length)  # AWS accepts neither an address without prefix length nor a netmask
    except ValueError:
        raise ValueError("an IPv4 network with its prefix length, such as 10.0.0.0/16, and no host bits set") from None
    return value


def _expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error:
        raise ValueError("a regular expression") from None
    return value


Text = str
Word = Annotated[Text, pydantic.Field(min_length=1)]
Expression = Annotated[str, pydantic.AfterValidator(_expression)]
VolumeId = Annotated[
    str,
    Matching(
        names.VOLUME_ID, "letters, digits, '.', '_' or '-', not '.' or '..', optionally an index like [0] at the end"
    ),
]
VolumeKey = Annotated[str, Matching(names.VOLUME_KEY, "NAMESPACE/ID, or ID in the default namespace")]
PluginId = Annotated[
    str, Matching(names.PLUGIN_ID, "at most 63 letters, digits, '.', '_' or '-', not starting with '.'")
]
JobId = Annotated[str, Matching(names.JOB_ID, names.JOB_ID_ALLOWED)]
Namespace = Annotated[str, Matching(names.NAMESPACE, "letters, digits and '-'")]
Zone = Annotated[str, Matching(names.AVAILABILITY_ZONE, "an Availability Zone such as us-east-1a")]
Region = Annotated[str, Matching(names.AWS_REGION, "an AWS region such as us-east-1")]
KmsKeyArn = Annotated[
    str,
    Matching(re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/.+"), "the full ARN of a KMS key, not of an alias"),
]
SubnetId = Annotated[str, Matching(re.compile(r"subnet-[0-9a-f]{8,17}"), "a subnet id such as subnet-0abc12345")]
SecurityGroupId = Annotated[str, Matching(re.compile(r"sg-[0-9a-f]{8,17}"), "a security group id such as sg-0abc12345")]
EbsVolumeId = Annotated[
    str, Matching(re.compile(r"vol-[0-9a-f]{8}([0-9a-f]{9})?"), "an EBS volume id such as vol-0123456789abcdef0")
]
FileSystemId = Annotated[
    str, Matching(re.compile(r"fs-[0-9a-f]{8,40}"), "a file system id such as fs-0123456789abcdef0")
]
FileSystemName = Annotated[str, Matching(names.FILE_SYSTEM_NAME, "at most 64 letters, digits, '_' or '-'")]
Owner = Annotated[str, Matching(names.OWNER, "project/stack, such as shop/prod")]
RoleName = Annotated[str, Matching(re.compile(r"[\w+=,.@-]{1,64}"), "the name of an IAM role, not its ARN")]
RoleArn = Annotated[
    str,
    Matching(
        re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/.+"),
        "the ARN of an IAM role such as arn:aws:iam::123456789012:role/nomad-csi",
    ),
]
Digest = Annotated[str, Matching(re.compile(r"sha256:[0-9a-f]{64}"), "sha256: and 64 hexadecimal digits")]
CidrBlock = Annotated[str, pydantic.AfterValidator(_network)]
Directory = Annotated[str, Matching(re.compile(r"/[^\0]{1,39}"), "an absolute path of at most 40 characters")]
Count = Annotated[int, pydantic.Field(ge=1)]
ByteCount = Annotated[int, pydantic.Field(ge=1, le=2**53)]
"""Byte counts that stay exact: Pulumi and Nomad's parser of volume files use 64-bit floating point.
Source: ``google.protobuf.Value.number_value``; ``ParseBytes`` of dustin/go-humanize ``bytes.go``, 2026-08."""
Seconds = Annotated[float, pydantic.Field(gt=0, le=86_400, allow_inf_nan=False, strict=False)]
EnvironmentName = Annotated[str, Matching(re.compile(r"[A-Za-z_][A-Za-z0-9_]*"), "a name of letters, digits and '_'")]
FileName = Annotated[
    str,
    Matching(
        re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}"), "a file name without directories, not starting with '.'"
    ),
]
VariablePath = Annotated[
    str,
    Matching(names.VARIABLE_PATH, "a path of letters, digits, '-', '_', '~' and '/', such as nomad/jobs/NAME"),
]
ItemName = Annotated[str, Matching(names.ITEM, names.ITEM_ALLOWED)]
UnixId = Annotated[int, pydantic.Field(ge=0, le=4_294_967_295)]


class CapabilitySpec(Model):
    """One way in which allocations may use a volume."""

    access_mode: names.AccessMode
    """Who may read and write, from how many clients. What works depends on the driver."""

    attachment_mode: names.AttachmentMode = "file-system"
    """How tasks see the volume: a mounted file system, or the raw block device."""


class ResourcesSpec(Model):
    """What Nomad reserves for a plugin task."""

    cpu_mhz: Count = 100
    """Share of the processor, in Nomad's MHz."""

    memory_mib: Annotated[int, pydantic.Field(ge=32)] = 256
    """Memory in MiB (2**20 bytes). A task that uses more is killed."""

    memory_max_mib: Annotated[int, pydantic.Field(ge=32)] | None = None
    """Memory limit in MiB where the scheduler allows oversubscription; absent: *memory_mib* is the limit."""


JobType = Literal["service", "system"]
PluginRole = Literal["controller", "node", "monolith"]
"""Nomad's names for the role of a plugin instance. A monolith is both controller and node."""


def exactly_one(model: pydantic.BaseModel, names: Iterable[str]) -> None:
    """Raise a pydantic error unless exactly one of the fields *names* of *model* is given."""
    wanted = tuple(names)
    given = [name for name in wanted if getattr(model, name) is not None]
    if len(given) != 1:
        context = {"allowed": f"exactly one of {', '.join(wanted)}", "got": " and ".join(given) or "none of them"}
        raise pydantic_core.PydanticCustomError("rule", "{allowed}", context)
