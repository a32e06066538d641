"""Storage that a program makes is not deleted while a registration needs it, on the emulated engine with real providers."""

import pytest

from tests.walk import clusters, engines

MULTI = [{"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}]
SINGLE = [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}]
NETWORK = {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["10.0.0.0/8"]}}
OWN = {"plugin_id": clusters.EFS, "capabilities": MULTI, "protect": False, "shares_storage": True}


def volume(kind, name, volume_id="", *, retain=False, **args):
    """Return a component for the program; its id is *volume_id*, or its name."""
    own = {} if kind == "EfsFileSystem" else {"volume_id": volume_id or name}
    made = {"kind": kind, "name": name, "args": own | args}
    return made | ({"retain": True} if retain else {})


def own(name="own", *, retain=False, **args):
    """Return a volume with a file system of its own."""
    return volume("EfsVolume", name, retain=retain, **OWN, **NETWORK, **args)


def existing(name, external_id, volume_id=""):
    """Return a volume in a file system that is named by its id."""
    args = {"plugin_id": clusters.EFS, "driver": "aws-efs", "capabilities": MULTI, "shares_storage": True}
    return volume("ExistingVolume", name, volume_id, external_id=external_id, **args)


class Stacks:
    """Stacks of one cluster."""

    def __init__(self, world, folder):
        self.world, self.cluster = world, world.clusters["east"]
        self._engine = engines.Emulated(world.environment, world.providers)
        self._folder = folder
        self._places = {}

    def run(self, stack, operation, *volumes):
        """Run *operation* with a program of *volumes*; return whether it was done, and what it said."""
        if stack not in self._places:
            self._places[stack] = engines.Place(folder=self._folder / stack, project=stack, name="dev")
            self._engine.init(self._places[stack])
        engines.prepare(self._places[stack].folder, {"address": self.cluster.url, "volumes": list(volumes)})
        return self._engine.run(self._places[stack], operation)

    def up(self, stack, *volumes):
        """Run an `up` that must succeed."""
        told = self.run(stack, "up", *volumes)
        assert told.is_done, told.text

    def refused(self, stack, *volumes, preview, up):
        """Have preview and `up` refused, each with its words."""
        for operation, words in (("preview", preview), ("up", up)):
            told = self.run(stack, operation, *volumes)
            assert not told.is_done
            assert words in told.text

    def external_id(self, name):
        """Return what *name* is registered for."""
        return self.cluster.registered().get(("default", name), "")

    def has(self, storage):
        """Return whether the disk or file system of an external id is there."""
        return storage.partition(":")[0] in self.world.cloud.storage()[0]


@pytest.fixture
def stacks(walked_world, tmp_path):
    """Stacks in a world."""
    with walked_world.quick():
        yield Stacks(walked_world, tmp_path)
    walked_world.empty()


ZONE = {"availability_zone": "us-east-1a"}
DISK = {"plugin_id": clusters.EBS, "size_gib": 2, "capabilities": SINGLE, "protect": False} | ZONE
HANDED_OVER = {
    "a file system": (own("x"), {"plugin_id": clusters.EFS, "driver": "aws-efs", "capabilities": MULTI}),
    "a disk": (volume("EbsVolume", "x", **DISK), {"plugin_id": clusters.EBS, "driver": "aws-ebs", "capabilities": SINGLE} | ZONE),
}  # fmt: skip


@pytest.mark.parametrize(("before", "args"), HANDED_OVER.values(), ids=HANDED_OVER)
def test_handed_over_file_system_deleted(stacks, before, args):
    """An ExistingVolume of the same id needs what the component deletes; after `retainOnDelete` it is handed over."""
    stacks.up("shop", before)
    storage = stacks.external_id("x")
    after = volume("ExistingVolume", "handed", "x", external_id=storage, **args)

    stacks.refused("shop", after, preview="retainOnDelete", up="the id stays registered for it")
    assert stacks.has(storage)

    stacks.up("shop", before | {"retain": True})
    assert stacks.run("shop", "preview", after).is_done
    stacks.up("shop", after)
    assert (stacks.has(storage), stacks.external_id("x")) == (True, storage)
    assert stacks.run("shop", "destroy").is_done
    assert (stacks.has(storage), stacks.external_id("x")) == (True, "")


@pytest.mark.parametrize("operation", ["destroy", "up"])
def test_destroy_deletes_under_own_claimed_volume(stacks, operation):
    """The stack's own volume in its own file system stays as it is claimed, and so does the file system."""
    stacks.up("shop", own())
    storage = stacks.external_id("own")
    stacks.up("shop", own(), existing("sub", f"{storage}:/sub"))
    stacks.cluster.claim(("default", "sub"), is_claimed=True)

    assert not stacks.run("shop", operation).is_done
    assert stacks.has(storage)
    assert stacks.external_id("sub")

    stacks.cluster.claim(("default", "sub"), is_claimed=False)
    # The emulated engine removes one after the other, and may begin with the file system.
    stacks.up("shop", own())
    assert stacks.run("shop", operation).is_done
    assert not stacks.has(storage)


@pytest.mark.parametrize("declared_by", ["shop", "other"])
def test_shared_file_system_removed_under_other_stack(stacks, declared_by):
    """Whether another stack or the same program still has a volume in it."""
    system = volume("EfsFileSystem", "web", **NETWORK, protect=False)
    stacks.up("shop", system)
    [storage] = stacks.world.cloud.storage()[0]
    sub = existing("sub", f"{storage}:/b")
    stacks.up(declared_by, sub, *([system] if declared_by == "shop" else []))

    refused = stacks.run("shop", "up", *([sub] if declared_by == "shop" else []))

    assert not refused.is_done
    assert "which default/sub needs" in refused.text
    assert stacks.has(storage)
    stacks.up(declared_by, *([system] if declared_by == "shop" else []))
    stacks.up("shop")
    assert not stacks.has(storage)


def test_file_system_with_storage_that_a_record_keeps(stacks):
    """A plugin created an access point in it for an id that is not registered now; its owner gives that up by name."""
    system = volume("EfsFileSystem", "web", **NETWORK, protect=False)
    stacks.up("shop", system)
    [storage] = stacks.world.cloud.storage()[0]
    point = f"{storage}::fsap-0123456789abcdef0"
    kept = {"id": "kept", "owner": "bank/prod", "created_name": "kept-1", "external_id": point}
    stacks.cluster.write("nomad-csi/volumes/kept", kept)

    refused = stacks.run("shop", "up")

    assert not refused.is_done
    assert f"`nomad-csi remove default/kept --forget {point} --owner bank/prod`" in refused.text
    assert stacks.has(storage)
    stacks.cluster.purge("nomad-csi/volumes/kept")
    stacks.up("shop")
    assert not stacks.has(storage)
