"""The storage of a created volume, through a plugin that runs on an emulator of Nomad: kept for its id, or deleted with it."""

import dataclasses

import pytest

from nomad_csi import errors, nomad
from nomad_csi.csi import services
from nomad_csi.frame import resource
from nomad_csi.nomad import classify, variables, volumes
from nomad_csi.volumes import apply_volumes, deregistration, desired, hold, ownership, volume_resource
from tests import owner_labels, plugin_deletion
from tests.plugin_deletion import OWNER

IDENTITY, KEY = "default/scratch", ("default", "scratch")
VOLUME = volume_resource.CreatedVolumeResource()
REGISTRATION = volume_resource.VolumeRegistrationResource()
HOSTPATH = plugin_deletion.Driver(
    command="nomad-csi-sandbox-csi-plugin",
    arguments=("--driver", "csi-hostpath", "--nodeid=n1", "--endpoint=${CSI_ENDPOINT}"),
)
DELETES = {"skipFinalSnapshot": True}


@pytest.fixture(scope="module")
def running():
    """The cluster, for all tests."""
    with plugin_deletion.running(lambda _folder: HOSTPATH) as made:
        yield made


@pytest.fixture
def world(running):
    """The cluster without volumes and owner records, of which nothing was said or sent."""
    yield running
    running.clear()


def keeping(world, volume_id="scratch"):
    """Return the inputs of a volume whose storage stays."""
    return world.inputs(volume_id, onDestroy="keep", deletion=None)


def make(world, new_inputs):
    """Have the volume made: its outputs; forget what was said and sent until then."""
    outputs = VOLUME.create(world.context, new_inputs)[1]
    assert outputs["madeStorage"] == outputs["externalId"]
    world.sent.clear()
    world.said.clear()
    return outputs


def no(*_, **__):
    """Refuse to delete."""
    raise errors.CsiError("csi.sock", "the storage system is down", code="INTERNAL")


@pytest.mark.parametrize("is_skipped", [True, False])
def test_storage_goes_with_its_volume(world, is_skipped):
    """Deregistered by one request, deleted by the controller; the owner record goes too. Again, it is gone."""
    outputs = make(world, world.inputs(how={"skipFinalSnapshot": is_skipped}))

    VOLUME.delete(world.context, IDENTITY, outputs)

    assert (world.held(), world.storage()) == (None, set())
    assert world.changes == [("DELETE", "/v1/volume/csi/scratch")]
    assert owner_labels.read(world.client, [KEY]) == {}
    done = f"volume {IDENTITY} is deleted with its storage {outputs['externalId']}: "
    assert world.said[-1].startswith(done + ("done" if is_skipped else "last snapshot "))
    VOLUME.delete(world.context, IDENTITY, outputs)
    gone = f"volume {IDENTITY} was gone already: not registered, and {outputs['externalId']} is not known at /"
    assert world.said[-1].startswith(gone)


def test_confirmation_is_recorded_without_a_request_to_nomad(world):
    """The volume may be in use, and its plugin away."""
    outputs, new_inputs = make(world, keeping(world)), world.inputs()
    with world.cluster.state.lock:
        claims = world.cluster.state.volumes[KEY].claims
        claims["alloc"] = {"Mode": "write", "NodeID": "n", "AccessMode": "", "AttachmentMode": ""}

    changed = VOLUME.update(world.context, IDENTITY, outputs, new_inputs)

    assert world.changes == []
    assert (changed["onDestroy"], changed["madeStorage"]) == ("delete", outputs["externalId"])
    assert VOLUME.read(world.context, IDENTITY, new_inputs, changed) == (new_inputs, changed)


@pytest.mark.parametrize("is_wanted", [False, True])
def test_failed_deletion_is_kept_in_the_state(world, monkeypatch, is_wanted):
    """A refresh does not forget what is left; the same again finishes it, or the program has the volume again."""
    new_inputs = world.inputs(how=DELETES)
    outputs = make(world, new_inputs)
    with monkeypatch.context() as patched:
        patched.setattr(services, "delete_volume", no)
        with pytest.raises(errors.NomadCsiError, match=r"is not deleted: ") as failed:
            VOLUME.delete(world.context, IDENTITY, outputs)
    assert not isinstance(failed.value, errors.RefusedError)

    inputs, seen = VOLUME.read(world.context, IDENTITY, new_inputs, outputs)
    assert (inputs, seen) == (new_inputs, outputs | {"deregistered": True})
    assert f"`up` registers it again, with its storage {outputs['externalId']}" in world.said[-1]
    assert world.storage() == {outputs["externalId"]}

    if is_wanted:
        assert VOLUME.update(world.context, IDENTITY, seen, new_inputs) == outputs
        assert (world.held().external_id, world.storage()) == (outputs["externalId"], {outputs["externalId"]})
        assert owner_labels.read(world.client, [KEY]) == {KEY: OWNER}
    else:
        VOLUME.delete(world.context, IDENTITY, seen)
        assert (world.held(), world.storage()) == (None, set())


def register_by_another_hand(world, new_inputs):
    """Have the id registered for the storage of another volume, without an owner record; return that storage."""
    other = VOLUME.create(world.context, new_inputs | {"volumeId": "other", "name": "other"})[1]["externalId"]
    found = world.held("other").registration()
    for name in ("other", "scratch"):
        volumes.deregister(world.client, "default", name)
    volumes.register(world.client, dataclasses.replace(found, volume_id="scratch", name="scratch"))
    return other


def test_other_storage_under_the_id_is_not_deleted(world):
    """Somebody registered it anew; neither is."""
    new_inputs = world.inputs(how=DELETES)
    outputs = make(world, new_inputs)
    other = register_by_another_hand(world, new_inputs)
    ownership.OwnerRecords(world.client).release(KEY, ownership.NO_TOKEN, ownership.Requester(owner=OWNER))
    refreshed = VOLUME.read(world.context, IDENTITY, new_inputs, outputs)[1]

    for seen in (outputs, refreshed):
        with pytest.raises(errors.RefusedError, match=f"external id is {other} in Nomad"):
            VOLUME.delete(world.context, IDENTITY, seen)

    assert world.storage() == {outputs["externalId"], other}


def test_registration_of_another_hand_changes_neither_the_state_nor_the_storage(world):
    """A refresh keeps what the state knows; an update is refused; the printed way out registers the own storage."""
    new_inputs = keeping(world)
    outputs = make(world, new_inputs)
    other = register_by_another_hand(world, new_inputs)

    inputs, refreshed = VOLUME.read(world.context, IDENTITY, new_inputs, outputs | {"deregistered": True})
    assert (inputs, refreshed) == (new_inputs, outputs | {"otherStorage": other})
    assert "otherStorage" in VOLUME.diff(IDENTITY, inputs, refreshed, new_inputs).updates
    for ask in (VOLUME.preflight, lambda *known: VOLUME.update(known[0], IDENTITY, *known[1:])):
        with pytest.raises(errors.RefusedError, match=f"is {other} in Nomad, {outputs['externalId']} in the state"):
            ask(world.context, refreshed, new_inputs)

    volumes.deregister(world.client, *KEY)
    refreshed = VOLUME.read(world.context, IDENTITY, new_inputs, refreshed)[1]
    done = VOLUME.update(world.context, IDENTITY, refreshed, new_inputs)
    assert done["externalId"] == world.held().external_id == outputs["externalId"]
    assert not {"otherStorage", "deregistered"} & done.keys()


def test_volume_that_was_removed_and_is_declared_again_gets_its_storage(world):
    """As one of a set that shrinks and grows; with its last volume a stack loses its id. It is said when it is kept."""
    new_inputs = keeping(world) | {"ownerId": "9f86d081884c7d65"}
    outputs = make(world, new_inputs)
    storage = outputs["externalId"]
    VOLUME.delete(world.context, IDENTITY, outputs)

    VOLUME.preflight(world.context, {}, new_inputs | {"ownerId": resource.UNKNOWN})
    again = VOLUME.create(world.context, new_inputs | {"ownerId": "2bb80d537b1da3e3"})[1]

    assert again["externalId"] == again["madeStorage"] == storage
    assert world.storage() == {storage}
    command = f"`nomad-csi remove {IDENTITY} --forget {storage} --owner {OWNER}`"
    assert f"is kept for {IDENTITY}: to give it up, {command}" in world.said[0]
    assert f"volume {IDENTITY} gets the storage {storage} again, which is kept for it" in world.said
    VOLUME.delete(world.context, IDENTITY, again)
    [applied] = apply_volumes.apply(world.client, [desired.of_properties(VOLUME.declared, new_inputs)])
    assert (applied.status, applied.reason) == ("registered", f"gets its storage {storage} again")


@pytest.mark.parametrize("is_refreshed", [False, True])
def test_state_that_is_older_than_the_owner_record_gets_its_storage(world, is_refreshed):
    """The first one was given up, and another run of the stack had the plugin make the other: the record proves that."""
    new_inputs = keeping(world)
    old = make(world, new_inputs)
    volumes.deregister(world.client, *KEY)
    deregistration.give_up_storage(world.client, KEY, old["externalId"], ownership.Requester(owner=OWNER))
    new = VOLUME.create(world.context, new_inputs)[1]
    recorded = VOLUME.read(world.context, IDENTITY, new_inputs, old)[1] if is_refreshed else old

    done = VOLUME.update(world.context, IDENTITY, recorded, new_inputs)

    assert done["externalId"] == done["madeStorage"] == new["externalId"] != old["externalId"]


def test_replacement_of_the_same_id_gets_storage_of_its_own(world):
    """The old one stays, and no record keeps it: the new volume would get it again."""
    outputs, context = make(world, keeping(world)), world.context
    new_inputs = keeping(world) | {"parameters": {"tier": "fast"}}
    context.operation.declare(VOLUME.declared.token, context.urn, new_inputs)

    VOLUME.delete(context, IDENTITY, outputs)
    new = VOLUME.create(context, new_inputs)[1]

    assert len({outputs["externalId"], new["externalId"]}) == 2
    assert world.storage() == {outputs["externalId"], new["externalId"]}


def existing(new_inputs, **more):
    """Return the inputs of a registration of storage that exists, for the volume of *new_inputs*."""
    given = {name: new_inputs[name] for name in ("volumeId", "pluginId", "capabilities", "owner")}
    return REGISTRATION.check(given | more)[0]


@pytest.mark.parametrize("change", [{"pluginId": "another"}, {"externalId": "storage-of-mine"}])
def test_id_gets_no_other_storage_before_the_kept_one_is_given_up_by_name(world, change):
    """Of another plugin, or storage that exists: refused in the preview, with both and the way out."""
    new_inputs = keeping(world)
    outputs = make(world, new_inputs)
    VOLUME.delete(world.context, IDENTITY, outputs)
    kept = outputs["externalId"]
    kind, wanted = (
        (REGISTRATION, existing(new_inputs, **change)) if "externalId" in change else (VOLUME, new_inputs | change)
    )

    for ask in (lambda: kind.preflight(world.context, {}, wanted), lambda: kind.create(world.context, wanted)):
        with pytest.raises(
            errors.RefusedError, match=f"keeps storage {kept} of plugin storage .* --forget {kept} --ow"
        ):
            ask()

    assert (world.held(), world.storage()) == (None, {kept})


def test_id_of_existing_storage_that_was_deregistered_by_hand_gets_no_empty_storage(world):
    """Its next resource would have the plugin create some: refused in the preview, until the first is given up by name."""
    new_inputs = keeping(world)
    kept = make(world, new_inputs)["externalId"]
    volumes.deregister(world.client, *KEY)
    ownership.OwnerRecords(world.client).give_up(KEY, kept, is_registered=False)
    REGISTRATION.create(world.context, existing(new_inputs, externalId=kept, protect=True))
    volumes.deregister(world.client, *KEY)

    for ask in (
        lambda: VOLUME.preflight(world.context, {}, new_inputs),
        lambda: VOLUME.create(world.context, new_inputs),
    ):
        with pytest.raises(errors.RefusedError, match=f"keeps storage {kept} of plugin storage .* --forget {kept} "):
            ask()
    assert (world.held(), world.storage()) == (None, {kept})

    deregistration.give_up_storage(world.client, KEY, kept, ownership.Requester(owner=OWNER))
    assert VOLUME.create(world.context, new_inputs)[1]["externalId"] != kept


def test_volume_that_was_taken_over_is_registered_again_with_its_storage(world, monkeypatch):
    """Without rights to variables, by a state that lost it: the state has the name by which the plugin finds it."""
    new_inputs = keeping(world)
    made = volumes.create(world.client, desired.parse_inputs(new_inputs | {"name": "theirs"})).volume

    def denied(_client, _namespace, path, *_, **__):
        raise errors.NomadApiError("GET", path, "Permission denied", status=403, kind="refused")

    for name in ("get", "put"):
        monkeypatch.setattr(variables, name, denied)
    with nomad.Nomad(world.client.connection) as client:
        blind = resource.Context(connect=lambda: client, warn=world.said.append)
        taken = VOLUME.create(blind, new_inputs)[1]
        volumes.deregister(world.client, *KEY)
        inputs, refreshed = VOLUME.read(blind, IDENTITY, new_inputs, taken)
        done = VOLUME.update(blind, IDENTITY, refreshed, inputs)
        VOLUME.delete(blind, IDENTITY, done)

    assert done["externalId"] == made.external_id == world.held().external_id
    assert f"volume {IDENTITY} stays registered: without an owner record it is not known" in world.said[-1]
    assert world.storage() == {done["externalId"]}
    assert "madeStorage" not in done


ERRORS = {
    "Internal": (500, "rpc error: code = Internal desc = timed out waiting for the volume", True),
    "AlreadyExists": (500, "rpc error: code = AlreadyExists desc = with other parameters", True),
    "no code": (500, "could not be registered", True),
    "leader lost before it was stored": (500, "node is not the leader", True),
    "id that another run registered meanwhile": (500, "volume identity cannot be updated", True),
    "proxy": (503, "upstream connect error or disconnect/reset before headers", True),
    "no leader": (500, "No cluster leader", False),
    "InvalidArgument": (500, "rpc error: code = InvalidArgument desc = type gp9", False),
    "denied": (403, "Permission denied", False),
}


@pytest.mark.parametrize(("status", "message", "is_kept"), ERRORS.values(), ids=ERRORS)
def test_plugin_error_after_it_made_the_storage_keeps_the_record_by_which_the_next_run_finds_the_storage(
    world, monkeypatch, status, message, is_kept
):
    """The plugin answers it after it has made the storage: the next run finds that, and makes no second one."""
    create, new_inputs = volumes.create, keeping(world)

    def late(client, wanted, **more):
        if is_kept:
            create(client, wanted, **more)
            volumes.deregister(client, *KEY)
        path = "/v1/volume/csi/scratch/create"
        call = classify.Call(method="PUT", path=path, namespace=KEY[0], has_token=True)
        found = classify.answered(call, status, message)
        raise errors.NomadApiError("PUT", path, message, status=status, kind=found.kind, advice=found.advice)

    with monkeypatch.context() as patched:
        patched.setattr(volumes, "create", late)
        with pytest.raises(errors.NomadApiError, match="makes no second one" if is_kept else message):
            VOLUME.create(world.context, new_inputs)
    assert bool(ownership.OwnerRecords(world.client).known([KEY])) == is_kept

    VOLUME.create(world.context, new_inputs)
    assert world.storage() == {world.held().external_id}


def test_record_without_the_created_storage_is_completed_by_the_next_run(world, monkeypatch):
    """The write after the creation fails: the step fails, and the state has the storage."""
    write, new_inputs = variables.put, keeping(world)

    def failing(client, namespace, path, items, *, index):
        if "external_id" in items:
            raise errors.NomadApiError("PUT", path, "No cluster leader", status=500, kind="retry")
        return write(client, namespace, path, items, index=index)

    with monkeypatch.context() as patched:
        patched.setattr(variables, "put", failing)
        with pytest.raises(resource.InitFailedError, match="No cluster leader") as failed:
            VOLUME.create(world.context, new_inputs)
    outputs = failed.value.outputs
    assert outputs["externalId"] == outputs["madeStorage"] == world.held().external_id

    assert VOLUME.update(world.context, IDENTITY, outputs, new_inputs)["externalId"] == outputs["externalId"]
    assert ownership.OwnerRecords(world.client).known([KEY])[KEY].external_id == outputs["externalId"]


def test_storage_that_a_record_keeps_holds_what_it_is_in(world):
    """Not in the run that removes the volume, too; in the next one its owner gives it up by name."""
    outputs = make(world, keeping(world))
    same_run, kind = world.context, hold.StorageHoldResource()
    system = {"storageId": outputs["externalId"], "owner": OWNER}
    VOLUME.delete(same_run, IDENTITY, outputs)

    with pytest.raises(errors.RefusedError, match=f"--forget {outputs['externalId']} --owner {OWNER}`"):
        kind.delete(world.context, system["storageId"], system)

    kind.delete(same_run, system["storageId"], system)
