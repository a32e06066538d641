"""
What names may look like. Stricter than Nomad where Nomad accepts what it can never serve again.

Nomad takes a volume id with ``/``, or ``.`` and ``..``, and answers 404, 405 or 307 for it ever after; so they are
refused here. Source: tried on Nomad 2.0.6-dev, 2026-08.
"""

import enum
import ipaddress
import re
from collections.abc import Iterable

STACK_CONFIG_KEY = "nomad-csi:storage"
"""Key of a Pulumi stack config below which a spec stands."""

EVERYWHERE = "*"
"""All namespaces, as Nomad has it."""

VOLUME_ID = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,120}(\[\d{1,5}\])?")
"""A volume id: letters, digits, ``.``, ``_``, ``-``; an index such as ``[0]`` may follow (``per_alloc``)."""

VOLUME_KEY = re.compile(rf"([a-zA-Z0-9-]{{1,128}}/)?{VOLUME_ID.pattern}")
"""``NAMESPACE/ID``, or ``ID`` in the default namespace."""

PLUGIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""A CSI plugin id: it becomes a folder on every client, and part of job ids and file names."""

JOB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""A job id that reads the same in a URL, in a file name and in HCL."""

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
"""An item of a Nomad variable or of a secret in Vault: what a template can name with a dot, and nothing else."""

ITEM_ALLOWED = "an item name of letters, digits and '_', as Nomad's templates require after a dot"

OWNER = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")
"""
``project/stack``, the mark on what a stack makes.

Source: pulumi/pulumi, ``sdk/go/common/tokens/project.go`` and ``names.go``: letters, digits, ``.``, ``_`` and ``-``.
"""

STACK_ID = re.compile(r"[0-9a-f]{16}")
"""The random id of a stack (`resources.stack_identity`)."""

AWS_REGION = re.compile(r"[a-z]{2,4}(?:-[a-z]+)+-[0-9]+")
"""An AWS region name: ``us-east-1``, ``eu-isoe-west-1``, ``eusc-de-east-1``."""

AVAILABILITY_ZONE = re.compile(
    rf"({AWS_REGION.pattern})(?:(?:(?:-[a-z0-9]+)+-[0-9]+)?[a-z]|(?:-[a-z0-9]+)+-wlz-[0-9]+)"
)
"""
Name of an Availability Zone, a Local Zone or a Wavelength Zone of AWS; its region is the first part.

Such as ``us-east-1a``, ``us-west-2-lax-1a`` and ``us-east-1-wl1-bos-wlz-1``. Source: Amazon EC2 user guide, "Regions
and Zones", 2026-11.
"""


def region_of_zone(zone: str) -> str:
    """Return the region of *zone*, empty for what is no zone of AWS: ``us-west-2`` of ``us-west-2-lax-1a``."""
    found = AVAILABILITY_ZONE.fullmatch(zone)
    return found[1] if found else ""


def region_of_zones(zones: Iterable[str]) -> frozenset[str]:
    """Return the regions of those of *zones* that are AWS's."""
    return frozenset(map(region_of_zone, zones)) - {""}


PLUGIN_JOB_TYPE = "nomad-csi:index:PluginJob"
VOLUME_REGISTRATION_TYPE = "nomad-csi:index:VolumeRegistration"
CREATED_VOLUME_TYPE = "nomad-csi:index:CreatedVolume"
"""Pulumi types of resources, by which a state is read without the classes of `resources`, which ask Nomad and AWS."""

_REGIONS = {
    "topology.ebs.csi.aws.com/zone": AWS_REGION,
    "topology.kubernetes.io/zone": AWS_REGION,
    "topology.gke.io/zone": re.compile(r"[a-z]+-[a-z]+\d{1,2}"),
}
"""Regions, by the topology keys whose values are zones."""


def is_region(topology_key: str, value: str) -> bool:
    """Return whether *value* is a region where *topology_key* wants a zone: ``us-east-1``, ``us-central1``."""
    return topology_key in _REGIONS and _REGIONS[topology_key].fullmatch(value) is not None


def a_zone_of(region: str) -> str:
    """Return what is allowed in place of a *region*, in words."""
    return f"a zone, not a region: {region}{'a' if AWS_REGION.fullmatch(region) else '-a'} is one of {region}"


# What Nomad fills in on the client, and a rendered file may ask for.
#
# A name that is not here passes Nomad's validation, plan and registration, and fails on the client. Source:
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
One property of a client, as a constraint names it; Nomad refuses ``${node.region}`` there.

Source: hashicorp/nomad, ``nomad/structs/constraint.go`` (``validateConstraintAttribute``), 2026-08-21.
"""

TEMPLATE_START = re.compile(r"[$%]\{")
"""How what Nomad evaluates begins."""


def variable_pattern(also: Iterable[str] = ()) -> re.Pattern[str]:
    """Return the pattern of ``${NAME}`` for each `NomadVariable` and each name of *also*, not behind another ``$``."""
    names = "|".join(re.escape(name) for name in (*(variable.value for variable in NomadVariable), *also))
    return re.compile(rf"(?<!\$)\$\{{(?:{names})\}}")


# Hosts of addresses that an operator writes: which of them are this machine.


def is_loopback(host: str) -> bool:
    """Return whether *host* (a name, or an address without brackets) is this machine: what is sent there stays here."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
