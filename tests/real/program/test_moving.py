"""Into the state of a stack and out of it again: nothing is replaced, nothing is written, nothing is lost."""

import dataclasses
import json
import time

import boto3
import pytest
import yaml

from nomad_csi.hcl import documents
from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.plan import registration, storage

PROGRAM = "from nomad_csi import storage_stack\n\nstorage_stack()\n"
EMPTY = "import pulumi\n"
ZONE = "us-east-1a"
MODE = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
MODES = [{"access_mode": MODE.access_mode, "attachment_mode": MODE.attachment_mode}]
HEALTHY_S = 90


@pytest.fixture
def ec2(world):
    """The account of this world."""
    keys = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
    return boto3.client("ec2", "us-east-1", endpoint_url=world.environment["AWS_ENDPOINT_URL"], **keys)


@pytest.fixture
def ready_stack(stack, world, tmp_path):
    """The ready stack in a project of its own: ``ready_stack.write(document)`` writes its spec."""
    folder = tmp_path / "ready"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: nomad-csi\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM)
    made = stack(folder, PATH=world.environment["PATH"])
    made.command("plugin", "install")
    config = folder / "Pulumi.dev.yaml"

    def write(document):
        found = yaml.safe_load(config.read_text()) if config.exists() else {}
        found["config"] = {"nomad-csi:storage": document, "aws:region": "us-east-1"}
        config.write_text(yaml.safe_dump(found))

    made.write = write
    return made


@pytest.fixture
def spec(world, ec2):
    """A spec with a plugin, a volume that exists, one that Pulumi makes; the storage of both is there by hand."""
    plugin = {"id": "legacy", "driver": "aws-ebs", "aws_region": "us-east-1", "task_driver": world.task_driver}
    made = [ec2.create_volume(AvailabilityZone=ZONE, Size=size, Encrypted=True)["VolumeId"] for size in (1, 2)]
    yield (
        {
            "plugins": [plugin],
            "volumes": [
                {
                    "id": "mysql",
                    "plugin_id": "legacy",
                    "existing": {"external_id": made[0], "availability_zone": ZONE},
                    "capabilities": MODES,
                },
                {
                    "id": "data",
                    "plugin_id": "legacy",
                    "ebs": {"availability_zone": ZONE, "size_gib": 2},
                    "capabilities": MODES,
                },
            ],
        },
        made,
    )
    for volume_id in made:
        ec2.delete_volume(VolumeId=volume_id)


@pytest.fixture
def by_hand(spec, world, healthy):
    """All of the spec, run and registered without Pulumi; removed in the end."""
    document, external_ids = spec
    plan = storage.plan_document(document)
    files = {job.job_id: documents.job_file(job) for job in plan.plugins[0].jobs}
    with world.nomad() as client:
        for hcl in files.values():
            jobs.register(client, jobs.parse(client, hcl), source=hcl, enforce_index=None)
        healthy(client, "legacy")
        for item, external_id in zip(plan.volumes, external_ids, strict=True):
            volumes.register(client, dataclasses.replace(item.registration, external_id=external_id))
        yield client
        for item in plan.volumes:
            volumes.deregister(client, "default", item.registration.volume_id)
        for job_id in files:
            if jobs.get(client, "default", job_id) is not None:
                jobs.stop(client, "default", job_id, purge=True)


@pytest.fixture
def healthy():
    """Wait until four instances of a plugin are healthy."""

    def wait(client, plugin_id):
        deadline = time.monotonic() + HEALTHY_S
        while True:
            found = plugins.get(client, plugin_id)
            instances = (*found.controllers, *found.nodes) if found else ()
            if len(instances) == 4 and all(each.healthy for each in instances):
                return
            assert time.monotonic() < deadline, found
            time.sleep(0.2)

    return wait


def held(client):
    """Return what Nomad holds, with the index of the last change of each: any write shows."""
    listed = client.request("GET", "/v1/volumes", query={"type": "csi"}).data
    kept = {item["ID"]: (item["ExternalID"], item["ModifyIndex"]) for item in listed}
    found = client.request("GET", "/v1/jobs", query={"namespace": "*"}).data
    return kept, {item["ID"]: item["JobModifyIndex"] for item in found}


def changes(text):
    """Return what a preview in JSON would do, operation and type; nothing of what stays the same."""
    steps = json.loads(text[text.index("{") :])["steps"]
    found = {(step["op"], step["urn"].split("::")[2].rpartition("$")[2]) for step in steps}
    return {each for each in found if each[0] not in ("same", "refresh")}


def test_a_program_takes_over_what_runs_and_lets_go_of_it(ready_stack, spec, by_hand, ec2):
    """
    One import, one eject: nothing is made again or replaced, and nothing is written to volumes from end to end.

    In between, the program's mark gets onto what it owns; that alone is an update.
    """
    document, external_ids = spec
    ready_stack.write(document)
    before = held(by_hand)

    printed = ready_stack.command("import", "--for-pulumi", "imports.json")
    ready_stack.run("import", "--file", "imports.json", "--yes", "--skip-preview", "--generate-code=false")
    imported = {urn.split("::")[2]: item["id"] for urn, item in ready_stack.resources().items() if item.get("id")}
    planned = changes(ready_stack.run("preview", "--json"))

    assert "5 of 5 can be imported" in printed
    assert held(by_hand) == before
    assert imported["nomad-csi:index:ExistingVolume$nomad-csi:index:VolumeRegistration"] == "default/mysql"
    assert imported["nomad-csi:index:EbsVolume$nomad-csi:index:VolumeRegistration"] == "default/data"
    assert imported["nomad-csi:index:EbsVolume$aws:ebs/volume:Volume"] == external_ids[1]
    assert {kind for op, kind in planned if op == "create"} == {
        "nomad-csi:index:PluginHealth",
        "nomad-csi:index:StackIdentity",
    }
    assert {op for op, _ in planned} <= {"create", "update"}

    ready_stack.run("up", "--yes", "--skip-preview")
    during = held(by_hand)
    shown = ready_stack.command("eject", "--out", "nomad", "--dry-run")
    unconfirmed = ready_stack.command("eject", "--out", "nomad", code=1)
    kept = ready_stack.resources()
    ejected = ready_stack.command("eject", "--out", "nomad", "--backup", "before.json", "--yes")
    (ready_stack.folder / "__main__.py").write_text(EMPTY)
    ready_stack.run("preview", "--expect-no-changes")
    refused = ready_stack.command("apply", "nomad", "--yes", code=1)
    ready_stack.command("apply", "nomad", "--adopt", "--yes")
    registered = ready_stack.command("apply", "nomad", "--yes")

    assert {volume: each[0] for volume, each in during[0].items()} == {
        "data": external_ids[1],
        "mysql": external_ids[0],
    }
    assert f"stays in AWS  aws:ebs/volume:Volume  {external_ids[1]}  tags: " in shown
    assert "refused: no terminal to confirm on" in unconfirmed
    assert kept.keys() > {urn for urn in kept if urn.endswith("pulumi:pulumi:Stack::nomad-csi-dev")}
    assert [urn.split("::")[2] for urn in ready_stack.resources()] == ["pulumi:pulumi:Stack"]
    assert "4 of 4 files written below nomad" in ejected
    assert refused.count("belongs to owner nomad-csi/dev; nothing was changed: --adopt takes it over") == len(
        external_ids
    )
    assert "nomad-csi apply nomad/ --adopt" in ejected
    assert registered.endswith("2 volumes: 2 unchanged\n")
    assert held(by_hand) == during
    assert len(ec2.describe_volumes(VolumeIds=external_ids)["Volumes"]) == len(external_ids)
    assert json.loads((ready_stack.folder / "before.json").read_text())["deployment"]["resources"]
