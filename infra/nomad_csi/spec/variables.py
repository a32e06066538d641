"""
What Nomad fills in on the client, and a rendered file may ask for.

A name that is not here passes Nomad's validation, plan and registration, and fails on the client.
Source: https://developer.hashicorp.com/nomad/docs/runtime/interpolation, 2026-11-21; tried on Nomad 2.0.6-dev, 2026-08.
"""

import enum
import re
from collections.abc import Iterable


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


def pattern(also: Iterable[str] = ()) -> re.Pattern[str]:
    """Return the pattern of ``${NAME}`` for each `NomadVariable` and each name of *also*, not behind another ``$``."""
    names = "|".join(re.escape(name) for name in (*(variable.value for variable in NomadVariable), *also))
    return re.compile(rf"(?<!\$)\$\{{(?:{names})\}}")
