"""Every request of a whole life: what Nomad saw of it, and in which order."""

import json
import re

import pytest

PLUGINS = {"mysql": "aws-ebs0", "shared": "aws-efs0"}


@pytest.fixture
def life(sandbox, tmp_path):
    """Up, up, preview, refresh, destroy."""
    record = tmp_path / "destroyed.json"
    said = sandbox.up(check=True).stdout
    indexes = indexes_in_nomad(sandbox)
    sandbox.up(check=True)
    sandbox.run("preview", check=True)
    sandbox.run("up", "--refresh", check=True)
    done = sandbox.engine("destroy", "--json", record)
    assert done.returncode == 0, done.stdout + done.stderr
    return said, indexes, json.loads(record.read_text()), sandbox.requests()


def indexes_in_nomad(sandbox):
    """Return for each volume Nomad's index of its registration, and of the last change of its plugin before it."""
    with sandbox.nomad() as client:
        return {
            volume_id: (
                client.request("GET", f"/v1/volume/csi/{volume_id}").data["CreateIndex"],
                client.request("GET", f"/v1/plugin/csi/{plugin_id}").data["ModifyIndex"],
            )
            for volume_id, plugin_id in PLUGINS.items()
        }


def test_life_of_a_sandbox_keeps_to_the_rules(life):
    """No delete, no force; registered after proof and mark; torn down from the consumers' end."""
    said, indexes, destroyed, requests = life

    writes = [request for request in requests if request["method"] != "GET"]
    assert {
        re.sub(r"(/job|/csi|/volumes|-csi/jobs)/[^/]+", r"\1/ID", f"{each['method']} {each['path']}") for each in writes
    } == {
        "POST /v1/jobs/parse",
        "POST /v1/job/ID/plan",
        "POST /v1/jobs",
        "PUT /v1/var/nomad-csi/cluster",
        "PUT /v1/var/nomad-csi/volumes/ID",
        "DELETE /v1/var/nomad-csi/volumes/ID",
        "PUT /v1/var/nomad-csi/jobs/ID",
        "DELETE /v1/var/nomad-csi/jobs/ID",
        "PUT /v1/volume/csi/ID",
        "DELETE /v1/volume/csi/ID",
        "DELETE /v1/job/ID",
    }
    assert not [each for each in requests if each["path"].endswith("/delete") or "force" in each["query"]]

    for volume_id, plugin_id in PLUGINS.items():
        registered, verified = indexes[volume_id]
        assert registered > verified
        proof = re.search(rf"PluginHealth {plugin_id} created \(", said)
        begun = re.search(rf"VolumeRegistration {volume_id} creating \(", said)
        assert proof.start() < begun.start()

    assert order(destroyed) == sorted(order(destroyed))
    assert set(order(destroyed)) == {0, 1, 2, 3}
    assert ordered_jobs(requests) == ["plugin-aws-ebs0-nodes", "plugin-aws-ebs0-controller"]


STAGES = (
    r"VolumeRegistration",
    r"PluginJob aws-\w+-node",
    r"PluginJob aws-\w+-controller",
    r"aws:(ebs/volume|efs/\w+):",
)


def order(destroyed):
    """Return the stages of a tear-down as they came: registrations, node jobs, controllers, storage."""
    names = [f"{step['type']} {step['name']}" for step in destroyed["operations"] if step["op"] == "delete"]
    return [stage for name in names for stage, pattern in enumerate(STAGES) if re.search(pattern, name)]


def ordered_jobs(requests):
    """Return which jobs of the EBS plugin were stopped, in the order of the first request for each."""
    paths = [
        each["path"] for each in requests if each["method"] == "DELETE" and "/v1/job/plugin-aws-ebs0" in each["path"]
    ]
    return list(dict.fromkeys(path.rpartition("/")[2] for path in paths))
