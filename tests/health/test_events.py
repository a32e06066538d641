"""Of many task events, the one that tells the cause is shown."""

import pytest

from nomad_csi.health import events

DENIED = "Error: CSI plugin failed probe: api error AccessDenied: not authorized to perform: ec2:DescribeX"
START = [("Received", "x"), ("Task Setup", "x"), ("Started", "x")]


@pytest.mark.parametrize(
    ("told", "changes", "cause"),
    [
        (START, {}, "it runs, but has not reported healthy yet"),
        ([], {"client_status": "pending"}, "its allocation is pending"),
        (
            [*START, ("Plugin became unhealthy", DENIED), ("Terminated", "Exit Code: 130"), ("Restarting", "in 16s")],
            {},
            f"Plugin became unhealthy: {DENIED}",
        ),
        ([*START, ("Terminated", "Exit Code: 2"), ("Restarting", "in 16s")], {}, "Terminated: Exit Code: 2"),
        ([("Received", "x"), ("Driver", "Downloading image")], {}, "Driver: Downloading image"),
        ([("Restarting", "Restarting")], {}, "Restarting"),
    ],
)
def test_cause_is_the_event_that_speaks(ran, told, changes, cause):
    """What Nomad did about a failure does not hide the failure."""
    assert events.cause(ran("node", "a", events=told, **changes).allocation) == cause


EFFECTS = ["Alloc Unhealthy", "Killed", "Killing", "Not Restarting", "Restart Signaled", "Restarting"]
SPEAKING = ["Driver Failure", "Failed Artifact Download", "Failed Validation", "Plugin became unhealthy"]


@pytest.mark.parametrize("kind", [*SPEAKING, "Setup Failure", "Task hook failed"])
def test_event_that_names_the_cause_goes_before_all_others(ran, kind):
    """An event that is not known goes before those that name what Nomad did, whichever is the last."""
    others = [("Signaling", "y"), *((effect, "z") for effect in EFFECTS)]

    told = [events.cause(ran("node", "a", events=each).allocation) for each in ([(kind, "x"), *others], others)]

    assert told == [f"{kind}: x", "Signaling: y"]


@pytest.mark.parametrize(
    ("kind", "has_trouble"), [*((each, True) for each in [*EFFECTS, *SPEAKING, "Terminated"]), ("Signaling", False)]
)
def test_trouble_is_any_event_that_is_not_of_a_start(ran, kind, has_trouble):
    """An event that is not known is none."""
    assert events.has_trouble(ran("node", "a", events=[*START, (kind, "x")]).allocation) is has_trouble


@pytest.mark.parametrize(("first", "said"), [("Received", ""), ("Started", "it became unhealthy 3 times")])
def test_instance_that_was_never_well_did_not_fall(ran, first, said):
    """Where the first events are dropped, it was well before."""
    well, unwell = ("Plugin became healthy", "x"), ("Plugin became unhealthy", "x")
    allocation = ran("node", "a", events=[(first, "x"), unwell, well, unwell, well, unwell]).allocation

    found = events.flapping(allocation, allocation.task_events[-1].time_ns)

    assert found.partition(" in ")[0] == said


def test_log_shows_its_last_lines_and_no_secret_of_several_lines():
    """A private key is one line of it."""
    log = (
        "0\n1\n2\n3\n\n4\n5\n6\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----\nstart failed\n"
    )

    assert [cause.text for cause in events.cause_of_log("there", log)] == [*"123456", "[secret]", "start failed"]
