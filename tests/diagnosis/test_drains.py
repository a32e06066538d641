"""A client is emptied while volumes are claimed on it: what is told, and when nothing is."""

import dataclasses

import pytest

from nomad_csi.diagnosis.rules import drains
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.plan import registration

CAPABILITY = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")


def client(name, *, status="ready", eligible=True, draining=False):
    return nodes.Node(
        node_id=f"id-{name}",
        name=name,
        datacenter="dc1",
        node_pool="default",
        node_class="",
        status=status,
        eligible=eligible,
        draining=draining,
        drivers={},
    )


def instance(role, name, *, healthy=True):
    return plugins.Instance(
        role=role,
        node_id=f"id-{name}",
        alloc_id=f"{role}-{name}",
        healthy=healthy,
        health_description="",
        provider_version="v1",
        segments={},
        max_volumes=None,
        supports=frozenset(),
    )


def plugin(*instances):
    return plugins.Plugin(
        plugin_id="ebs",
        provider="ebs.csi.aws.com",
        version="v1",
        controller_required=True,
        controllers=tuple(item for item in instances if item.role == "controller"),
        nodes=tuple(item for item in instances if item.role == "node"),
        controllers_expected=1,
        nodes_expected=2,
    )


def volume(volume_id, *places, status="running"):
    claims = tuple(
        volumes.Claim(
            alloc_id=f"{volume_id}-{name}",
            mode="write",
            node_id=f"id-{name}",
            node_name=name,
            job_id="web",
            namespace="default",
            client_status=status,
        )
        for name in places
    )
    return volumes.Volume(
        volume_id=volume_id,
        namespace="default",
        name=volume_id,
        external_id="vol-1",
        plugin_id="ebs",
        capabilities=(CAPABILITY,),
        topologies=(),
        schedulable=True,
        controller_required=True,
        claims=claims,
    )


WHOLE = plugin(instance("controller", "b"), instance("node", "a"), instance("node", "b"))


def told(held, running=WHOLE, **client_a):
    found = drains.check(held, {"ebs": running}, [client("b"), client("a", **client_a)])
    return [(item.code, item.severity, item.subject, item.found) for item in found]


@pytest.mark.parametrize(
    ("state", "words"),
    [({"eligible": False, "draining": True}, "draining"), ({"eligible": False}, "not eligible for scheduling")],
)
def test_claims_on_a_client_that_is_emptied_are_told_together(state, words):
    """One warning a client, whose subjects are the volumes."""
    held = [volume("data", "a"), volume("other", "b"), volume("logs", "a", "b"), volume("free")]

    [found] = drains.check(held, {"ebs": WHOLE}, [client("b"), client("a", **state)])

    assert (found.code, found.severity, found.subject) == ("claim-node-draining", "warning", "client a")
    assert found.found == f"{words}; allocations there claim default/data, default/logs"
    assert found.about == ("volume default/data", "volume default/logs")


@pytest.mark.parametrize(
    ("held", "state"),
    [
        ([volume("data", "a")], {}),
        ([volume("data", "b")], {"eligible": False, "draining": True}),
        ([volume("data", "a")], {"status": "down", "eligible": False, "draining": True}),
        ([volume("data", "a", status="complete")], {"eligible": False, "draining": True}),
    ],
    ids=["eligible", "claimed elsewhere", "down, which is another finding", "ended, and its plugin is there"],
)
def test_nothing_is_told_where_a_drain_disturbs_no_claim(held, state):
    """The plugin is whole in all of them."""
    assert told(held, **state) == []


@pytest.mark.parametrize("status", ["running", "complete"])
@pytest.mark.parametrize("on_a", [[], [instance("node", "a", healthy=False)]])
def test_plugin_that_left_before_its_consumers_is_an_error(status, on_a):
    """Whether the allocation still runs or has ended: its claim is there."""
    running = plugin(instance("controller", "b"), instance("node", "b"), *on_a)

    found = told([volume("data", "a", status=status)], running, eligible=False)

    assert found[-1] == (
        "claim-without-node-plugin",
        "error",
        "plugin ebs on a",
        "none; the client is not eligible for scheduling, and default/data claimed there",
    )
    assert [item[0] for item in found[:-1]] == (["claim-node-draining"] if status == "running" else [])


def test_live_claim_without_the_node_plugin_is_an_error_on_a_ready_client_too():
    """Its job was stopped while an allocation uses the volume: nothing can be unmounted there."""
    running = plugin(instance("controller", "b"))

    [found] = drains.check([volume("data", "a")], {"ebs": running}, [client("a")])

    assert (found.code, found.subject) == ("claim-without-node-plugin", "plugin ebs on a")
    assert found.found == "none; the client is ready, and default/data claimed there"
    assert found.advice == drains.RUN_AGAIN


def test_plugin_that_nomad_does_not_know_any_more_has_left():
    """Its last instance was on that client."""
    assert [item[0] for item in told([volume("data", "a", status="complete")], None, draining=True)] == [
        "claim-without-node-plugin"
    ]


@pytest.mark.parametrize(
    ("controllers", "codes"),
    [
        ([instance("controller", "a")], ["controller-draining"]),
        ([instance("controller", "a"), instance("controller", "b", healthy=False)], ["controller-draining"]),
        ([instance("controller", "a"), instance("controller", "b")], []),
        ([instance("controller", "a", healthy=False)], []),
    ],
    ids=["alone", "the other one is not healthy", "the other one is healthy", "none healthy, another finding"],
)
def test_only_controller_on_a_draining_client_is_told(controllers, codes):
    """Also where the volumes are claimed on other clients: they could not be detached there."""
    running = plugin(*controllers, instance("node", "b"))

    found = told([volume("data", "b")], running, eligible=False, draining=True)

    assert [item[0] for item in found] == codes
    assert all(item[2:] == ("plugin ebs", "all on draining clients (a); default/data claimed") for item in found)


def test_controller_on_a_client_that_only_takes_nothing_new_stays():
    """Nomad moves nothing away from it."""
    running = plugin(instance("controller", "a"), instance("node", "b"))

    assert told([volume("data", "b")], running, eligible=False) == []


def test_of_many_volumes_the_rest_is_a_number():
    """A client may hold hundreds."""
    held = [dataclasses.replace(volume("data", "a"), volume_id=f"v{number}") for number in range(8)]

    [(*_, found)] = told(held, eligible=False)

    assert found.endswith("claim default/v0, default/v1, default/v2, default/v3, default/v4 and 3 more")
