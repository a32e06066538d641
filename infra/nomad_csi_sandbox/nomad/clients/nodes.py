"""The clients of the emulator: what a node says of itself. Part of the Nomad emulator.

Shape: recordings of Nomad 2.0.6-dev (``00-node.json``, ``00-nodes.json``).
"""

import platform
import uuid
from dataclasses import dataclass
from typing import Any, Self

Json = dict[str, Any]

VERSION = "2.0.6-dev"
"""The version whose answers are imitated; the node's attribute ``nomad.emulator`` says that this is not it."""

DATACENTER = "dc1"

POOLS = {"all": "Node pool with all nodes in the cluster.", "default": "Default node pool."}
"""Name -> description: those that every Nomad has."""


@dataclass(frozen=True, kw_only=True)
class NodeSpec:
    """One client to simulate."""

    name: str
    zone: str
    """Availability zone, such as ``us-east-1a``."""

    instance_id: str
    """EC2 instance id; empty when there is none."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the node of ``NAME=ZONE=INSTANCE_ID``. Raises `ValueError`."""
        parts = text.split("=")
        if len(parts) != 3 or not all(parts[:2]):  # noqa: PLR2004  # as the form says
            raise ValueError(f"expected NAME=ZONE=INSTANCE_ID, got {text!r}")
        return cls(name=parts[0], zone=parts[1], instance_id=parts[2])

    @property
    def node_id(self) -> str:
        """The same id for the same name, so that a restarted sandbox finds its nodes again."""
        return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{self.name}.nomad-csi-sandbox"))


def document(spec: NodeSpec, *, http_address: str, now: str) -> Json:
    """Return the body of ``GET /v1/node/:id``, without indexes and plugins."""
    return {
        "Attributes": _attributes(spec, http_address),
        "CSIControllerPlugins": {},
        "CSINodePlugins": {},
        "CgroupParent": "nomad.slice",
        "ComputedClass": "v1:1",
        "CreateIndex": 0,
        "Datacenter": DATACENTER,
        "Drain": False,
        "DrainStrategy": None,
        "Drivers": _drivers(now),
        "Events": [_event("Cluster", "Node registered", now)],
        "GCVolumesOnNodeGC": False,
        "HTTPAddr": http_address,
        "HostNetworks": None,
        "HostVolumes": {},
        "ID": spec.node_id,
        "IdentitySigningKeyID": "",
        "LastAllocUpdateIndex": 0,
        "LastDrain": None,
        "LastMissedHeartbeatIndex": 0,
        "Links": {},
        "Meta": {},
        "ModifyIndex": 0,
        "Name": spec.name,
        "NodeClass": "",
        "NodeMaxAllocs": 0,
        "NodePool": "default",
        "NodeResources": {"Cpu": {"CpuShares": 4000, "TotalCpuCores": 2}, "Memory": {"MemoryMB": 8192}},
        "ReservedResources": {"Cpu": {"CpuShares": 0}, "Memory": {"MemoryMB": 0}},
        "SchedulingEligibility": "eligible",
        "SecretID": "",
        "Status": "ready",
        "StatusDescription": "",
        "StatusUpdatedAt": 0,
        "TLSEnabled": False,
    }


STUB_FIELDS = (
    *("CreateIndex", "Datacenter", "Drain", "Drivers", "HostVolumes", "ID", "LastDrain", "ModifyIndex", "Name"),
    *("NodeClass", "NodePool", "SchedulingEligibility", "Status", "StatusDescription"),
)


def stub(node: Json) -> Json:
    """Return one element of ``GET /v1/nodes``."""
    return {name: node[name] for name in STUB_FIELDS} | {
        "Address": "127.0.0.1",
        "Version": node["Attributes"]["nomad.version"],
    }


def _event(subsystem: str, message: str, now: str) -> Json:
    return {"CreateIndex": 0, "Details": None, "Message": message, "Subsystem": subsystem, "Timestamp": now}


def _attributes(spec: NodeSpec, http_address: str) -> dict[str, str]:
    machine = platform.machine()
    found = {
        "cpu.arch": {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine),
        "driver.exec": "1",
        "driver.raw_exec": "1",
        "kernel.arch": machine,
        "kernel.name": platform.system().lower(),
        "nomad.emulator": "true",
        "nomad.version": VERSION,
        "platform.aws.placement.availability-zone": spec.zone,
        "unique.advertise.address": http_address,
        "unique.hostname": spec.name,
        "unique.network.ip-address": "127.0.0.1",
    }
    return found | ({"unique.platform.aws.instance-id": spec.instance_id} if spec.instance_id else {})


def _drivers(now: str) -> Json:
    """``exec`` says that it is healthy, and runs its tasks like ``raw_exec``: without chroot, without mounts."""
    on = {"Detected": True, "HealthDescription": "Healthy", "Healthy": True, "UpdateTime": now}
    off = {"Detected": False, "Healthy": False, "UpdateTime": now, "Attributes": {}}
    return {
        "raw_exec": on | {"Attributes": {"driver.raw_exec": "true"}},
        "exec": on | {"Attributes": {"driver.exec": "true"}},
        "docker": off | {"HealthDescription": "Failed to connect to docker daemon"},
        "java": off | {"HealthDescription": ""},
        "qemu": off | {"HealthDescription": ""},
    }
