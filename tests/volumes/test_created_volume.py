"""Volumes that a plugin makes are made once, grow in place, and lose their registration only, never their data."""

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.nomad import volumes
from nomad_csi.volumes import desired, ownership, volume_resource

VOLUME = volume_resource.CreatedVolumeResource()
PATH = "/v1/volume/csi/scratch"
CREATE = f"{PATH}/create"
IDENTITY = "prod/scratch"
PASSWORD = "canary-41aa"
GIB = 2**30
ZONE_A = {"segments": {"topology.kubernetes.io/zone": "us-east-1a"}}
ZONE_B = {"segments": {"topology.kubernetes.io/zone": "us-east-1b"}}
GIVEN = {
    "volumeId": "scratch",
    "namespace": "prod",
    "pluginId": "aws-ebs0",
    "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
    "mountOptions": {"fsType": "ext4"},
    "requiredTopologies": [ZONE_A, ZONE_B],
    "preferredTopologies": [ZONE_B],
    "parameters": {"type": "gp3"},
    "capacityMinBytes": 5 * GIB,
    "capacityMaxBytes": 8 * GIB,
    "snapshotId": "snap-1",
}
NEWS = VOLUME.check(GIVEN)[0]
ANSWERED = {"externalId": "vol-1", "capacityBytes": 5 * GIB, "context": {"partition": "1"}, "topologies": [ZONE_B]}
NONCE = "5e884898da28"
NAME = f"scratch-{NONCE}"
OUTPUTS = NEWS | ANSWERED
MADE = OUTPUTS | {"nonce": NONCE, "madeStorage": "vol-1", "createdName": NAME}
HELD = volumes.payload(desired.parse_inputs(NEWS)) | {
    "ExternalID": "vol-1",
    "Capacity": 5 * GIB,
    "Topologies": [None, {"Segments": ZONE_B["segments"]}],
    "Context": {"partition": "1"},
}
ABSENT = (404, "volume not found")


def differ(new_inputs, old=None, outputs=None):
    return VOLUME.diff(IDENTITY, NEWS if old is None else old, OUTPUTS if outputs is None else outputs, new_inputs)


@pytest.fixture(autouse=True)
def _world(scripted, monkeypatch):
    """Every nonce is known, and Nomad holds no volume beside this one."""
    monkeypatch.setattr(ownership, "new_nonce", lambda: NONCE)
    scripted.reply("GET", "/v1/volumes", 200, [])


@pytest.fixture(autouse=True)
def no_delete(scripted):
    """Whatever a test does: nobody has a volume's storage deleted, and nobody forces a deregistration."""
    yield
    for method, path, _ in scripted.requests:
        assert "/delete" not in path
        assert method != "DELETE" or path == f"{PATH}?namespace=prod" or path.startswith("/v1/var/")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"capacityMinBytes": 0}, "capacityMinBytes: expected greater than or equal to 1, got 0"),
        ({"capacityMaxBytes": 1.5}, "capacityMaxBytes: expected a valid integer, got 1.5"),
        (
            {"capacityMinBytes": 2, "capacityMaxBytes": 1},
            "capacityMaxBytes: expected capacityMinBytes or more, got 1 below 2",
        ),
        ({"cloneId": "vol-0"}, "cloneId: expected either cloneId or snapshotId, got both"),
        ({"externalId": "vol-0"}, "externalId: expected one of"),
    ],
)
def test_check_rejects_what_no_plugin_could_make(given, told):
    """Sizes that are none, an empty range, two sources, an id that the plugin gives."""
    _, problems = VOLUME.check(GIVEN | given)

    assert any(str(problem).startswith(told) for problem in problems), problems


def test_order_of_required_places_means_nothing(context, scripted, heard):
    """Not in the program, not in Nomad; what is sent keeps Nomad's order, which is fixed."""
    turned = HELD["RequestedTopologies"] | {"Required": HELD["RequestedTopologies"]["Required"][::-1]}
    held = HELD | {"RequestedTopologies": turned}
    scripted.reply("GET", PATH, 200, held)
    scripted.reply("PUT", PATH, 200, {"Warnings": "mind the gap"})

    new_inputs, _ = VOLUME.check(GIVEN | {"requiredTopologies": [ZONE_B, ZONE_A]})
    inputs, _ = VOLUME.read(context, IDENTITY, NEWS, OUTPUTS)
    VOLUME.update(context, IDENTITY, OUTPUTS, NEWS | {"capacityMinBytes": 6 * GIB})

    assert new_inputs == inputs == NEWS
    assert not differ(new_inputs).any
    [(_, body)] = scripted.sent("PUT")
    assert body["Volumes"][0]["RequestedTopologies"] == turned
    assert body["Volumes"][0]["Context"] == HELD["Context"]
    assert heard == {"warn": ["Nomad warns: mind the gap"], "status": ["plugin aws-ebs0 grows prod/scratch to 6GiB"]}


@pytest.mark.parametrize("others", [["first"], ["first", "second"]])
def test_create_that_answers_storage_of_another_volume_takes_its_registration_back(context, scripted, heard, others):
    """Two would write into one storage; nothing is deleted, and the error names both."""
    listed = [{"ID": name, "Namespace": "shop", "ExternalID": "vol-1", "PluginID": "p"} for name in others]
    own = {"ID": "scratch", "Namespace": "prod", "ExternalID": "vol-1", "PluginID": "aws-ebs0"}
    record = f"/v1/var/{ownership.path_of('scratch')}"
    scripted.replies["GET", "/v1/volumes"] = [(200, [*listed, own])]
    scripted.reply("GET", PATH, *ABSENT)
    scripted.reply("DELETE", record, 200, "")
    scripted.reply("PUT", CREATE, 200, {"Volumes": [HELD], "Warnings": "mind the gap"})
    scripted.reply("DELETE", PATH, 200, "")

    with pytest.raises(
        errors.RefusedError, match=f"vol-1 .* is registered as {', '.join(f'shop/{x}' for x in others)}:"
    ):
        VOLUME.create(context, NEWS | {"owner": "shop/prod"})

    assert [path.partition("?")[0] for path, _ in scripted.sent("DELETE")] == [PATH, record]
    assert heard == {"warn": ["Nomad warns: mind the gap"], "status": ["plugin aws-ebs0 creates prod/scratch"]}


@pytest.mark.parametrize("after", [(200, HELD), ABSENT], ids=["there", "gone again"])
def test_creation_says_what_is_not_known_and_what_happened_to_it_since(context, scripted, heard, after):
    """Which other volumes have its storage, without the right to list them; something else may have deregistered it."""
    scripted.replies["GET", "/v1/volumes"] = [(403, "Permission denied")]
    scripted.replies["GET", PATH] = [ABSENT, after]
    scripted.reply("PUT", CREATE, 200, {"Volumes": [HELD]})

    if after == ABSENT:
        with pytest.raises(
            resource.InitFailedError, match=r"^made as vol-1, but gone again: something else dereg"
        ) as gone:
            VOLUME.create(context, NEWS)
        assert gone.value.outputs["externalId"] == "vol-1"
    else:
        assert VOLUME.create(context, NEWS)[1]["externalId"] == "vol-1"
    [line] = heard["warn"]
    assert line.endswith("; not compared whether vol-1, made for prod/scratch, is another volume's, too")


def test_creation_says_that_another_stack_has_taken_the_volume_meanwhile(context, scripted, heard):
    """It is created and recorded: who has it, people decide."""
    record = {"Path": ownership.path_of("scratch"), "Items": {"id": "scratch", "owner": "bank/prod"}, "ModifyIndex": 9}
    scripted.replies["GET", PATH] = [ABSENT, (200, HELD)]
    scripted.replies["GET", f"/v1/var/{record['Path']}"] = [(404, "variable not found"), (200, record)]
    scripted.replies["PUT", f"/v1/var/{record['Path']}"] = [(200, {}), (409, record)]
    scripted.reply("PUT", CREATE, 200, {"Volumes": [HELD]})

    VOLUME.create(context, NEWS | {"owner": "shop/prod"})

    assert heard["warn"][-1].startswith(
        "volume prod/scratch belongs to stack bank/prod now, and was registered by this"
    )


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_storage_that_no_owner_record_keeps_is_not_created(context, scripted, method):
    """A token that may not read records, or not write them: an interrupted creation would be made again, empty."""
    scripted.reply("GET", PATH, *ABSENT)
    scripted.reply(method, f"/v1/var/{ownership.path_of('scratch')}", 403, "Permission denied")

    with pytest.raises(errors.RefusedError, match=r"was not created: .* the token lacks variables"):
        VOLUME.create(context, NEWS | {"owner": "shop/prod"})

    assert [path for path, _ in scripted.sent("PUT") if CREATE in path] == []


@pytest.mark.parametrize("record", [None, {"owner": "shop/prod", "created_name": "scratch-1"}], ids=["none", "begun"])
def test_token_that_may_only_read_variables_is_refused_new_storage_before_anything_is_sent(context, scripted, record):
    """Its policies say so: the preview is as strict as `up`."""
    path = ownership.path_of("scratch")
    rights = {"Paths": [{"PathSpec": "nomad-csi/*", "Capabilities": ["read", "list"]}]}
    rules = {"Namespaces": [{"Name": "prod", "Variables": rights}]}
    scripted.reply("GET", "/v1/acl/token/self", 200, {"AccessorID": "1", "Name": "reader", "Policies": ["reads"]})
    scripted.reply("GET", "/v1/acl/policy/reads", 200, {"Name": "reads", "RulesJSON": rules})
    scripted.reply("GET", PATH, *ABSENT)
    if record:
        scripted.reply("GET", f"/v1/var/{path}", 200, {"Path": path, "Items": record, "ModifyIndex": 9})
    new_inputs = NEWS | {"owner": "shop/prod"}

    for ask in (lambda: VOLUME.preflight(context, {}, new_inputs), lambda: VOLUME.create(context, new_inputs)):
        with pytest.raises(errors.RefusedError, match=r"was not created: .* the token lacks variables"):
            ask()
    assert scripted.sent("PUT") == []


@pytest.mark.parametrize("answer", [(0, None), (500, "1 error occurred: context deadline exceeded")])
def test_create_that_left_nothing_in_nomad_says_that_there_may_be_storage(context, scripted, answer):
    """The operator reads that running again finds it, by its name."""
    scripted.reply("GET", PATH, *ABSENT)
    scripted.reply("PUT", CREATE, *answer)

    with pytest.raises(errors.NomadApiError, match="may have made the storage all the same") as caught:
        VOLUME.create(context, NEWS)

    assert f"by the name {NAME} when this runs again" in str(caught.value)
    assert (caught.value.kind, len(scripted.sent("PUT"))) == ("ambiguous", 1)


def test_diff_of_places_that_the_storage_is_in_by_now_changes_nothing():
    """The plugin chose one of two: to ask for that one alone moves nothing."""
    made = OUTPUTS | {"topologies": [ZONE_B]}

    assert not VOLUME.diff(IDENTITY, NEWS, made, NEWS | {"requiredTopologies": [ZONE_B]}).any
    assert VOLUME.diff(IDENTITY, NEWS, made, NEWS | {"requiredTopologies": [ZONE_A]}).replaces


def test_deregistered_volume_does_not_get_empty_storage(context, scripted):
    """The plugin answers other storage: the id is deregistered again, and the refusal names both."""
    scripted.reply("GET", PATH, *ABSENT)
    scripted.reply("PUT", f"{PATH}/create", 200, {"Volumes": [HELD | {"ExternalID": "vol-9"}]})
    scripted.reply("DELETE", PATH, 200, {})

    with pytest.raises(errors.RefusedError, match="has storage vol-1, and plugin aws-ebs0 answered vol-9"):
        VOLUME.update(context, IDENTITY, OUTPUTS | {"deregistered": True}, NEWS)
    assert len(scripted.sent("DELETE")) == 1


def test_smaller_least_size_is_refused_before_anything_is_sent(context, scripted):
    """By the rule of `plan` and `apply`, also where the largest one stays."""
    scripted.reply("GET", PATH, 200, HELD | {"Capacity": 6 * GIB})

    for ask in (VOLUME.preflight, lambda *known: VOLUME.update(known[0], IDENTITY, *known[1:])):
        with pytest.raises(errors.RefusedError, match=f"capacityMinBytes: expected {5 * GIB} or more"):
            ask(context, OUTPUTS | {"capacityBytes": 6 * GIB}, NEWS | {"capacityMinBytes": 4 * GIB})
    assert scripted.sent("PUT") == []


@pytest.mark.parametrize("change", [{"capacityMinBytes": 7 * GIB}, {"secrets": {"key": PASSWORD}}])
def test_update_whose_answer_was_lost_and_that_is_not_in_force_fails(context, scripted, change):
    """Nothing is sent again unseen; whether secrets arrived, no read shows."""
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("PUT", PATH, 0)

    with pytest.raises(errors.NomadApiError):
        VOLUME.update(context, IDENTITY, OUTPUTS, NEWS | change)
    assert len(scripted.sent("PUT")) == 1


def test_a_replacement_needs_a_plugin_with_a_controller(context, scripted):
    """The preview looks at it before the volume goes."""
    plugin = {"ID": "aws-ebs1", "Nodes": {"a": {"AllocID": "x", "Healthy": True}}}
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("GET", "/v1/plugin/csi/aws-ebs1", 200, plugin)

    with pytest.raises(errors.RefusedError, match="with a healthy controller, got 'aws-ebs1': 0 of 0 are healthy"):
        VOLUME.preflight(context, OUTPUTS, NEWS | {"pluginId": "aws-ebs1"})
    context.operation.declare("nomad-csi:index:PluginHealth", "urn:health", {"pluginId": "aws-ebs1"})
    VOLUME.preflight(context, OUTPUTS, NEWS | {"pluginId": "aws-ebs1"})  # `up` waits until it is healthy


def test_proof_that_the_plugin_made_it_outlives_an_update_without_an_owner(context, scripted):
    """No owner record has it."""
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("PUT", PATH, 200, {"Warnings": ""})

    assert VOLUME.update(context, IDENTITY, MADE, NEWS)["madeStorage"] == "vol-1"


def test_create_refuses_an_unknown_namespace_before_anything_is_sent(context, scripted):
    """Nomad would notice when the plugin has made the storage, and forget about it."""
    scripted.reply("GET", PATH, *ABSENT)
    scripted.reply("GET", "/v1/namespace/prod", 404, "Namespace not found")

    with pytest.raises(errors.SpecError, match=r"namespace: expected a namespace of the cluster, got 'prod'"):
        VOLUME.create(context, NEWS)

    assert scripted.sent("PUT") == []
