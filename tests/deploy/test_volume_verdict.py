"""What a registration would do: each of Nomad's rules, for a volume that is free and for one that is in use."""

import dataclasses

import pytest

from nomad_csi.deploy import volume_verdict
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

LONE = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
SHARED = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
HERE = {"zone": "us-east-1a"}
THERE = {"zone": "us-east-1b"}
CANARY = "canary-3f0a"
WANTED = registration.VolumeRegistration(
    volume_id="mysql",
    name="mysql",
    external_id="vol-1",
    plugin_id="ebs",
    capabilities=(LONE,),
    mount_options=registration.MountOptions(fs_type="ext4"),
    required_topologies=(HERE, THERE),
    parameters={"type": "gp3"},
    context={"tier": "fast"},
)
FOUND = volumes.Volume(
    volume_id="mysql",
    namespace="default",
    name="mysql",
    external_id="vol-1",
    plugin_id="ebs",
    capabilities=(LONE,),
    fs_type="ext4",
    has_mount_flags=False,
    context={"tier": "fast"},
    parameters={"type": "gp3"},
    topologies=(HERE,),
    requested_topologies=(HERE, THERE),
    preferred_topologies=(),
    schedulable=True,
    controller_required=True,
    claims=(),
)
CLAIM = volumes.Claim(
    alloc_id="a", mode="write", node_id="n", node_name="one", job_id="db", namespace="default", client_status="running"
)
IN_USE = {"claims": (CLAIM,), "access_mode": "single-node-writer", "attachment_mode": "file-system"}
GIB = 2**30


def judge(wanted=(), found=(), **options):
    """Return the verdict on `WANTED` against `FOUND`, each with changes."""
    return volume_verdict.verdict(
        dataclasses.replace(WANTED, **dict(wanted)), dataclasses.replace(FOUND, **dict(found)), **options
    )


def test_absent_volume_is_new():
    """It must be sent."""
    verdict = volume_verdict.verdict(WANTED, None)

    assert (verdict.kind, verdict.must_be_sent) == ("new", True)


def test_equal_volume_is_not_sent():
    """Neither when it is free nor when it is in use."""
    assert judge() == judge(found=IN_USE) == volume_verdict.Verdict()
    assert (judge().kind, judge().must_be_sent) == ("equal", False)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("name", {"name": "other"}),
        ("external_id", {"external_id": "vol-2"}),
        ("plugin_id", {"plugin_id": "other"}),
        ("parameters", {"parameters": {"type": "gp2"}}),
        ("clone_id", {"clone_id": "vol-0"}),
        ("snapshot_id", {"snapshot_id": "snap-0"}),
        ("topology_request", {"required_topologies": (HERE,)}),
        ("topology_request", {"required_topologies": ()}),
    ],
)
def test_identity_is_refused(name, wanted):
    """With the reason, and what to do."""
    verdict = judge(wanted)

    [difference] = verdict.differences
    assert (verdict.kind, verdict.must_be_sent, difference.name) == ("refused", False, name)
    assert difference.why.startswith("Nomad never changes ")
    assert difference.fix == "deregister it and register it again, when nothing uses it; the data is not touched"


@pytest.mark.parametrize("wanted", [{"name": ""}, {"clone_id": ""}, {"snapshot_id": ""}])
def test_what_is_left_empty_is_no_wish(wanted):
    """Nomad keeps it."""
    assert judge(wanted, {"clone_id": "vol-0"}).kind == "equal"


def test_all_reasons_come_together():
    """Nobody runs it three times to read three reasons."""
    verdict = judge({"name": "x", "external_id": "vol-2", "context": {"tier": "slow"}})

    assert [(item.name, item.effect) for item in verdict.differences] == [
        ("name", "refused"),
        ("external_id", "refused"),
        ("context", "changes"),
    ]
    assert verdict.kind == "refused"
    assert volume_verdict.sentences(verdict.differences) == (
        'name: Nomad has "mysql", wanted "x"; Nomad never changes it',
        'external_id: Nomad has "vol-1", wanted "vol-2"; Nomad never changes it',
        'context: Nomad has {"tier": "fast"}, wanted {"tier": "slow"}',
        "deregister it and register it again, when nothing uses it; the data is not touched",
    )


def test_order_of_places_means_nothing():
    """Nomad compares it nevertheless, so what is sent has the order that Nomad has."""
    wanted = dataclasses.replace(WANTED, required_topologies=(THERE, HERE))

    assert judge({"required_topologies": (THERE, HERE)}).kind == "equal"
    assert volume_verdict.in_order_of(wanted, FOUND).required_topologies == (HERE, THERE)
    assert volume_verdict.in_order_of(wanted, None) is wanted


def test_place_of_a_volume_without_one_is_ignored():
    """Nomad answers 200 and drops it."""
    verdict = judge(found={"topologies": (), "requested_topologies": ()})

    assert (verdict.kind, verdict.must_be_sent) == ("ignored", False)
    assert "registered without" in verdict.differences[0].why


def test_preferred_place_of_a_created_volume_is_refused():
    """A registration has no such wish, and its absence counts as a change."""
    assert judge(found={"preferred_topologies": (HERE,)}).kind == "refused"


@pytest.mark.parametrize(("name", "found"), [("context", {"tier": "fast"}), ("parameters", {"type": "gp3"})])
def test_what_is_emptied_is_ignored(name, found):
    """Nomad keeps the old where none is sent."""
    verdict = judge({name: {}})

    assert verdict.kind == "ignored"
    assert (verdict.differences[0].name, verdict.differences[0].found) == (name, found)


def test_context_changes():
    """Free at any time."""
    assert judge({"context": {"tier": "slow"}}, IN_USE).kind == "changes"


@pytest.mark.parametrize(
    ("wanted", "found", "kind"),
    [
        ((LONE, SHARED), {}, "changes"),
        ((SHARED,), {}, "changes"),
        ((LONE, SHARED), IN_USE, "changes"),
        ((SHARED,), IN_USE, "refused"),
    ],
)
def test_capability_in_use_must_stay(wanted, found, kind):
    """Others come and go."""
    assert judge({"capabilities": wanted}, found).kind == kind


def test_order_of_capabilities_means_nothing():
    """They are a set."""
    assert judge({"capabilities": (LONE, SHARED)}, {"capabilities": (SHARED, LONE)}).kind == "equal"


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"fs_type": "xfs"}, {}),
        ({"fs_type": "ext4", "mount_flags": ("noatime",)}, {}),
        ({"fs_type": "ext4"}, {"has_mount_flags": True}),
    ],
)
def test_mount_options_change_while_the_volume_is_free(options, found):
    """And are refused while it is in use."""
    wanted = {"mount_options": registration.MountOptions(**options)}

    assert judge(wanted, found).kind == "changes"
    assert judge(wanted, found | IN_USE).kind == "refused"


def test_hidden_parts_are_named_and_sent():
    """Neither secrets nor flags can be compared; none of their values is in the verdict."""
    verdict = judge(
        {
            "secrets": {"password": CANARY},
            "mount_options": registration.MountOptions(fs_type="ext4", mount_flags=(CANARY,)),
        },
        {"has_mount_flags": True},
    )

    assert (verdict.kind, verdict.must_be_sent) == ("hidden", True)
    assert verdict.hidden == ("secrets", "mount_options.mount_flags")
    assert CANARY not in repr(verdict)


def test_flags_that_differ_do_not_show():
    """Only that there are some."""
    verdict = judge({"mount_options": registration.MountOptions(fs_type="ext4", mount_flags=(CANARY,))})

    assert str(verdict.differences[0]) == (
        'mount_options: Nomad has {"fs_type": "ext4"}, wanted {"fs_type": "ext4", "mount_flags": "[redacted]"}'
    )


@pytest.mark.parametrize(
    ("sizes", "found", "kind"),
    [
        ((0, 0), {"capacity_min_bytes": GIB}, "equal"),
        ((GIB, 0), {"capacity_min_bytes": GIB, "capacity_bytes": 2 * GIB}, "equal"),
        ((2 * GIB, 0), {"capacity_min_bytes": GIB, "capacity_bytes": GIB}, "changes"),
        ((GIB, GIB), {"capacity_bytes": 2 * GIB}, "refused"),
        ((2 * GIB, GIB), {}, "refused"),
    ],
)
def test_size_grows_and_never_shrinks(sizes, found, kind):
    """An omitted size is no wish."""
    assert judge({"capacity_min_bytes": sizes[0], "capacity_max_bytes": sizes[1]}, found).kind == kind


def test_answers_of_the_plugin_are_no_wish():
    """External id and context of a volume that was made through Nomad."""
    wanted = {"external_id": "", "context": {}}

    assert judge(wanted, made_by_plugin=True).kind == "equal"
    assert judge(wanted | {"name": "x"}, made_by_plugin=True).kind == "refused"


def test_external_id_that_is_not_known_is_not_compared():
    """And said to be so."""
    assert judge({"external_id": ""}).hidden == ("external_id",)


def test_text_that_only_pulumi_can_read_is_not_compared():
    """Nor is what Nomad has in its place told as a difference."""
    given = {"context": {"tier": "slow", "key": registration.ENCRYPTED}}

    assert judge(given, {"context": {"tier": "fast", "key": CANARY}}).hidden == ("context",)
    assert judge(given, {"context": {"tier": "slow", "key": CANARY}}).kind == "hidden"
    assert judge(given, {"context": {"tier": "fast", "key": CANARY}}).kind == "changes"


@pytest.mark.parametrize(
    ("wanted", "found", "told"),
    [
        ({"capabilities": (SHARED, LONE)}, {}, "capability: added multi-node-multi-writer file-system"),
        ({}, {"capabilities": (SHARED, LONE)}, "capability: removed multi-node-multi-writer file-system"),
        (
            {"capabilities": (SHARED,)},
            {},
            "capability: removed single-node-writer file-system; added multi-node-multi-writer file-system",
        ),
        (
            {"required_topologies": (HERE,)},
            {},
            'topology_request: removed {"zone": "us-east-1b"}; Nomad never changes where a volume can be attached',
        ),
    ],
)
def test_items_that_go_and_come_are_told(wanted, found, told):
    """Not the whole lists: what stays is no news."""
    [difference] = judge(wanted, found).differences

    assert str(difference) == told
