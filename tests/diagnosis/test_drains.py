"""A client is emptied while volumes are claimed on it: what is reported, and when nothing is."""

import pytest

from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from tests.diagnosis.known import findings, known

CAPABILITY = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")


def volume(volume_id, *clients, status="running"):
    """Return a volume that an allocation on each of *clients* claims."""
    claim = {"mode": "write", "job_id": "web", "namespace": "default", "client_status": status}
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
        claims=tuple(
            volumes.Claim(alloc_id=f"{volume_id}-{name}", node_id=f"id-{name}", node_name=name, **claim)
            for name in clients
        ),
    )


@pytest.fixture
def found(make):
    """Judge claims on the clients a and b, with a plugin that is whole, unless other instances are named."""

    def instance(role, name, *, healthy=True):
        return make.instance(role, node_id=f"id-{name}", healthy=healthy)

    def run(held, *instances, is_known=True, **client_a):
        whole = instances or (("controller", "b"), ("node", "a"), ("node", "b"))
        there = [instance(role, name, healthy=not rest) for role, name, *rest in whole]
        plugin = make.plugin(
            controllers=tuple(item for item in there if item.role == "controller"),
            nodes=tuple(item for item in there if item.role == "node"),
        )
        clients = (make.node(node_id="id-b", name="b"), make.node(node_id="id-a", name="a", **client_a))
        parts = {"claimed": tuple(held), "plugins": {"ebs": plugin} if is_known else {}, "clients": clients}
        return findings(known(**parts), "doctor")

    return run


LEAVES = {"eligible": False, "draining": True}


@pytest.mark.parametrize(
    ("state", "words"), [(LEAVES, "draining"), ({"eligible": False}, "not eligible for scheduling")]
)
def test_claims_on_a_client_that_is_emptied_are_told_together(found, state, words):
    """One warning a client, whose subjects are the volumes; of many, the rest is a number."""
    held = [volume("data", "a"), volume("other", "b"), volume("logs", "a", "b"), volume("free")]

    [warning] = found(held, **state)
    [of_many] = found([volume(f"v{number}", "a") for number in range(8)], **state)

    assert (warning.code, warning.severity, warning.subject) == ("claim-node-draining", "warning", "client a")
    assert warning.found == f"{words}; allocations there claim default/data, default/logs"
    assert warning.about == ("volume default/data", "volume default/logs")
    assert of_many.found.endswith("default/v0, default/v1, default/v2, default/v3, default/v4 and 3 more")


@pytest.mark.parametrize(
    ("held", "state"),
    [
        ([volume("data", "a")], {}),
        ([volume("data", "b")], LEAVES),
        ([volume("data", "a")], {"status": "down", **LEAVES}),
        ([volume("data", "a", status="complete")], LEAVES),
    ],
    ids=["eligible", "claimed elsewhere", "down, which is another finding", "ended, and its plugin is there"],
)
def test_nothing_is_told_where_a_drain_disturbs_no_claim(found, held, state):
    """The plugin is whole in all of them."""
    assert found(held, **state) == []
