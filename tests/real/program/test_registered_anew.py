"""Registrations that must be made anew, on Pulumi's own engine: nothing that works is lost to a typo or a refusal."""

import json
import time

import boto3
import pytest

from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.plan import registration

WAIT_S = 120.0
ZONE = "us-east-1a"
ABSENT = "vol-0aaaaaaaaaaaaaaaa"
EBS = """job "ebs" {{
  group "g" {{
    task "t" {{
      driver = "raw_exec"
      csi_plugin {{
        id   = "ebs"
        type = "monolith"
      }}
      env {{
        NOMAD_CSI_SANDBOX_FAULT_FILE = "{faults}"
      }}
      config {{
        command = "nomad-csi-sandbox-csi-plugin"
        args    = ["--driver", "aws-ebs", "all", "--endpoint=${{CSI_ENDPOINT}}"]
      }}
    }}
  }}
}}
"""
PROGRAM = """
import pulumi
from nomad_csi.components import resources

resources.VolumeRegistration("orders", **pulumi.Config().require_object("volume"))
"""


@pytest.fixture
def faults(tmp_path):
    """Order what the controller answers of a volume: ``faults(**{"vol-1": "INTERNAL: no"})``."""
    path = tmp_path / "faults.json"

    def order(**validate):
        path.write_text(json.dumps({"validate": validate}))

    order()
    order.path = path
    return order


@pytest.fixture
def client(world, faults):
    """The world's Nomad, with a plugin of EBS; plugin and volume go with the test."""
    source = EBS.format(faults=faults.path)
    with world.nomad() as found:
        jobs.register(found, jobs.parse(found, source), source=source, enforce_index=None)
        deadline = time.monotonic() + WAIT_S
        while not (plugin := plugins.get(found, "ebs")) or not any(each.healthy for each in plugin.controllers):
            assert time.monotonic() < deadline, plugin
            time.sleep(0.1)
        yield found
        volumes.deregister(found, "default", "orders")
        jobs.stop(found, "default", "ebs", purge=True)


@pytest.fixture
def disks(world):
    """Two EBS volumes of one zone."""
    endpoint = world.environment["AWS_ENDPOINT_URL"]
    ec2 = boto3.client("ec2", "us-east-1", endpoint_url=endpoint, aws_access_key_id="a", aws_secret_access_key="b")
    made = [ec2.create_volume(AvailabilityZone=ZONE, Size=1)["VolumeId"] for _ in range(2)]
    yield made
    for volume_id in made:
        ec2.delete_volume(VolumeId=volume_id)
    ec2.close()


@pytest.fixture
def program(stack, world, tmp_path, client):  # noqa: ARG001  # the plugin outlives the stack
    """A stack of one registration; say what it is: ``program.declare(external_id=..., plugin_id="ebs")``."""
    folder = tmp_path / "orders"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: orders\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM)
    made = stack(folder, PATH=world.environment["PATH"])
    made.command("plugin", "install")

    def declare(external_id, **more):
        given = {
            "volume_id": "orders",
            "external_id": external_id,
            "plugin_id": "ebs",
            "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
            "mount_options": {"fsType": "ext4", "mountFlags": ["noatime"]},
            "required_topologies": [{"segments": {"topology.ebs.csi.aws.com/zone": ZONE}}],
            "owner": "orders/dev",
        }
        made.run("config", "set", "volume", json.dumps(given | more))

    made.declare = declare
    return made


def held(client):
    """Return for which storage the volume is registered; nothing where it is not."""
    found = volumes.get(client, "default", "orders")
    return None if found is None else (found.external_id, found.plugin_id, found.has_mount_flags)


UP = ("up", "--yes", "--skip-preview")


def test_typos_are_refused_before_anything_is_taken_away(client, disks, program):
    """In the preview and in an update without one; corrected, there is nothing to do."""
    one, _ = disks
    program.declare(one)
    program.run(*UP)

    told = []
    for wrong in ({"plugin_id": "esb"}, {"external_id": ABSENT}):
        program.declare(**{"external_id": one} | wrong)
        told += [program.run("preview", code=1), program.run(*UP, code=1)]
        assert held(client) == (one, "ebs", True)
    program.declare(one)
    program.run(*UP, "--expect-no-changes")

    for text in told[:2]:
        assert "pluginId: expected a CSI plugin that Nomad has (ebs), got 'esb'; did you mean ebs" in text
    for text in told[2:]:
        assert f"where AWS knows {one} and not this one, got '{ABSENT}'" in text
        assert f"default/orders is re-pointed from {one} to {ABSENT}: deregistered and registered again" in text
    assert held(client) == (one, "ebs", True)


def test_a_new_registration_that_nomad_refuses_is_undone_and_the_next_run_succeeds(client, disks, program, faults):
    """The volume is registered after each of them, in Nomad, not only in the state."""
    one, other = disks
    program.declare(one)
    program.run(*UP)
    created = volumes.get(client, "default", "orders")

    for _ in range(2):
        faults(**{other: "INTERNAL: on order"})
        program.declare(other)
        failed = program.run(*UP, code=1)
        assert held(client) == (one, "ebs", True)
        faults()
        done = program.run(*UP)
        assert held(client) == (other, "ebs", True)
        program.run("preview", "--expect-no-changes")
        one, other = other, one

    assert f"volume default/orders is registered for {disks[1]} as before: its replacement failed" in failed
    assert "1 updated" in done
    assert "replaced" not in done
    assert created.external_id == disks[0]
    program.run("destroy", "--yes", "--skip-preview")
    assert held(client) is None


def test_registration_of_another_hand_is_refused_until_it_is_gone(client, disks, program):
    """The engine asks for the difference in a refresh, too: a refusal there would leave no way to check it."""
    one, other = disks
    program.declare(one)
    program.run(*UP)
    _register_by_hand(client, other)

    program.run("refresh", "--yes", "--skip-preview")
    told = [program.run("preview", code=1), program.run(*UP, code=1)]
    after_refusal = held(client)
    volumes.deregister(client, "default", "orders")
    program.run(*UP)

    refusal = f"nothing was changed: externalId is '{other}' in Nomad, '{one}' in the state"
    assert all(refusal in text for text in told)
    assert after_refusal == (other, "ebs", False)
    assert held(client) == (one, "ebs", True)


def _register_by_hand(client, external_id):
    """Point the volume at other storage, as somebody does who does not know of the stack."""
    volumes.deregister(client, "default", "orders")
    document = registration.VolumeRegistration(
        volume_id="orders",
        name="orders",
        external_id=external_id,
        plugin_id="ebs",
        capabilities=(registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
        required_topologies=({"topology.ebs.csi.aws.com/zone": ZONE},),
    )
    volumes.register(client, document)
