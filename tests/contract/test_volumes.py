"""Registering volumes, alone and many at once; reading, listing and forgetting them."""

import pytest

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

ONE = "unable to update volume: 1 error occurred:\n\t* {}\n\n"
ZONE = "topology.kubernetes.io/zone"
HERE = {"Required": [{"Segments": {ZONE: "us-east-1a"}}]}
THERE = {"Required": [{"Segments": {ZONE: "us-east-1b"}}]}
MODE = [{"AccessMode": "multi-node-multi-writer", "AttachmentMode": "file-system"}]
LONE = [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]
FULL = {
    "MountOptions": {"FSType": "nfs", "MountFlags": ["tls"]},
    "Secrets": {"key": "value"},
    "Parameters": {"p": "1"},
    "Context": {"encryptInTransit": "true"},
    "RequestedTopologies": HERE,
    "CloneID": "c",
}
GIB = 2**30
UNHELPFUL = "controller plugin returned an internal error, check the plugin allocation logs for more information"
VALIDATE = "controller validate volume: CSI.ControllerValidateVolume: "


def test_registration_reads_back_as_it_was_sent(client, fresh, volume, kept):
    """What the product compares; of secrets and flags only that flags are there."""
    volume_id = fresh("full")
    kept(volume(volume_id, **FULL))

    found = volumes.get(client, "default", volume_id)

    assert (found.volume_id, found.namespace, found.name) == (volume_id, "default", volume_id)
    assert (found.external_id, found.plugin_id) == ("fs-0123456789abcdef0", "efs")
    assert [(item.access_mode, item.attachment_mode) for item in found.capabilities] == [
        ("multi-node-multi-writer", "file-system")
    ]
    assert (found.mount_options.fs_type, found.has_mount_flags) == ("nfs", True)
    assert (found.context, found.parameters) == ({"encryptInTransit": "true"}, {"p": "1"})
    assert found.topologies == found.required_topologies == ({ZONE: "us-east-1a"},)
    assert (found.preferred_topologies, found.claims) == ((), ())
    assert (found.schedulable, found.controller_required) == (True, False)


def test_list_shows_the_volumes_of_one_disk(client, fresh, volume, kept):
    """In every namespace: the server filters."""
    one, other = fresh("one"), fresh("other")
    kept(volume(one, ExternalID="vol-0123456789abcdef7"))
    kept(volume(other, ExternalID="vol-0123456789abcdef8"))

    listed = volumes.list_volumes(client, "*", storage="vol-0123456789abcdef7")

    assert {item.volume_id for item in listed} == {one}


def test_secrets_and_flags_are_never_shown(agent, fresh, volume, kept):
    """Null, and a mark."""
    volume_id = fresh("secret")
    kept(volume(volume_id, **FULL))

    found = agent.get(f"/v1/volume/csi/{volume_id}")

    assert found["Secrets"] is None
    assert found["MountOptions"] == {"FSType": "nfs", "MountFlags": ["[REDACTED]"]}


def test_product_registers_reads_lists_and_forgets(client, fresh):
    """Its whole round."""
    volume_id = fresh("round")
    document = registration.VolumeRegistration(
        volume_id=volume_id,
        name=volume_id,
        external_id="fs-0123456789abcdef0",
        plugin_id="efs",
        capabilities=(registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system"),),
        required_topologies=({ZONE: "us-east-1a"},),
    )

    warnings = volumes.register(client, document)
    listed = [item for item in volumes.list_volumes(client, "*") if item.volume_id == volume_id]
    volumes.deregister(client, "default", volume_id)

    assert warnings == ""
    assert [(item.namespace, item.plugin_id, item.schedulable, item.readers, item.writers) for item in listed] == [
        ("default", "efs", True, 0, 0)
    ]
    assert listed[0].topologies == ({ZONE: "us-east-1a"},)
    assert volumes.get(client, "default", volume_id) is None


def test_reply_shows_the_volume_as_it_was_before(agent, fresh, volume, kept):
    """Zeros at first, and always the index before."""
    volume_id = fresh("reply")

    first = kept(volume(volume_id))
    second = kept(volume(volume_id))

    if not agent.has("registration-answers"):
        assert (first, second) == ("", "")
        return
    assert {name: first[name] for name in first if name not in {"Index", "Volumes"}} == {
        "KnownLeader": True, "LastContact": 0, "NextToken": "", "Warnings": "",
    }  # fmt: skip
    [shown], [again] = first["Volumes"], second["Volumes"]
    assert (shown["ModifyIndex"], shown["NodesHealthy"], shown["Schedulable"]) == (0, 0, False)
    assert (again["ModifyIndex"], again["NodesHealthy"], again["Schedulable"]) == (first["Index"], 1, True)
    assert second["Index"] > first["Index"]
    assert agent.get(f"/v1/volume/csi/{volume_id}")["ModifyIndex"] == second["Index"]


def test_free_volume_is_forgotten_with_an_empty_answer(agent, fresh, volume, kept):
    """No body, no type; the headers of a query."""
    volume_id = fresh("free")
    kept(volume(volume_id))

    status, body, headers = agent.call("DELETE", f"/v1/volume/csi/{volume_id}")

    assert (status, body, headers.get("Content-Type")) == (200, "", None)
    assert (headers["X-Nomad-KnownLeader"], headers["X-Nomad-LastContact"]) == ("true", "0")


def test_absent_volume_is_told_and_for_the_product_no_error(agent, client, fresh):
    """Its own sentence, with the id."""
    volume_id = fresh("absent")

    volumes.deregister(client, "default", volume_id)

    assert agent.refused("DELETE", f"/v1/volume/csi/{volume_id}") == (500, f"volume not found: {volume_id}")
    assert agent.refused("DELETE", f"/v1/volume/csi/{volume_id}?namespace=nobody")[0] == 500


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({}, {}),
        ({"MountOptions": None}, {"MountOptions": {"FSType": "", "MountFlags": None}}),
        ({"MountOptions": {}}, {"MountOptions": {"FSType": "", "MountFlags": None}}),
        ({"MountOptions": {"FSType": "x"}}, {"MountOptions": {"FSType": "x", "MountFlags": None}}),
        ({"Name": ""}, {}),
        ({"ExternalID": ""}, {}),
        ({"Parameters": None}, {}),
        ({"CloneID": ""}, {}),
        ({"Context": {"a": "b"}}, {"Context": {"a": "b"}}),
        ({"Context": None}, {}),
        ({"Secrets": None}, {}),
        ({"RequestedCapabilities": MODE + LONE}, {"RequestedCapabilities": MODE + LONE}),
        (
            {"RequestedCapabilities": [{"AccessMode": "bogus", "AttachmentMode": "file-system"}]},
            {"RequestedCapabilities": [{"AccessMode": "bogus", "AttachmentMode": "file-system"}]},
        ),
    ],
)
def test_free_volume_may_be_registered_again_with(agent, fresh, volume, kept, change, shown):
    """What is left out stays, but for mount options and secrets; a node plugin is not asked about modes."""
    volume_id = fresh("again")
    kept(volume(volume_id, **FULL))
    before = agent.get(f"/v1/volume/csi/{volume_id}")

    agent.register(volume(volume_id, **FULL) | change)

    after = agent.get(f"/v1/volume/csi/{volume_id}")
    if change == {"Context": None} and not agent.has("keeps-context"):
        shown = {"Context": {}}
    assert after == before | shown | {"ModifyIndex": after["ModifyIndex"]}
    assert after["ModifyIndex"] > before["ModifyIndex"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"Name": "other"}, ONE.format("volume name cannot be updated")),
        ({"ExternalID": "fs-1"}, ONE.format("volume external ID cannot be updated")),
        ({"PluginID": "nobody"}, "no CSI plugin named: nobody could be found"),
        ({"PluginID": "ebs"}, ONE.format("volume plugin ID cannot be updated")),
        ({"Parameters": {"p": "2"}}, ONE.format("volume parameters cannot be updated")),
        ({"CloneID": "d"}, ONE.format("volume clone ID cannot be updated")),
        ({"CloneID": "", "SnapshotID": "s"}, ONE.format("volume snapshot ID cannot be updated")),
        (
            {"RequestedTopologies": THERE},
            ONE.format("volume topology request update was not compatible with existing topology"),
        ),
        (
            {"RequestedTopologies": None},
            ONE.format("volume topology request update was not compatible with existing topology"),
        ),
        ({"RequestedCapabilities": []}, "validation: must include at least one capability block"),
        (
            {"RequestedCapacityMin": GIB},
            "unable to update volume: expand is not implemented by this controller plugin",
        ),
        (
            {"RequestedCapacityMin": 2 * GIB, "RequestedCapacityMax": GIB},
            "unable to update volume: max requested capacity (1.1 GB) less than or equal to min (2.1 GB)",
        ),
        (
            {"Name": "other", "ExternalID": "fs-2", "Parameters": {"q": "1"}},
            "unable to update volume: 3 errors occurred:\n\t* volume name cannot be updated\n"
            "\t* volume external ID cannot be updated\n\t* volume parameters cannot be updated\n\n",
        ),
    ],
)
def test_volume_cannot_be_registered_again_with(agent, fresh, volume, kept, change, text):
    """The sentence, and nothing is stored."""
    volume_id = fresh("fixed")
    kept(volume(volume_id, **FULL))
    before = agent.get(f"/v1/volume/csi/{volume_id}")

    body = {"Volumes": [volume(volume_id, **FULL) | change]}

    assert agent.refused("PUT", "/v1/volumes", body) == (500, text)
    assert agent.get(f"/v1/volume/csi/{volume_id}") == before


def test_topology_that_comes_later_is_ignored(agent, fresh, volume, kept):
    """Accepted, and without effect."""
    volume_id = fresh("late")
    kept(volume(volume_id))

    agent.register(volume(volume_id, RequestedTopologies=HERE))

    found = agent.get(f"/v1/volume/csi/{volume_id}")
    assert (found["Topologies"], found["RequestedTopologies"]) == ([], None)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({}, (500, "missing volume definition")),
        ({"Volumes": []}, (500, "missing volume definition")),
        ({"Volumes": [{"id": "x", "plugin_id": "p"}]},
         (500, "validation: missing plugin id, must include at least one capability block")),
        ({"Volumes": [{"PluginID": "efs", "RequestedCapabilities": MODE}]}, (500, "validation: missing volume id")),
        ({"Volumes": "x"}, (400, "json: cannot unmarshal string into Go struct field CSIVolumeRegisterRequest.Volumes "
                            "of type []*structs.CSIVolume")),
        ({"Volumes": [1]}, (400, "json: cannot unmarshal number into Go struct field CSIVolumeRegisterRequest.Volumes "
                            "of type structs.CSIVolume")),
        ({"Volumes": [{"RequestedCapacityMin": "x"}]},
         (400, "json: cannot unmarshal string into Go struct field CSIVolume.Volumes.RequestedCapacityMin of type int64")),
        ({"Volumes": [{"Name": 5}]},
         (400, "json: cannot unmarshal number into Go struct field CSIVolume.Volumes.Name of type string")),
        ({"Volumes": [{"Context": "x"}]},
         (400, "json: cannot unmarshal string into Go struct field CSIVolume.Volumes.Context of type map[string]string")),
        ({"Volumes": [{"Context": {"a": 1}}]},
         (400, "json: cannot unmarshal number into Go struct field CSIVolume.Volumes.Context of type string")),
        ({"Volumes": [{"MountOptions": "x"}]}, (400, "json: cannot unmarshal string into Go struct field "
                                                "CSIVolume.Volumes.MountOptions of type structs.CSIMountOptions")),
        ({"Volumes": [{"RequestedCapabilities": "x"}]},
         (400, "json: cannot unmarshal string into Go struct field CSIVolume.Volumes.RequestedCapabilities "
          "of type []*structs.CSIVolumeCapability")),
    ],
)  # fmt: skip
def test_wrong_bodies_are_refused(agent, body, answer):
    """Keys are Go's names, in any case; what is unknown is not seen."""
    assert agent.refused("PUT", "/v1/volumes", body) == answer


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"Namespace": "nobody"}, "volume {id} is in nonexistent namespace nobody"),
        ({"PluginID": "nobody"}, "no CSI plugin named: nobody could be found"),
        ({"PluginID": ""}, "validation: missing plugin id"),
        ({"PluginID": "gone"}, "no healthy controllers for CSI plugin: gone"),
        ({"CloneID": "a", "SnapshotID": "b"}, "validation: only one of snapshot_id and clone_id is allowed"),
        (
            {"RequestedTopologies": {"Required": [{"Segments": {}}], "Preferred": [{}]}},
            "validation: required topology is missing segments field, preferred topology is missing segments field",
        ),
        (
            {"PluginID": "ebs", "RequestedCapabilities": [{"AccessMode": "bogus", "AttachmentMode": "file-system"}]},
            VALIDATE + "unknown volume access mode: bogus",
        ),
        (
            {"PluginID": "ebs", "RequestedCapabilities": [{"AccessMode": "single-node-writer", "AttachmentMode": ""}]},
            VALIDATE + "unknown volume attachment mode: ",
        ),
    ],
)
def test_new_volume_is_refused(agent, client, fresh, volume, fields, text):
    """And the product's classes of refusal: try again, or not."""
    volume_id = fresh("new")

    body = {"Volumes": [volume(volume_id, **fields)]}

    assert agent.refused("PUT", f"/v1/volume/csi/{volume_id}", body) == (500, text.format(id=volume_id))
    with pytest.raises(errors.NomadApiError) as caught:
        client.request("PUT", f"/v1/volume/csi/{volume_id}", body=body)
    assert caught.value.kind == ("retry" if "no healthy controllers" in text else "refused")
    assert volumes.get(client, "default", volume_id) is None


def test_ebs_volume_that_is_not_there_is_refused_by_its_driver(agent, fresh, volume):
    """EC2's code is in the sentence; the volume's own id is not."""
    fields = {"PluginID": "ebs", "ExternalID": "vol-0123456789abcdef0", "RequestedCapabilities": LONE}

    status, text = agent.refused("PUT", "/v1/volumes", {"Volumes": [volume(fresh("ebs"), **fields)]})

    assert status == 500
    assert text.startswith(f"{VALIDATE}{UNHELPFUL}: rpc error: code = Internal desc = Could not get volume with ID")
    assert "InvalidVolume.NotFound" in text


def test_plugin_that_never_was_healthy_takes_any_volume(client, fresh, volume, kept):
    """Why registrations of ours wait for health: nobody is asked, and nothing could use it."""
    volume_id = fresh("garbage")

    kept(volume(volume_id, PluginID="mute"))

    assert volumes.get(client, "default", volume_id).schedulable is False


def test_namespace_of_the_body_goes_before_that_of_the_query(client, agent, fresh, volume):
    """And that of the query is for volumes that name none."""
    named, unnamed = fresh("named"), fresh("unnamed")
    items = [volume(named, Namespace="storage"), volume(unnamed, Namespace="")]

    for item in items:
        agent.register(item, namespace="storage" if item["Namespace"] == "" else "default")
    found = {item.volume_id for item in volumes.list_volumes(client, "storage")}

    for item in items:
        agent.call("DELETE", f"/v1/volume/csi/{item['ID']}?namespace=storage")
    assert {named, unnamed} <= found


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"PluginID": "nobody"}, "no CSI plugin named: nobody could be found"),
        ({"RequestedCapabilities": []}, "validation: must include at least one capability block"),
        ({"Namespace": "nobody"}, "volume {id} is in nonexistent namespace nobody"),
        ({"ID": ""}, "validation: missing volume id"),
    ],
)
def test_batch_with_one_bad_volume_stores_none(agent, client, fresh, volume, fields, text):
    """The sentence seldom says which."""
    first, bad, last = fresh("first"), fresh("bad"), fresh("last")

    body = {"Volumes": [volume(first), volume(bad) | fields, volume(last)]}

    assert agent.refused("PUT", "/v1/volumes", body) == (500, text.format(id=bad))
    assert [volumes.get(client, "default", volume_id) for volume_id in (first, last)] == [None, None]


def test_batch_whose_controller_refuses_one_stores_none(agent, client, world, fresh, volume):
    """The driver has seen the good one, Nomad has not kept it."""
    good = volume(fresh("good"), PluginID="ebs", ExternalID=world.ebs_volume, RequestedCapabilities=LONE)

    status, _ = agent.refused("PUT", "/v1/volumes", {"Volumes": [good, good | {"ID": "x", "ExternalID": "vol-0"}]})

    assert (status, volumes.get(client, "default", good["ID"])) == (500, None)


def test_batch_with_one_id_twice_must_mean_the_same(agent, client, fresh, volume, kept):
    """Equal ones are one; others are refused, and nothing is stored."""
    equal, other = fresh("equal"), fresh("other")
    kept(volume(equal), volume(equal))

    body = {"Volumes": [volume(other), volume(other, ExternalID="fs-1")]}

    assert agent.refused("PUT", "/v1/volumes", body) == (500, f"volume identity cannot be updated: {other}")
    assert volumes.get(client, "default", other) is None


def test_path_of_a_registration_is_not_looked_at(agent, client, fresh, volume):
    """The body rules; and it may be posted to the list."""
    ids = [fresh("put"), fresh("post")]

    statuses = [
        agent.call(method, path, {"Volumes": [volume(volume_id)]})[0]
        for volume_id, method, path in zip(ids, ("PUT", "POST"), ("/v1/volume/csi/other", "/v1/volumes"), strict=True)
    ]

    assert statuses == [200, 200]
    for volume_id in ids:
        volumes.deregister(client, "default", volume_id)


def test_id_with_brackets_is_found(client, fresh, volume, kept):
    """As those of volumes per allocation are; and the set of them by its own id, with those in it only."""
    name = fresh("data")
    kept(volume(f"{name}[10]"), volume(f"{name}[2]"), volume(f"{name}[x]"), volume(f"{name}-other[0]"))

    assert volumes.get(client, "default", f"{name}[2]").volume_id == f"{name}[2]"
    assert volumes.members(client, "default", name) == (
        f"{name} is a set: name each of its volumes: 'default/{name}[2]', 'default/{name}[10]'"
    )
    assert volumes.members(client, "default", f"{name}-none") == ""


def test_list_by_plugin_in_all_namespaces_is_empty(agent):
    """Nomad's own mistake, which the product avoids."""
    assert agent.get("/v1/volumes?type=csi&plugin_id=efs&namespace=*") == []


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/v1/volume/csi/plain/detach", (400, "detach requires node ID")),
        ("/v1/volume/csi/plain/detach?node=x", (500, "Unknown allocation")),
        ("/v1/volume/csi/nobody/detach?node=x", (500, "no such volume")),
    ],
)
def test_detach_does_not_work(agent, path, answer):
    """In this version of Nomad; nothing of ours asks for it."""
    assert agent.refused("DELETE", path) == answer
