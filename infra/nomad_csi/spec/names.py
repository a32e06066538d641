"""
Patterns of names. Stricter than Nomad where Nomad accepts a name that it can never serve.

Nomad accepts a volume id with ``/``, or ``.`` and ``..``, and then responds to requests for it with 404, 405 or 307; so
they are refused here. Source: tried on Nomad 2.0.6-dev, 2026-08.
"""

import enum
import functools
import ipaddress
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

STACK_CONFIG_KEY = "nomad-csi:storage"
"""Key of a Pulumi stack config that holds a spec."""

EVERYWHERE = "*"
"""Nomad's wildcard for all namespaces."""

VOLUME_ID = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,120}(\[\d{1,5}\])?")
"""A volume id: letters, digits, ``.``, ``_``, ``-``; an index such as ``[0]`` may follow (``per_alloc``)."""

VOLUME_KEY = re.compile(rf"([a-zA-Z0-9-]{{1,128}}/)?{VOLUME_ID.pattern}")
"""``NAMESPACE/ID``, or ``ID`` in the default namespace."""

FILE_SYSTEM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

PLUGIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""A CSI plugin id: it becomes a folder on every client, and part of job ids and file names."""

JOB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""A job id that needs no escaping in a URL, in a file name and in HCL."""

JOB_ID_ALLOWED = "up to 128 letters, digits, '.', '_' and '-', the first a letter or digit"

NAMESPACE = re.compile(r"[a-zA-Z0-9-]{1,128}")
"""A Nomad namespace. Source: hashicorp/nomad, ``nomad/structs/structs.go``, ``validNamespaceName``."""

VARIABLE_PATH = re.compile(r"[a-zA-Z0-9_~/-]{1,128}(@[a-zA-Z0-9-]{1,128}(\.[a-zA-Z0-9_-]+)?)?")
"""
The path of a Nomad variable; ``@namespace`` and ``@namespace.region`` may follow.

Source: hashicorp/nomad, ``nomad/structs/variables.go`` (``validVariablePath``); hashicorp/consul-template v0.42.1,
``dependency/nomad_var_get.go``.
"""

ITEM = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""An item of a Nomad variable or of a secret in Vault: only names that a template can reference with a dot."""

ITEM_ALLOWED = "an item name of letters, digits and '_', as Nomad's templates require after a dot"

OWNER = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")
"""
``project/stack``, the owner of objects that a stack creates.

Source: pulumi/pulumi, ``sdk/go/common/tokens/project.go`` and ``names.go``: letters, digits, ``.``, ``_`` and ``-``.
"""

STACK_ID = re.compile(r"[0-9a-f]{16}")
"""The random id of a stack (`frame.stack_identity`)."""

AWS_REGION = re.compile(
    r"(?:af|ap|ca|cn|eu|eusc|il|me|mx|sa|us)(?:-(?:gov|iso[a-z]?|de))?"
    r"-(?:north|south|east|west|central|(?:north|south)(?:east|west))-[0-9]{1,2}"
)
"""
An AWS region name: ``us-east-1``, ``eu-isoe-west-1``, ``eusc-de-east-1``; a new one, too.

Source: botocore 1.44.5, ``botocore/data/endpoints.json``: all 46 regions of its partitions.
"""

AVAILABILITY_ZONE = re.compile(
    rf"({AWS_REGION.pattern})(?:(?:(?:-[a-z0-9]+)+-[0-9]+)?[a-z]|(?:-[a-z0-9]+)+-wlz-[0-9]+)"
)
"""
Name of an Availability Zone, a Local Zone or a Wavelength Zone of AWS; its region is the first part.

Such as ``us-east-1a``, ``us-west-2-lax-1a`` and ``us-east-1-wl1-bos-wlz-1``. Source: Amazon EC2 user guide, "Regions
and Zones", 2026-11.
"""


def region_of_zone(zone: str) -> str:
    """Return the region of *zone*: ``us-west-2`` of ``us-west-2-lax-1a``; empty where it is not a zone of AWS."""
    match = AVAILABILITY_ZONE.fullmatch(zone)
    return match[1] if match else ""


def region_of_zones(zones: Iterable[str]) -> frozenset[str]:
    """Return the regions of the AWS zones in *zones*."""
    return frozenset(map(region_of_zone, zones)) - {""}


TYPES = "nomad-csi:index:"
PLUGIN_JOB_TYPE = f"{TYPES}PluginJob"
VOLUME_REGISTRATION_TYPE = f"{TYPES}VolumeRegistration"
CREATED_VOLUME_TYPE = f"{TYPES}CreatedVolume"
PLUGIN_HEALTH_TYPE = f"{TYPES}PluginHealth"
"""Pulumi resource types, for reading a state without the classes of the custom resources, which send requests."""


class UrnParts(NamedTuple):
    """
    The parts of a URN, the name that Pulumi gives a resource: ``urn:pulumi:STACK::PROJECT::TYPES::NAME``.

    Source: pulumi/pulumi, ``URN`` in ``sdk/go/common/resource/urn/urn.go``, 2026-08.
    """

    stack: str
    project: str
    types: str
    """The types of its parents and its own, with ``$`` between them."""

    name: str

    @property
    def type(self) -> str:
        """Its own type, such as ``nomad-csi:index:PluginJob``."""
        return self.types.rpartition("$")[2]


def read_urn(urn: str) -> UrnParts:
    """Return the parts of *urn*."""
    return UrnParts(*urn.removeprefix("urn:pulumi:").split("::", 3))


IMPORTS = "NOMAD_CSI_IMPORTS"
"""Environment variable of a preview that makes a file for ``pulumi import``."""

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Pulumi's marker of a value that is not known yet (pulumi SDK, ``pulumi/runtime/rpc.py``, ``UNKNOWN``)."""


@functools.cache
def python_name(name: str) -> str:
    """Return the *name* of a property as Python writes it: ``external_id`` for ``externalId``."""
    return re.sub(r"(?=[A-Z])", "_", name).lower()


CLUSTER_ID_FUNCTION = f"{TYPES}clusterId"
"""
The provider's function. It takes ``make``, true or false, and ``recorded``, the ids of the clusters in the stack's
state; it returns ``{"id": "..."}``, empty where unknown.
"""


# Runtime variables of Nomad that a rendered file may reference.
#
# Any other name passes Nomad's validation, plan and registration, and fails on the client. Source:
# https://developer.hashicorp.com/nomad/docs/runtime/interpolation, 2026-11-21; tried on Nomad 2.0.6-dev, 2026-08.


class NomadVariable(enum.Enum):
    """Runtime variables of every task."""

    CSI_ENDPOINT = "CSI_ENDPOINT"
    NODE_UNIQUE_ID = "node.unique.id"
    NODE_UNIQUE_NAME = "node.unique.name"
    NODE_DATACENTER = "node.datacenter"
    NODE_REGION = "node.region"
    ATTR_UNIQUE_HOSTNAME = "attr.unique.hostname"
    ATTR_KERNEL_NAME = "attr.kernel.name"
    NOMAD_ALLOC_ID = "NOMAD_ALLOC_ID"
    NOMAD_ALLOC_DIR = "NOMAD_ALLOC_DIR"
    NOMAD_SECRETS_DIR = "NOMAD_SECRETS_DIR"
    NOMAD_TASK_DIR = "NOMAD_TASK_DIR"


ATTRIBUTE = re.compile(
    r"\$\{(attr\.[A-Za-z0-9_.-]+|meta\.[A-Za-z0-9_.-]+|node\.(unique\.id|unique\.name|datacenter|pool|class))\}"
)
"""
A client attribute that a constraint may name; Nomad refuses ``${node.region}`` there.

Source: hashicorp/nomad, ``nomad/structs/constraint.go`` (``validateConstraintAttribute``), 2026-08-21.
"""

TEMPLATE_START = re.compile(r"[$%]\{")
"""Start of an expression that Nomad evaluates."""


def variable_pattern(also: Iterable[str] = ()) -> re.Pattern[str]:
    """Return a pattern for ``${NAME}`` of each `NomadVariable` and name in *also*, not preceded by another ``$``."""
    names = "|".join(re.escape(name) for name in (*(variable.value for variable in NomadVariable), *also))
    return re.compile(rf"(?<!\$)\$\{{(?:{names})\}}")


# Loopback hosts in addresses that an operator writes.


def is_loopback(host: str) -> bool:
    """Return whether *host* (a name, or an address without brackets) is this machine, so that no data leaves it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


# The access and attachment modes of Nomad.
#
# Nomad's server does not check them when a volume is registered; an invalid one fails when an allocation claims the
# volume. Nomad has no names for the two single-node modes of CSI 1.5. Source: hashicorp/nomad,
# ``nomad/structs/csi.go``, and ``plugins/csi/plugin.go`` (``VolumeCapabilityFromStructs``), 2026-08-21.


AccessMode = Literal[
    "single-node-reader-only",
    "single-node-writer",
    "multi-node-reader-only",
    "multi-node-single-writer",
    "multi-node-multi-writer",
]
AttachmentMode = Literal["file-system", "block-device"]

ACCESS_MODES: tuple[AccessMode, ...] = get_args(AccessMode)
ATTACHMENT_MODES: tuple[AttachmentMode, ...] = get_args(AttachmentMode)
