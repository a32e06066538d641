"""Stacks of a walk and the volumes that their programs declare."""

import copy
from dataclasses import dataclass, field

from tests.walk import clusters, engines

KINDS = {"disk": "EbsVolume", "shared": "EfsVolume", "scratch": "CsiVolume", "legacy": "ExistingVolume"}
"""Component of each slot: an EBS volume, a folder of a file system, what the plugin makes, a disk that was there."""

ARGUMENTS = {
    "disk": {"plugin_id": clusters.EBS, "availability_zone": "us-east-1a", "size_gib": 5},
    "shared": {
        "plugin_id": clusters.EFS,
        "mount_targets": [{"availability_zone": "us-east-1a"}],
        "clients": {"cidr_blocks": ["10.0.0.0/8"]},
        "access_point": {"path": "/shared", "uid": 1000, "gid": 1000},
    },
    "scratch": {
        "plugin_id": clusters.EBS,
        "driver": "aws-ebs",
        "capacity_min_gib": 5,
        "availability_zone": "us-east-1a",
    },
    "legacy": {"plugin_id": clusters.EBS, "driver": "aws-ebs", "availability_zone": "us-east-1a"},
}

DELETED = {"on_destroy": "delete", "deletion": {"aws_region": "us-east-1", "skip_final_snapshot": True}}
"""Of what the plugin makes, without protection: the data goes with the volume."""


@dataclass
class Volume:
    """A volume of a program."""

    slot: str
    name: str
    volume_id: str
    namespace: str = "default"
    wrapper: str = ""
    aliases: tuple = ()
    """Name and wrapper of before, where the program says so."""

    external_id: str = ""
    """Of the disk that was there."""

    protect: bool = True
    """Giving it up is the confirmation: what the preview names may be lost then."""

    data: str = ""
    """What it stood for after the last `up`."""

    former: set = field(default_factory=set)
    """What it stood for before that, and was given up for good, with or without its data."""

    def give_up(self):
        """Expect nothing of what it stood for: it may stand for new storage."""
        self.former.add(self.data)
        self.data = ""

    def wanted(self):
        """Return it for ``wanted.json``."""
        own = {"volume_id": self.volume_id, "namespace": self.namespace}
        own |= {"external_id": self.external_id} if self.external_id else {"protect": self.protect}
        own |= DELETED if self.slot == "scratch" and not self.protect else {}
        return {
            "kind": KINDS[self.slot],
            "name": self.name,
            "wrapper": self.wrapper,
            "aliases": self.aliases,
            "args": ARGUMENTS[self.slot] | own,
        }

    @property
    def was(self):
        """Return what an alias says of it."""
        return {"name": self.name, "wrapper": self.wrapper}

    @property
    def key(self):
        return f"{self.namespace}/{self.volume_id}"


@dataclass
class Stack:
    """A stack with its program."""

    place: engines.Place
    cluster: str
    volumes: dict = field(default_factory=dict)
    """By slot."""

    removed: list = field(default_factory=list)
    """Volumes that the program has no more; what a run did not come to, a later one does."""

    former_labels: set = field(default_factory=set)
    """Labels that it had before it was renamed."""

    is_well: bool = False
    """Whether it is as its last `up` left it, which succeeded, and nothing else has what it has."""

    def key(self, volume):
        """Return what tells a volume from those of all clusters."""
        return self.cluster, volume.namespace, volume.volume_id

    def having(self, data, written_by=None):
        """Return the volume, declared by now or before, that stood for *data* or that *written_by* names."""
        volumes = (*self.volumes.values(), *self.removed)
        found = (each for each in volumes if data in {each.data, *each.former} or self.key(each) == written_by)
        return next(found, None)


def without_data(volumes):
    """Return *volumes* for a program that has none of their data."""
    found = copy.deepcopy(volumes)
    for volume in found.values():
        volume.data, volume.former = "", set()
    return found
