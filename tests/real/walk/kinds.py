"""One resource of each kind that a stack has, and the change that replaces it."""

import json
from pathlib import Path

from tests.walk import clusters, engines
from tests.walk.providers import Fault

PROGRAM = Path(__file__).with_name("kinds_program.py")
SINGLE_WRITER = [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}]
TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})
POLICY = "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"
OTHER_POLICY = "arn:aws:iam::aws:policy/ReadOnlyAccess"
HCL = """job "{job_id}" {{
  datacenters = ["nowhere"]
  type        = "service"
  group "g" {{
    task "t" {{
      driver = "raw_exec"
      config {{
        command = "true"
      }}
    }}
  }}
}}
"""
VOLUME = {"volume_id": "kind", "plugin_id": clusters.EBS, "capabilities": SINGLE_WRITER}
STORAGE = {"disk": ("Volume", {"availability_zone": "us-east-1a", "size": 5})}
FILE_SYSTEM = {"files": ("FileSystem", {"creation_token": "kind"})}
ROLE = {"role": ("Role", {"assume_role_policy": TRUST})}


def _job(job_id):
    return {"job_id": job_id, "hcl": HCL.format(job_id=job_id)}


def _point(path):
    return {"file_system_id": "@files", "root_directory": {"path": path}}


KINDS = {
    "VolumeRegistration": (
        STORAGE,
        VOLUME | {"external_id": "@disk"},
        VOLUME | {"external_id": "@disk", "namespace": "team"},
    ),
    "CreatedVolume": (
        {},
        VOLUME | {"capacity_min_bytes": 2**30},
        VOLUME | {"capacity_min_bytes": 2**30, "namespace": "team"},
    ),
    "PluginJob": ({}, _job("plugin-kind"), _job("plugin-other")),
    "RenderedFile": ({}, {"path": "a.hcl", "content": "# a\n"}, {"path": "b.hcl", "content": "# a\n"}),
    "Volume": ({}, {"availability_zone": "us-east-1a", "size": 5}, {"availability_zone": "us-east-1b", "size": 5}),
    "FileSystem": (
        {},
        {"creation_token": "a", "performance_mode": "generalPurpose"},
        {"creation_token": "b", "performance_mode": "maxIO"},
    ),
    "AccessPoint": (FILE_SYSTEM, _point("/a"), _point("/b")),
    "RolePolicyAttachment": (
        ROLE,
        {"role": "@role", "policy_arn": POLICY},
        {"role": "@role", "policy_arn": OTHER_POLICY},
    ),
}
"""What it needs, what it is, and what replaces it. A `PluginHealth` is replaced by nothing, an identity neither."""

DELETED_FIRST = frozenset({"VolumeRegistration", "CreatedVolume", "PluginJob", "RenderedFile", "RolePolicyAttachment"})
"""Kinds of which the old object goes before the new one comes."""


def fault(kind, call):
    """Return the fault that breaks the *call*, Create or Delete, of the replacement of *kind*."""
    is_first = (kind in DELETED_FIRST) == (call == "Delete")
    return Fault(at=0 if is_first else 1, kind="fail")


class Resource:
    """A stack of one resource and what that needs."""

    def __init__(self, world, engine, folder, kind):
        self._world, self._engine, self.kind = world, engine, kind
        self._needed, self.old, self.new = KINDS[kind]
        self.place = engines.Place(folder=folder, project="kinds", name="dev")
        engine.init(self.place)

    def up(self, args, broken=None):
        """Run `up` with the resource as *args* say; return the calls, and whether it succeeded."""
        address = self._world.clusters["east"].url
        resources = self._needed | {"one": (self.kind, args)}
        engines.prepare(self.place.folder, {"address": address, "resources": resources}, PROGRAM)
        outcome = self._engine.run(self.place, "up", broken)
        return self._world.providers.gate.calls, outcome

    def state(self):
        """Return the resources of the kind in the state: what it is marked with."""
        marks = ("pendingReplacement", "delete")
        found = self._engine.export(self.place)["deployment"]["resources"]
        own = [each for each in found if each["urn"].endswith(f":{self.kind}::one")]
        return [{name: each[name] for name in marks if name in each} for each in own]

    def identity(self):
        """Return the id of the object that stands in the state, beside one that is still to be deleted."""
        found = self._engine.export(self.place)["deployment"]["resources"]
        [one] = [each for each in found if each["urn"].endswith(f":{self.kind}::one") and not each.get("delete")]
        return one["id"]

    def exists(self):
        """Whether the object of the state is there."""
        identity = self.identity()
        if self.kind == "RenderedFile":
            return (self.place.folder / identity).exists()
        in_clusters = [key for each in self._world.clusters.values() for key in (*each.registered(), *each.jobs())]
        return identity in self._world.cloud.objects() | {"/".join(key) for key in in_clusters}
