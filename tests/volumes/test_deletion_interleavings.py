"""
Claims against deletions, in many orders of their steps: nobody loses data.

The steps of a deletion are its requests: to the Nomad emulator, and to moto. Those of a job are what the emulator
does for it: claim, attach, write, detach, release. In every second order somebody registers the storage again and runs
another job on it, as soon as the id is free. ``SOAK_INTERLEAVINGS`` says how many orders are tried, from the number
``SOAK_FIRST_INTERLEAVING``; the number of one that fails is in the message, and gives the same order again.

One thing is assumed: from Nomad's answer to the last look until EC2 gets the order, which is `deletion_proof.FRESH_S` at
most, a volume is not claimed, attached, written to and detached again; so nothing is detached in that time.
"""

import collections
import os
import sys

import boto3
import pytest
from botocore import exceptions

from nomad_csi import nomad
from nomad_csi.aws import calls
from nomad_csi.nomad import cluster_identity
from nomad_csi.volumes import deletion, deletion_proof
from nomad_csi_sandbox.aws import server as moto_server
from nomad_csi_sandbox.nomad import cluster, refusals, state
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import claims, volume_store
from tests.volumes import interleaving

ORDERS = int(os.environ.get("SOAK_INTERLEAVINGS", "40"))
FIRST = int(os.environ.get("SOAK_FIRST_INTERLEAVING", "0"))
REGION = "us-east-1"
ZONE = "us-east-1a"
OWNER = "shop/prod"
MODE = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
SEND = "the order is on its way"


class World:
    """Nomad, EC2 and one instance; and what one order of steps did to one volume."""

    def __init__(self, known, client, ec2):
        self.known = known
        self.client = client
        self.ec2 = ec2
        placed = {"Placement": {"AvailabilityZone": ZONE}}
        [instance] = ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1, **placed)["Instances"]
        self.instance_id = instance["InstanceId"]
        self.schedule = None
        ec2.meta.events.register("before-call", self._called)
        ec2.meta.events.register("after-call.ec2.CreateSnapshot", lambda **_: self._saved())
        ec2.meta.events.register("after-call.ec2.DeleteVolume", self._deleted)

    def begin(self, seed):
        """Make a volume, registered and with data on it."""
        self.schedule = None
        named = {"nomad-csi:volume": "default/v", "nomad-csi:owner": OWNER}
        named["nomad-csi:cluster"] = cluster_identity.cluster_id(self.client, make=True)
        spec = [{"ResourceType": "volume", "Tags": [{"Key": key, "Value": value} for key, value in named.items()]}]
        self.external_id = self.ec2.create_volume(AvailabilityZone=ZONE, Size=1, TagSpecifications=spec)["VolumeId"]
        self.data, self.agreed, self.saved = 1, 0, 0
        self.is_deleted = False
        self.holders, self.attached = set(), set()
        self.lost, self.found = [], collections.Counter()
        self.register("v")
        self.schedule = interleaving.Schedule(seed, self._is_allowed)

    def _called(self, model, **_):
        if model.name != "AttachVolume":
            self.step(model.name)

    def _is_allowed(self, actor):
        """Return whether it may go on: nothing is detached while the order to delete is on its way."""
        return actor.step != "DetachVolume" or all(other.step != SEND for other in self.schedule.actors)

    def step(self, name):
        """Wait for one's turn before a step, where there are turns."""
        if self.schedule is not None:
            self.schedule.gate(name)

    def observe(self, method, path):
        """Take a request of the deletion for a step."""
        self.step(f"{method} {path}")

    def register(self, volume_id):
        """Register the storage."""
        item = {"ID": volume_id, "Name": volume_id, "PluginID": "ebs", "ExternalID": self.external_id}
        volume_store.register(self.known, [item | {"RequestedCapabilities": [MODE]}], "default")

    def forget(self):
        """Deregister what is left, and forget whose it was."""
        for key in list(self.known.volumes):
            volume_store.deregister(self.known, *key)
        with self.known.lock:
            for key in [key for key in self.known.variables if "/volumes/" in key[1]]:
                del self.known.variables[key]

    def _saved(self):
        self.saved = self.data

    def _deleted(self, http_response, **_):
        if http_response.status_code == 200:
            self.is_deleted = True
            self.lost += [f"deleted while attached for {name}" for name in sorted(self.attached)]
            if self.holders and self.saved < self.data:
                self.lost.append(f"{sorted(self.holders)} lost data {self.data}, and {self.saved} is saved")
            if max(self.saved, self.agreed) < self.data:
                self.lost.append(f"data {self.data} came after the confirmation, which was for {self.agreed}")

    def job(self, name, volume_id):
        """Claim, attach, write, detach, release; end where one of them is refused."""
        self.step("claim")
        if not self._claim(name, volume_id):
            self.found["claim refused"] += 1
            return
        try:
            device = {"VolumeId": self.external_id, "InstanceId": self.instance_id}
            if not self._attach(name, device):
                return
            self.step("write")
            if self.is_deleted:
                self.lost.append(f"{name} writes to nothing")
            self.data += 1
            self.ec2.detach_volume(**device)
            self.attached.discard(name)
            self.found["used"] += 1
        except exceptions.ClientError as error:
            self.found[error.response["Error"]["Code"]] += 1
        finally:
            self.step("release")
            self.holders.discard(name)
            with self.known.lock:
                claims.release(self.known.volumes["default", volume_id], name)

    def _attach(self, name, device):
        """Attach in one step, and return whether it is; moto alone would attach a volume twice."""
        self.step("AttachVolume")
        if not self.attached:
            self.ec2.attach_volume(**device, Device="/dev/xvdba")
            self.attached.add(name)
            return True
        self.found["VolumeInUse"] += 1
        return False

    def _claim(self, name, volume_id):
        with self.known.lock:
            record = self.known.volumes.get(("default", volume_id))
            request = MODE | {"ReadOnly": False, "PerAlloc": False, "Source": volume_id}
            if record is None or claims.take(record, name, self.instance_id, request):
                return False
        self.holders.add(name)
        return True

    def come_back(self, volume_id, later):
        """Register the storage again, *later* turns later, and run a job on it."""
        for _ in range(later):
            self.step("not yet")
        self.step("register")
        try:
            self.register(volume_id)
        except refusals.RefusalError:
            return
        self.job("late", volume_id)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """One world for all orders: each has a volume of its own."""
    specs = [nodes.NodeSpec(name="client-1", zone=ZONE, instance_id="i-1")]
    folder = tmp_path_factory.mktemp("nomad")
    made = cluster.Cluster(cluster.Settings(data_dir=folder, nodes=specs, environment={"PATH": "/usr/bin:/bin"}))
    made.state.plugins["ebs"] = state.PluginRecord(plugin_id="ebs", create_index=1, modify_index=1)
    serving = agent.Server(made)
    with moto_server.Moto() as moto, pytest.MonkeyPatch.context() as patched:
        moto.wait_until_it_answers()
        for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": moto.url}.items():
            patched.setenv(f"AWS_{name}", value)
        boto3.client("ec2", region_name=REGION).describe_volumes()  # more patient: moto loads EC2 when it is asked
        ec2 = calls.client("ec2", REGION)
        patched.setattr(calls, "client", lambda *_, **__: ec2)
        found = World(made.state, None, ec2)
        patched.setattr(deletion_proof, "refuse_registered_now", _looked(found, deletion_proof.refuse_registered_now))
        patched.setattr(deletion._Deletion, "_deregister", _agreed(found, deletion._Deletion._deregister))
        patched.setattr(deletion_proof, "FRESH_S", 60.0)
        connection = nomad.Connection(address=serving.url)
        with nomad.Nomad(connection, observe=found.observe) as client:
            found.client = client
            yield found
        ec2.close()
    serving.close()


def _looked(world, last_look):
    """Return the last look with a step behind it."""

    def look(client, external_id):
        last_look(client, external_id)
        world.step(SEND)

    return look


def _agreed(world, deregister):
    """Return the deregistration; what was written until then is what the user's confirmation is for."""

    def forget(one):
        deregister(one)
        world.agreed = world.data

    return forget


def _run(world, seed):
    """Run one order, and return what became of the deletion."""
    comes_back = bool(seed % 2)
    world.begin(seed)
    order = deletion_proof.DeletionRequest(namespace="default", volume_id="v", confirmation="default/v")
    options = deletion_proof.DeletionOptions(aws_region=REGION, with_snapshot=comes_back, owner=OWNER)
    outcomes = []
    world.schedule.add("deletion", lambda: outcomes.extend(deletion.delete(world.client, [order], options)))
    world.schedule.add("job", lambda: world.job("job", "v"))
    if comes_back:
        world.schedule.add("return", lambda: world.come_back("again" if seed % 4 == 1 else "v", seed // 4 % 16))
    world.schedule.run()
    world.taken, world.schedule = world.schedule.taken, None
    return outcomes[0]


@pytest.mark.timeout(300 + 2 * ORDERS)
def test_no_order_of_steps_loses_data(world, capsys):
    """Whoever comes first wins; what nobody can have any more stands in a snapshot or was wanted by nobody."""
    seen = collections.Counter()
    for seed in range(FIRST, FIRST + ORDERS):
        outcome = _run(world, seed)
        is_gone = not world.ec2.describe_volumes(Filters=[{"Name": "volume-id", "Values": [world.external_id]}])[
            "Volumes"
        ]
        assert world.lost == [], f"order {seed}: {outcome}; {world.taken}"
        assert outcome.is_done == is_gone == world.is_deleted, f"order {seed}: {outcome}"
        seen[outcome.status] += 1
        seen.update(world.found)
        world.forget()
        if not is_gone:
            world.ec2.delete_volume(VolumeId=world.external_id)

    with capsys.disabled():
        sys.stdout.write(f"\n{ORDERS} orders: {dict(sorted(seen.items()))}\n")
    assert min(seen["deleted"], seen["claimed"], seen["used"], seen["claim refused"]) > ORDERS // 50
    assert seen["kept"] > 0
