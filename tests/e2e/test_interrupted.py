"""Runs that were killed, storage that the state does not know, an AWS emulator that died: `up` again goes on."""

import json
import os
import re
import signal

import pytest

from nomad_csi.nomad import cluster_identity, jobs, variables, volumes

JOBS = ["plugin-aws-ebs0-controller", "plugin-aws-ebs0-nodes", "plugin-aws-efs0-nodes"]


def kill_at(sandbox, pattern):
    """Start `up`, and kill it and the engine outright when a line of *pattern* comes; its providers go with it."""
    process = sandbox.start("up", "--engine", "emulator", "--nomad", "emulator")
    lines = []
    for line in process.stdout:
        lines.append(line)
        if re.search(pattern, line):
            os.killpg(process.pid, signal.SIGKILL)
            break
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL, "".join(lines)


def without(storage, driver):
    """Leave out of *storage* the plugin of *driver* and its volumes."""
    [plugin] = [plugin for plugin in storage["plugins"] if plugin["driver"] == driver]
    storage["plugins"].remove(plugin)
    storage["volumes"] = [volume for volume in storage["volumes"] if volume["plugin_id"] != plugin["id"]]


def in_nomad(sandbox):
    """Return the ids of all jobs, how many instances of each run, and the external ids of all volumes."""
    with sandbox.nomad() as client:
        found = sorted(job["ID"] for job in client.request("GET", "/v1/jobs").data)
        held = volumes.list_volumes(client, "*")
        external = {item.volume_id: volumes.get(client, item.namespace, item.volume_id).external_id for item in held}
        running = [
            sum(alloc.client_status == "running" for alloc in jobs.allocations(client, "default", job_id))
            for job_id in found
        ]
    return found, running, external


def declared(sandbox):
    """Return what the program declares, as found in the state: without the engine's own providers."""
    return {name for name in sandbox.resources() if not name.startswith("pulumi:providers:")}


def is_whole(sandbox):
    """Assert that everything is there once, in AWS, in Nomad and in the state, and that nothing is left to do."""
    made = sandbox.resources()
    [volume_id], [system_id] = sandbox.owned()
    point_id = made["aws:efs/accessPoint:AccessPoint shared"]["id"]
    external = {"mysql": volume_id, "shared": f"{system_id}::{point_id}"}
    assert in_nomad(sandbox) == (JOBS, [2, 2, 2], external)
    assert made["aws:ebs/volume:Volume mysql"]["id"] == volume_id
    assert made["aws:efs/fileSystem:FileSystem shared"]["id"] == system_id
    assert "pending_operations" not in json.loads(sandbox.state.read_text())["deployment"]
    assert "Nothing has changed" in sandbox.up(check=True).stdout


def test_killed_up_is_continued_by_up(sandbox, untouched):
    """
    Killed when an AWS resource is there, killed while it waits, killed when one volume is registered.

    What had begun stays among the pending operations until a refresh.
    """
    config = sandbox.config.read_text()
    sandbox.edit(lambda storage: without(storage, "aws-efs"))
    kill_at(sandbox, r"aws:ebs:Volume mysql created")
    first = sandbox.owned()[0]

    sandbox.config.write_text(config)
    kill_at(sandbox, r"PluginHealth aws-efs0 creating .* [01]/2 nodes")
    second = sandbox.owned()
    kill_at(sandbox, r"VolumeRegistration \w+ created")
    sandbox.up(check=True)
    pending = json.loads(sandbox.state.read_text())["deployment"]["pending_operations"]
    sandbox.run("up", "--refresh", check=True)

    assert [item["type"] for item in pending if item["resource"]["urn"].endswith("::aws-efs0")] == ["creating"]
    assert second[0] == first
    assert sandbox.owned() == second
    assert declared(sandbox) == declared(untouched)
    is_whole(sandbox)


@pytest.fixture
def forgotten(running):
    """The shared sandbox with a state that knows neither its volume nor its file system, nor what hangs on them."""
    kept = running.state.read_text()
    state = json.loads(kept)
    resources = state["deployment"]["resources"]
    lost = {
        item["urn"] for item in resources if item["type"] in ("aws:ebs/volume:Volume", "aws:efs/fileSystem:FileSystem")
    }
    while more := {item["urn"] for item in resources if lost & needs(item)} - lost:
        lost |= more
    state["deployment"]["resources"] = [item for item in resources if item["urn"] not in lost]
    running.state.write_text(json.dumps(state))
    yield running
    running.state.write_text(kept)


def needs(item):
    """Return the URNs that a resource cannot be without."""
    by_property = item.get("propertyDependencies", {}).values()
    return {item.get("parent"), *item.get("dependencies", ()), *(urn for urns in by_property for urn in urns)}


def test_storage_that_is_not_recorded_is_named_before_more_is_made(forgotten):
    """The refusal names the EBS volume and the way in; EFS refuses a second file system; nothing is made or registered."""
    [volume_id], [system_id] = forgotten.owned()
    seen = len(forgotten.requests())

    done = forgotten.up()

    assert done.returncode == 1
    assert f"EBS volumes {volume_id} were made for this stack" in done.stdout
    assert forgotten.owned() == ([volume_id], [system_id])
    assert {request["method"] for request in forgotten.requests()[seen:]} <= {"GET"}


def test_cluster_that_lost_its_identity_gets_the_same_one_again(running):
    """A preview and `up` are refused, and change nothing; with the printed command's variable, both go on as before."""
    owned, recorded = running.owned(), running.resources()
    with running.nomad() as client:
        here = cluster_identity.cluster_id(client)
        place = cluster_identity.NAMESPACE, cluster_identity.PATH
        assert variables.delete(client, *place, index=variables.get(client, *place).modify_index)
    seen = len(running.requests())

    refused = [running.run("preview"), running.up()]

    written = {request["path"] for request in running.requests()[seen:] if request["method"] != "GET"}
    for done in refused:
        assert done.returncode == 1
        assert f"volume default/mysql is recorded in cluster {here}, and at" in done.stdout
        assert f"`nomad var put -force -namespace default nomad-csi/cluster id={here}`" in done.stdout
    assert "/v1/var/nomad-csi/cluster" not in written
    assert running.owned() == owned
    with running.nomad() as client:
        cluster_identity.restore(client, here)
    assert "Nothing has changed" in running.up(check=True).stdout
    assert running.resources().keys() == recorded.keys()
