"""A volume is registered again in one step: checked first, and put back where Nomad does not take its replacement."""

from unittest import mock

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.health import plugin_health
from nomad_csi.nomad import volumes
from nomad_csi.volumes import desired, observe, sending, steps, volume_properties, volume_resource
from tests.volumes import test_volume_registration as samples

VOLUME = volume_resource.VolumeRegistrationResource()
PATH, PLUGIN = samples.PATH, "/v1/plugin/csi/aws-ebs0"
IDENTITY, HELD, CLAIM = samples.IDENTITY, samples.HELD, samples.CLAIM
PASSWORD = "canary-5f1c"
OLD = samples.NEWS | {"secrets": {"password": PASSWORD}}
OUTPUTS = OLD | {"controllerRequired": True}
NEWS = OLD | {"externalId": "vol-2"}
MOVED = HELD | {"ExternalID": "vol-2"}
HEALTHY = {
    "ID": "aws-ebs0",
    "ControllerRequired": True,
    "Controllers": {"id-a": {"AllocID": "alloc-c", "Healthy": True}},
    "Nodes": {"id-a": {"AllocID": "alloc-n", "Healthy": True}},
}
REFUSAL = "controller validate volume: rpc error: code = NotFound desc = no vol-2"
GONE, NO_LEADER = (404, "volume not found"), (500, "No cluster leader")
ENDING = CLAIM | {"Allocations": [CLAIM["Allocations"][0] | {"DesiredStatus": "stop"}]}
OTHER = {"ExternalID": "vol-9"}


@pytest.fixture
def answers(scripted):
    """Queue what Nomad answers of the volume: ``answers(reads, registrations, deregistration)``, pairs each."""

    def queue(reads, registrations=(), deregistration=(200, "")):
        scripted.reply("GET", PLUGIN, 200, HEALTHY)
        for status, body in reads:
            scripted.reply("GET", PATH, status, body)
        for status, body in registrations:
            scripted.reply("PUT", PATH, status, body)
        scripted.reply("DELETE", PATH, *deregistration)

    return queue


@pytest.fixture
def wrote(scripted):
    """Return a function that gives what was changed, in order: deregistrations, and documents that were sent."""

    def given():
        return [
            body["Volumes"][0]["ExternalID"] if body else verb
            for verb, path, body in scripted.requests
            if verb != "GET" and path.startswith(PATH)
        ]

    return given


def update(context, new_inputs=NEWS, recorded=OUTPUTS):
    return VOLUME.update(context, IDENTITY, recorded, new_inputs)


@pytest.mark.parametrize("flags", [["noatime"], None])
def test_a_new_registration_that_is_refused_is_undone(context, answers, wrote, scripted, flags):
    """With secrets and mount flags, which Nomad shows nobody; without flags where it had none."""
    places = HELD["Topologies"]  # where it is by now, whatever was asked for
    asked = {"Required": [*places, {"Segments": {"topology.ebs.csi.aws.com/zone": "b"}}], "Preferred": places}
    held = HELD | {
        "MountOptions": {"FSType": "ext4", "MountFlags": flags and ["[REDACTED]"]},
        "RequestedTopologies": asked,
    }
    answers([(200, held), GONE, (200, held)], [(500, REFUSAL), (200, {})])

    with pytest.raises(errors.NomadCsiError) as failed:
        update(context)

    assert wrote() == ["DELETE", "vol-2", "vol-1"]
    [_, back] = [body["Volumes"][0] for _, body in scripted.sent("PUT")]
    assert back["Secrets"] == {"password": PASSWORD}
    assert back["MountOptions"] == {"FSType": "ext4"} | ({"MountFlags": flags} if flags else {})
    assert back["RequestedTopologies"] == {"Required": places}
    assert back["Context"] == {"tier": "fast"}
    assert str(failed.value).startswith(
        "volume prod/mysql is registered for vol-1 as before: its replacement failed, and the old registration was put "
        "back: "
    )
    assert REFUSAL in str(failed.value)


@pytest.mark.parametrize("again", [(500, "rpc error: Permission denied"), NO_LEADER], ids=["refused", "for good"])
def test_what_could_not_be_put_back_is_said_with_what_mends_it(context, answers, wrote, again):
    """Nobody is to find out by a job that does not start; an outage is not waited out for ever."""
    answers([(200, HELD), GONE], [(500, REFUSAL), again])

    with pytest.raises(errors.NomadCsiError) as failed:
        update(context)

    told = str(failed.value)
    assert wrote()[:3] == ["DELETE", "vol-2", "vol-1"]
    assert len(wrote()) == 3 or again == NO_LEADER
    assert told.startswith("volume prod/mysql is NOT registered now: ")
    assert REFUSAL in told
    assert "putting back its registration for vol-1 failed, too: " in told
    assert told.endswith(
        "its storage was not touched; correct the cause and run `pulumi up`, which registers what the program declares"
    )


def test_an_outage_of_nomad_in_between_is_waited_out(context, answers, wrote, heard):
    """A change of leader must not leave the volume unregistered."""
    answers([(200, HELD), (0, None), NO_LEADER, GONE, GONE, (200, HELD)], [NO_LEADER, NO_LEADER, (200, {})])

    with pytest.raises(errors.NomadCsiError, match="is registered for vol-1 as before"):
        update(context)

    assert wrote() == ["DELETE", "vol-2", "vol-1", "vol-1"]
    assert all(line.startswith("not registered, trying to put it back: ") for line in heard["status"])


def test_a_new_registration_whose_answer_was_lost_is_found(context, answers, wrote):
    """Nomad goes on without its caller: the new one is what was wanted."""
    answers([(200, HELD), (200, MOVED), (200, MOVED)], [(0, None)])

    assert update(context)["externalId"] == "vol-2"
    assert wrote() == ["DELETE", "vol-2"]


def test_owner_record_is_written_before_the_old_registration_goes(context, answers, scripted):
    """No other stack takes the id between the two."""
    answers([(200, HELD), (200, MOVED)], [(200, {})])

    update(context, NEWS | {"owner": "shop/prod"}, OUTPUTS | {"owner": "shop/prod"})

    changes = [(verb, path.partition("?")[0]) for verb, path, _ in scripted.requests if verb != "GET"]
    identity, record = (("PUT", f"/v1/var/nomad-csi/{name}") for name in ("cluster", "volumes/mysql"))
    assert changes == [identity, record, ("DELETE", PATH), record, ("PUT", PATH), record]


def test_new_registration_that_is_refused_afterwards_is_no_success(context, answers, monkeypatch):
    """As where another stack acquires the volume at that moment: Nomad has what was wanted."""
    answers([(200, HELD), (200, MOVED)])
    monkeypatch.setattr(steps, "register", mock.Mock(side_effect=errors.RefusedError("of stack bank/prod now")))

    with pytest.raises(errors.RefusedError, match=r"^of stack bank/prod now$"):
        update(context)


FIXED = "unable to update volume: 1 error occurred:\n\t* volume external ID cannot be updated\n\n"
CHANGED = "is not as recorded any more; nothing was changed: "
LEFT = {
    "another registration in between": (
        [HELD, HELD | OTHER],
        "was registered for vol-9 meanwhile",
        ["DELETE", "vol-2"],
    ),
    "a claim in the last moment": ([HELD, HELD | CLAIM], "prod/db", ["DELETE"]),
    "other storage while claims end": ([HELD | ENDING, HELD | OTHER], "vol-9 in Nomad, vol-1 in the state", []),
    "a claim that does not end": ([HELD | ENDING, HELD | CLAIM], "prod/db", []),
    "other storage since it was read": ([HELD | OTHER], CHANGED, []),
    "another plugin": ([HELD | {"PluginID": "other"}], CHANGED, []),
    "other parameters": ([HELD | {"Parameters": {"a": "b"}}], CHANGED, []),
}


@pytest.mark.parametrize(("reads", "reason", "expected"), LEFT.values(), ids=LEFT)
def test_what_is_in_use_or_changed_meanwhile_is_not_taken_away(context, answers, wrote, reads, reason, expected):
    """It is neither ours to change nor to hide; what is claimed in the last moment is Nomad's to refuse."""
    is_in_use = expected == ["DELETE"]
    answers([(200, each) for each in reads], [(500, FIXED)], (500, "volume in use: mysql") if is_in_use else (200, ""))

    with pytest.raises(errors.NomadCsiError, match=reason):
        update(context)
    assert wrote() == expected


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        ((404, "plugin not found"), "expected a CSI plugin that Nomad has (aws-ebs1), got 'aws-ebs0'; run the"),
        ((200, {"ID": "aws-ebs0"}), "expected a healthy plugin, got 'aws-ebs0': no instance is healthy; check"),
        (
            (200, HEALTHY | {"Controllers": {"id-a": {"AllocID": "alloc-c", "Healthy": False}}}),
            "expected a plugin with a healthy controller, got 'aws-ebs0': 0 of 1 are healthy; check its jobs",
        ),
    ],
)
def test_a_new_registration_that_cannot_work_takes_nothing_away(context, scripted, wrote, plugin, expected):
    """Neither in the preview nor in the update."""
    scripted.reply("GET", PLUGIN, *plugin)
    scripted.reply("GET", "/v1/plugins", 200, [{"ID": "aws-ebs1"}])
    scripted.reply("GET", PATH, 200, HELD)

    with pytest.raises(errors.RefusedError) as previewed:
        VOLUME.preflight(context, OUTPUTS, NEWS)
    with pytest.raises(errors.RefusedError) as updated:
        update(context)

    assert str(previewed.value) == str(updated.value)
    assert str(updated.value).startswith("prod/mysql stays as it is, because its replacement would not work: ")
    assert expected in str(updated.value)
    assert wrote() == []


def test_a_plugin_that_the_run_brings_need_not_be_there_in_a_preview(context, scripted, wrote, heard):
    """The program waits for it before it registers; the update looks. A new volume of no known plugin is a warning."""
    scripted.reply("GET", "/v1/plugins", 200, [])
    scripted.reply("GET", "/v1/plugin/csi/new", 404, "plugin not found")
    scripted.reply("GET", PATH, 200, HELD)
    context.operation.declare(plugin_health.PluginHealthResource.declared.token, "urn:health", {"pluginId": "new"})

    VOLUME.preflight(context, OUTPUTS, OLD | {"pluginId": "new"})
    with pytest.raises(errors.RefusedError):
        update(context, OLD | {"pluginId": "new"})
    scripted.reply("GET", "/v1/volume/csi/moved", 404, "volume not found")
    for plugin_id in ("new", resource.UNKNOWN, "gone"):
        VOLUME.preflight(context, {}, OLD | {"volumeId": "moved", "pluginId": plugin_id})

    assert wrote() == []
    assert heard["warn"] == [
        "pluginId: expected a CSI plugin that Nomad has (none), got 'gone'; run the plugin's job first; `up` fails unless "
        "this run starts it first"
    ]


def test_registration_of_a_program_is_tried_once(context):
    """With the time of a request for the reads around it, too."""
    clock = context.client.clock

    assert steps._single_attempt(context) == sending.RetryPolicy(
        deadline=clock.now() + 300, attempts=1, report=context.warn, cancelled=context.cancelled, clock=clock
    )


def test_an_interruption_before_the_deregistration_changes_nothing(context, answers, wrote):
    """And is answered as one."""
    answers([(200, HELD)])
    context.cancelled.set()

    with pytest.raises(
        errors.CancelledError, match="cancelled before prod/mysql was deregistered; nothing was changed"
    ):
        update(context)
    assert wrote() == []


def test_an_interruption_after_the_deregistration_waits_for_the_registration(context, answers, wrote, monkeypatch):
    """Between the two the volume is in nobody's cluster."""
    answers([(200, HELD), (200, MOVED)], [(200, {})])
    deregister = volumes.deregister
    monkeypatch.setattr(
        volumes, "deregister", lambda *given, **more: (deregister(*given, **more), context.cancelled.set())
    )

    assert update(context)["externalId"] == "vol-2"
    assert wrote() == ["DELETE", "vol-2"]


def test_volume_stays_registered_where_its_plugin_does_not_answer_for_others(context, answers, wrote, monkeypatch):
    """What this operation knows of a controller that hangs is known before the deregistration."""
    monkeypatch.setattr(sending, "SLOW_S", -1)
    answers([(200, HELD)], [(500, "rpc error: EOF")])
    volume = desired.of_properties(volume_properties.REGISTRATION, NEWS)
    wanted = observe.WantedVolume(context, volume, None, is_label_enough=True)
    for _ in range(sending.FAILURES):
        with pytest.raises(errors.NomadApiError, match="rpc error: EOF"):
            steps.register(context, wanted, None)
    before = wrote()

    with pytest.raises(errors.NomadApiError, match="not sent: plugin aws-ebs0 did not answer for 3 volumes in a row"):
        update(context)

    assert wrote() == before
