"""An id keeps its storage: whoever has its volume removed, adopted, registered for other storage, or created in vain."""

import dataclasses

import pytest

from nomad_csi import errors, nomad
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import resource
from nomad_csi.nomad import variables, volume_creation, volumes
from nomad_csi.volumes import (
    created_volume,
    deregistration,
    desired,
    hold,
    registration_ownership,
    volume_registration,
)
from tests.resources.created import test_created_deletion_steps as steps

running, world = steps.running, steps.world
IDENTITY, KEY, OTHER = steps.IDENTITY, steps.KEY, steps.OTHER
VOLUME = created_volume.CreatedVolumeResource()


def make(world):
    return steps.make(world, on_destroy="keep")


def test_volume_that_was_removed_and_is_declared_again_gets_its_storage(world):
    """As one of a set that shrinks and grows; the preview names the storage."""
    news = steps.inputs_of(world, on_destroy="keep") | {"ownerId": "9f86d081884c7d65"}
    outputs = VOLUME.create(world.context, news)[1]
    VOLUME.delete(world.context, IDENTITY, outputs)

    news |= {"ownerId": "2bb80d537b1da3e3"}  # with its last volume a stack loses its id
    VOLUME.preflight(world.context, {}, news | {"ownerId": resource.UNKNOWN})
    again = VOLUME.create(world.context, news)[1]

    storage = outputs["externalId"]
    assert again["externalId"] == again["madeStorage"] == storage
    assert world.storage() == {storage}
    assert (
        f"is kept for {IDENTITY}: to give it up, `nomad-csi remove {IDENTITY} --forget {storage} --owner {steps.OWNER}`"
        in world.said[0]
    )
    assert f"volume {IDENTITY} gets the storage {storage} again, which is kept for it" in world.said


def test_adopted_id_keeps_the_storage_that_its_record_names(world):
    """Another stack's record of a removed volume: adopting it is not giving it up."""
    news, outputs = make(world)
    VOLUME.delete(world.context, IDENTITY, outputs)

    taken = VOLUME.create(world.context, news | {"owner": OTHER, "adopt": True})[1]

    assert taken["externalId"] == outputs["externalId"]
    assert registration_ownership.owner_records_of(world.client).known([KEY])[KEY].owner == OTHER


@pytest.mark.parametrize("change", [{"pluginId": "another"}, {"externalId": "storage-of-mine"}])
def test_id_gets_no_other_storage_before_the_kept_one_is_given_up_by_name(world, change):
    """Of another plugin, or storage that exists: refused in the preview, with both and the way out."""
    news, outputs = make(world)
    VOLUME.delete(world.context, IDENTITY, outputs)
    kept = outputs["externalId"]
    kind, wanted = VOLUME, news | change
    if "externalId" in change:
        kind = volume_registration.VolumeRegistrationResource()
        given = {name: news[name] for name in ("volumeId", "pluginId", "capabilities", "owner")}
        wanted = kind.check(given | change)[0]

    for ask in (lambda: kind.preflight(world.context, {}, wanted), lambda: kind.create(world.context, wanted)):
        with pytest.raises(
            errors.RefusedError, match=f"keeps storage {kept} of plugin hostpath .* --forget {kept} --owner "
        ):
            ask()

    assert (world.held(), world.storage()) == (None, {kept})


def test_id_of_existing_storage_that_was_deregistered_by_hand_gets_no_empty_storage(world):
    """Its next resource would have the plugin create some: refused in the preview, until the first is given up by name."""
    news, made = make(world)
    kept, owner = made["externalId"], steps.OWNER
    volumes.deregister(world.client, *KEY)
    registration_ownership.owner_records_of(world.client).give_up(KEY, kept, is_registered=False)
    kind = volume_registration.VolumeRegistrationResource()
    given = {name: news[name] for name in ("volumeId", "pluginId", "capabilities", "owner")}
    kind.create(world.context, kind.check(given | {"externalId": kept, "protect": True})[0])
    volumes.deregister(world.client, *KEY)

    for ask in (lambda: VOLUME.preflight(world.context, {}, news), lambda: VOLUME.create(world.context, news)):
        with pytest.raises(errors.RefusedError, match=f"keeps storage {kept} of plugin hostpath .* --forget {kept} "):
            ask()
    assert (world.held(), world.storage()) == (None, {kept})

    deregistration.give_up_storage(world.client, KEY, kept, registration_ownership.Requester(owner=owner))
    assert VOLUME.create(world.context, news)[1]["externalId"] != kept


def test_registration_of_another_hand_changes_neither_the_state_nor_the_storage(world):
    """A refresh keeps what the state knows; an update is refused; the printed way out registers the own storage."""
    news, outputs = make(world)
    other = VOLUME.create(world.context, news | {"volumeId": "other", "name": "other"})[1]["externalId"]
    found = world.held("other").registration()
    for name in ("other", "scratch"):
        volumes.deregister(world.client, "default", name)
    volumes.register(world.client, dataclasses.replace(found, volume_id="scratch", name="scratch"))

    inputs, refreshed = VOLUME.read(world.context, IDENTITY, news, outputs)
    assert (inputs, refreshed["externalId"], refreshed["otherStorage"]) == (news, outputs["externalId"], other)
    assert "otherStorage" in VOLUME.diff(IDENTITY, inputs, refreshed, news).updates
    for ask in (VOLUME.preflight, lambda *known: VOLUME.update(known[0], IDENTITY, *known[1:])):
        with pytest.raises(errors.RefusedError, match=f"is {other} in Nomad, {outputs['externalId']} in the state"):
            ask(world.context, refreshed, news)

    volumes.deregister(world.client, *KEY)
    inputs, refreshed = VOLUME.read(world.context, IDENTITY, news, refreshed)
    done = VOLUME.update(world.context, IDENTITY, refreshed, news)
    assert done["externalId"] == world.held().external_id == outputs["externalId"]
    assert not {"otherStorage", "deregistered"} & done.keys()


@pytest.fixture
def blind(world, monkeypatch):
    """A context whose token has no rights to variables."""

    def denied(_client, _namespace, path, *_, **__):
        raise errors.NomadApiError("GET", path, "Permission denied", status=403, kind="refused")

    with nomad.Nomad(world.client.connection) as client, monkeypatch.context() as patched:
        for name in ("get", "put"):
            patched.setattr(variables, name, denied)
        yield resource.Context(connect=lambda: client, warn=world.said.append)


def test_volume_that_was_taken_over_is_registered_again_with_its_storage(world, blind):
    """Without rights to variables, by a state that lost it: the state has the name by which the plugin finds it."""
    news = steps.inputs_of(world, on_destroy="keep")
    made = volume_creation.create(world.client, desired.parse_inputs(news | {"name": "theirs"})).volume

    taken = VOLUME.create(blind, news)[1]
    volumes.deregister(world.client, *KEY)
    inputs, refreshed = VOLUME.read(blind, IDENTITY, news, taken)
    done = VOLUME.update(blind, IDENTITY, refreshed, inputs)

    assert done["externalId"] == made.external_id
    assert world.storage() == {done["externalId"]}
    assert "madeStorage" not in done


def test_volume_that_was_adopted_is_registered_again_with_its_storage(world):
    """It was created for another stack, whose record has the name."""
    news, outputs = make(world)
    news |= {"owner": OTHER, "adopt": True}

    taken = VOLUME.create(world.context, news)[1]
    volumes.deregister(world.client, *KEY)
    refreshed = VOLUME.read(world.context, IDENTITY, news, taken)[1]
    done = VOLUME.update(world.context, IDENTITY, refreshed, news)

    assert (taken["createdName"], done["externalId"]) == (outputs["createdName"], outputs["externalId"])


def test_nothing_is_created_without_rights_to_variables(world, blind):
    """No record would keep it: a run that is interrupted, or a volume that is declared again, would get empty storage."""
    news = steps.inputs_of(world, on_destroy="keep")

    for ask in (lambda: VOLUME.preflight(blind, {}, news), lambda: VOLUME.create(blind, news)):
        with pytest.raises(errors.RefusedError, match=r"was not created: .* the token lacks variables"):
            ask()

    assert world.storage() == set()


ERRORS = {
    "Internal": (500, "rpc error: code = Internal desc = timed out waiting for the volume", True),
    "AlreadyExists": (500, "rpc error: code = AlreadyExists desc = with other parameters", True),
    "no code": (500, "could not be registered", True),
    "InvalidArgument": (500, "rpc error: code = InvalidArgument desc = type gp9", False),
    "denied": (403, "Permission denied", False),
}


@pytest.mark.parametrize("error", ERRORS)
def test_plugin_error_after_it_made_the_storage_keeps_the_record_by_which_the_next_run_finds_the_storage(
    world, monkeypatch, error
):
    """The plugin answers it after it has made the storage: the next run finds that, and makes no second one."""
    status, message, is_kept = ERRORS[error]
    create = volume_creation.create
    news = steps.inputs_of(world, on_destroy="keep")

    def late(client, wanted, **more):
        if is_kept:
            create(client, wanted, **more)
            volumes.deregister(client, *KEY)
        raise errors.NomadApiError("PUT", "/v1/volume/csi/scratch/create", message, status=status, kind="refused")

    with monkeypatch.context() as patched:
        patched.setattr(volume_creation, "create", late)
        with pytest.raises(errors.NomadApiError, match="makes no second one" if is_kept else message):
            VOLUME.create(world.context, news)
    records = registration_ownership.owner_records_of(world.client).known([KEY])
    assert bool(records) == is_kept

    VOLUME.create(world.context, news)
    assert world.storage() == {world.held().external_id}


def test_storage_that_a_record_keeps_holds_what_it_is_in(world):
    """Not in the run that removes the volume, too; in the next one its owner gives it up by name."""
    _, outputs = make(world)
    same_run, kind = world.context, hold.StorageHoldResource()
    system = {"storageId": outputs["externalId"], "owner": steps.OWNER}
    VOLUME.delete(same_run, IDENTITY, outputs)

    with pytest.raises(errors.RefusedError, match=f"--forget {outputs['externalId']} --owner {steps.OWNER}`"):
        kind.delete(world.context, system["storageId"], system)

    kind.delete(same_run, system["storageId"], system)


def test_record_that_came_during_the_run_holds_its_storage(world):
    """Records are looked at right before the deletion, and not once a run."""
    run = world.context
    hold.read(run, storage_identity.identify("fs-0123456789abcdef0"), KEY[0])
    _, outputs = make(world)
    VOLUME.delete(world.context, IDENTITY, outputs)

    with pytest.raises(errors.RefusedError, match=f"--forget {outputs['externalId']} "):
        hold.StorageHoldResource().delete(run, outputs["externalId"], {"storageId": outputs["externalId"]})
