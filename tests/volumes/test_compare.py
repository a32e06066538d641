"""How a desired volume and Nomad's record differ: each of Nomad's rules, for a free volume and for one in use."""

import dataclasses

import pytest

from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import compare

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
    mount_options=registration.MountOptions(fs_type="ext4"),
    context={"tier": "fast"},
    parameters={"type": "gp3"},
    topologies=(HERE, THERE),
    required_topologies=(HERE, THERE),
    schedulable=True,
    controller_required=True,
    claims=(),
)
CLAIM = volumes.Claim(
    alloc_id="a", mode="write", node_id="n", node_name="one", job_id="db", namespace="default", client_status="running"
)
IN_USE = {"claims": (CLAIM,), "access_mode": "single-node-writer", "attachment_mode": "file-system"}
GIB = 2**30

HIDDEN = registration.MountOptions(fs_type="ext4", mount_flags=("[REDACTED]",))


def judge(wanted=(), found=(), **options):
    """Compare `WANTED` with `FOUND`, each with changes."""
    return compare.compare_volume(
        dataclasses.replace(WANTED, **dict(wanted)), dataclasses.replace(FOUND, **dict(found)), **options
    )


def options(fs_type="ext4", *flags):
    """Return mount options."""
    return {"mount_options": registration.MountOptions(fs_type=fs_type, mount_flags=flags)}


def sizes(at_least, at_most=0):
    """Return the sizes that are asked for."""
    return {"capacity_min_bytes": at_least, "capacity_max_bytes": at_most}


NO_PLACES = {"topologies": (), "required_topologies": ()}
OTHER_KEY = {"required_topologies": ({"topology": "us-east-1a"}, {"topology": "us-east-1b"})}

RULES = {
    # What identifies a volume Nomad never changes.
    "another clone": ({"clone_id": "vol-0"}, {}, "refused"),
    "another snapshot": ({"snapshot_id": "snap-0"}, {}, "refused"),
    "one of two places": ({"required_topologies": (HERE,)}, {}, "refused"),
    "no place": ({"required_topologies": ()}, {}, "refused"),
    # What is left empty is no wish: Nomad keeps it.
    "no name": ({"name": ""}, {}, "equal"),
    # Order means nothing.
    "capabilities in another order": ({"capabilities": (LONE, SHARED)}, {"capabilities": (SHARED, LONE)}, "equal"),
    "a capability twice": ({"capabilities": (LONE, LONE)}, {}, "equal"),
    "preferred places in another order": ({"preferred_topologies": (THERE, HERE)}, {"preferred_topologies": (HERE, THERE)}, "equal"),
    # Places: the effective ones count, and Nomad refuses another request.
    "requested, and not effective": ({}, {"topologies": ()}, "ignored"),
    "one more effective segment": ({}, {"topologies": ({**HERE, "rack": "1"},)}, "equal"),
    # What is emptied Nomad keeps; what it can change, it changes.
    "another context in use": ({"context": {"tier": "slow"}}, IN_USE, "changes"),
    # A capability in use must stay; others come and go.
    "one more capability": ({"capabilities": (LONE, SHARED)}, {}, "changes"),
    "one more in use": ({"capabilities": (LONE, SHARED)}, IN_USE, "changes"),
    "of a claim that is gone": ({"capabilities": (SHARED,)}, IN_USE | {"claims": ()}, "changes"),
    # Mount options change while the volume is free.
    "flags": (options("ext4", "noatime"), {}, "changes"),
    "hidden flags in use": (options(), {"mount_options": HIDDEN} | IN_USE, "refused"),
    # Sizes grow and never shrink.
    "larger than asked for": (sizes(GIB), {"capacity_min_bytes": GIB, "capacity_bytes": 2 * GIB}, "equal"),
    "less at least": (sizes(GIB), {"capacity_min_bytes": 2 * GIB, "capacity_bytes": 2 * GIB}, "refused"),
    "less at least, and not less than it has": (
        sizes(2 * GIB), {"capacity_min_bytes": 3 * GIB, "capacity_bytes": 2 * GIB}, "changes"
    ),
    "another key of the same place": (OTHER_KEY, {}, "refused"),
}  # fmt: skip
"""Desired and registered otherwise than equal -> what the comparison comes to."""


@pytest.mark.parametrize(("wanted", "found", "kind"), RULES.values(), ids=RULES)
def test_rule_of_nomad(wanted, found, kind):
    """For a volume that is only registered."""
    assert judge(wanted, found).kind == kind


def test_absent_volume_is_new_and_an_equal_one_has_no_difference():
    """It must be sent; the other one is not."""
    assert compare.compare_volume(WANTED, None).kind == "new"
    assert judge() == judge(found=IN_USE) == compare.Comparison()


def test_all_reasons_come_together():
    """Nobody runs it three times to read three reasons."""
    found = judge({"name": "x", "external_id": "vol-2", "context": {"tier": "slow"}})

    assert found.kind == "refused"
    assert compare.sentences(found.differences) == (
        'name: Nomad has "mysql", wanted "x"; Nomad never changes it',
        'external_id: Nomad has "vol-1", wanted "vol-2"; Nomad never changes it',
        'context: Nomad has {"tier": "fast"}, wanted {"tier": "slow"}',
        "deregister it and register it again, when nothing uses it; the data is not touched",
    )
    assert [item.field for item in found.differences_of_kind("changes")] == ["context"]


KEPT = {
    "places in Nomad's order": ({"required_topologies": (THERE, HERE)}, {}, {"required_topologies": (HERE, THERE)}),
    "places as requested once": (
        {"required_topologies": (HERE,)}, {"topologies": (HERE,), "required_topologies": ()}, {"required_topologies": ()}
    ),
    "a context that nobody asked for": ({"context": {}}, {"context": {"partition": "1"}}, {"context": {"partition": "1"}}),
    "but not one that is wanted": ({"context": {"a": "b"}}, {"context": {"partition": "1"}}, {"context": {"a": "b"}}),
    "preferred places that nobody asked for": ({}, {"preferred_topologies": (HERE,)}, {"preferred_topologies": (HERE,)}),
    "the same ones": (
        {"preferred_topologies": (HERE,)}, {"preferred_topologies": (HERE,)}, {"preferred_topologies": (HERE,)}
    ),
    "but not other ones": (
        {"preferred_topologies": (THERE,)}, {"preferred_topologies": (HERE,)}, {"preferred_topologies": (THERE,)}
    ),
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "found", "sent"), KEPT.values(), ids=KEPT)
def test_what_nomad_has_is_sent(wanted, found, sent):
    """Where Nomad would refuse another spelling of the same, or an older release erase it."""
    document = dataclasses.replace(WANTED, **wanted)

    kept = compare.keep_actual_topologies(document, dataclasses.replace(FOUND, **found))

    assert kept == dataclasses.replace(document, **sent)
    assert compare.keep_actual_topologies(document, None) is document


def test_hidden_parts_are_named_and_their_values_are_not_shown():
    """Neither secrets nor flags can be compared, nor an external id that is not known; secrets are masked by their names."""
    flags = registration.MountOptions(fs_type="ext4", mount_flags=(CANARY,))
    hidden = judge({"secrets": {"password": CANARY}, "mount_options": flags}, {"mount_options": HIDDEN})
    flagged = judge({"mount_options": flags})
    masked = judge(
        {"context": {"password": CANARY, "tier": "slow"}, "parameters": {"apiKey": CANARY}},
        {"context": {"password": f"{CANARY}-2", "tier": "slow"}},
    )

    assert (hidden.kind, hidden.hidden) == ("hidden", ("secrets", "mount_options.mount_flags"))
    assert str(flagged.differences[0]) == 'mount_options.mount_flags: Nomad has nothing, wanted "[redacted]"'
    assert flagged.hidden == ()
    assert [(item.desired, item.actual) for item in masked.differences] == [
        ({"apiKey": "[secret]"}, {"type": "gp3"}),
        ({"password": "[secret]", "tier": "slow"}, {"password": "[another secret]", "tier": "slow"}),
    ]
    assert CANARY not in repr((hidden, flagged, masked))
    assert judge({"external_id": ""}).hidden == ("external_id",)


@pytest.mark.parametrize(
    ("wanted", "found", "field", "is_lacking"),
    [
        ({"snapshot_id": ""}, {"snapshot_id": "snap-1"}, "snapshot_id", True),
        ({"clone_id": "vol-2"}, {"clone_id": "vol-1"}, "clone_id", False),
        ({"parameters": {}}, {}, "parameters", True),
        ({"required_topologies": ()}, {}, "topology_request.required", True),
        ({}, NO_PLACES, "topology_request.required", False),
        ({"preferred_topologies": (HERE,)}, {"preferred_topologies": (THERE,)}, "topology_request.preferred", False),
        ({"external_id": "vol-2"}, {}, "external_id", False),
    ],
)
def test_storage_that_its_plugin_made_otherwise_is_replaced(wanted, found, field, is_lacking):
    """Another registration does not change by what storage was made; what only the spec lacks needs no copy."""
    [seen] = judge({"external_id": "", "context": {}} | wanted, found, made_by_plugin=True).differences

    assert (seen.field, seen.effect, seen.needs_new_registration) == (field, "replaced", True)
    assert seen.fix == (compare.COMPLETE_SPEC if is_lacking else compare.CREATE_ANEW)


@pytest.mark.parametrize("preferred", [(), (HERE,)])
def test_document_that_was_just_registered_is_equal(preferred):
    """What Nomad holds then is known without asking: schedulable, without a controller that it needs, and free."""
    whole = dataclasses.replace(WANTED, snapshot_id="snap-1", preferred_topologies=preferred, **sizes(GIB, GIB))
    held = compare.registered_volume(whole)

    assert compare.compare_volume(whole, held) == compare.Comparison()
    shown = (held.schedulable, held.controller_required, held.claims, held.topologies)
    assert shown == (True, False, (), WANTED.required_topologies)


ANEW = compare.REGISTER_ANEW
LEFT_OUT = "Nomad accepts it and leaves it out, because the volume was registered without"
NEVER = "Nomad never changes where a volume can be attached"
BUSY, STOP = "the volume is in use", "stop the jobs that claim it first"
TEN = {"capacity_bytes": 10 * GIB, "capacity_min_bytes": 10 * GIB}
TWO_AT_MOST = {"capacity_min_bytes": GIB, "capacity_max_bytes": 2 * GIB, "capacity_bytes": GIB}
SHRINKS, AT_LEAST = "storage never shrinks, and has 10GiB", "ask for at least what it has"
LONE_TEXT, SHARED_TEXT = "single-node-writer file-system", "multi-node-multi-writer file-system"
OWN_WORDS = {"wanted": {"password": "[secret]", "tier": "slow"}, "found": {"password": "[secret]", "tier": "fast"}}
DIFFERENCES = {
    "a capability in use": ({"capabilities": (SHARED,)}, IN_USE, [
        ("capability", [SHARED_TEXT], [LONE_TEXT], "refused", f"{LONE_TEXT} is in use", "keep it, or stop the jobs that claim the volume first"),
    ]),
    "mount options in use": (options("xfs", "ro"), IN_USE, [
        ("mount_options.fs_type", "xfs", "ext4", "refused", BUSY, STOP),
        ("mount_options.mount_flags", compare.REDACTED, "", "refused", BUSY, STOP),
    ]),
    "no parameters": ({"parameters": {}}, {}, [
        ("parameters", {}, {"type": "gp3"}, "kept", "Nomad keeps what it has where none are sent", ANEW),
    ]),
    "a place for none": ({"required_topologies": (HERE,)}, NO_PLACES, [
        ("topology_request.required", [HERE], [], "kept", LEFT_OUT, ANEW),
    ]),
    "a preferred place for none": ({"required_topologies": (), "preferred_topologies": (THERE,)}, NO_PLACES, [
        ("topology_request.preferred", [THERE], [], "kept", LEFT_OUT, ANEW),
    ]),
    "another preferred place": (
        {"required_topologies": (HERE,), "preferred_topologies": (THERE,)},
        {"topologies": (HERE,), "required_topologies": (HERE,), "preferred_topologies": (HERE,)},
        [("topology_request.preferred", [THERE], [HERE], "replaced", NEVER, ANEW)],
    ),
    "a size that shrinks": (sizes(5 * GIB, 5 * GIB), TEN, [
        ("capacity_min", 5 * GIB, 10 * GIB, "refused", SHRINKS, AT_LEAST),
        ("capacity_max", 5 * GIB, 0, "refused", SHRINKS, AT_LEAST),
    ]),
    "a range below": (sizes(4 * GIB, 5 * GIB), TEN, [
        ("capacity_min", 4 * GIB, 10 * GIB, "refused", SHRINKS, AT_LEAST),
        ("capacity_max", 5 * GIB, 0, "refused", SHRINKS, AT_LEAST),
    ]),
    "a largest size below the smallest": (sizes(3 * GIB, 2 * GIB), {"capacity_min_bytes": GIB, "capacity_bytes": GIB}, [
        ("capacity_min", 3 * GIB, GIB, "refused", "capacity_max 2GiB is less than capacity_min 3GiB", AT_LEAST),
        ("capacity_max", 2 * GIB, 0, "refused", "capacity_max 2GiB is less than capacity_min 3GiB", AT_LEAST),
    ]),
    "a range of its size": (sizes(10 * GIB, 10 * GIB), {"capacity_bytes": 10 * GIB}, [
        ("capacity_min", 10 * GIB, 0, "in-place", "", ""),
        ("capacity_max", 10 * GIB, 0, "in-place", "", ""),
    ]),
    "a larger largest size": (sizes(GIB, 3 * GIB), TWO_AT_MOST, [("capacity_max", 3 * GIB, 2 * GIB, "in-place", "", "")]),
    "no largest size": (sizes(GIB), TWO_AT_MOST, [("capacity_max", 0, 2 * GIB, "in-place", "", "")]),
    "no smallest size": (sizes(0, 2 * GIB), TWO_AT_MOST, [("capacity_min", 0, GIB, "in-place", "", "")]),
    "both": (sizes(2 * GIB, 3 * GIB), TWO_AT_MOST, [
        ("capacity_min", 2 * GIB, GIB, "in-place", "", ""),
        ("capacity_max", 3 * GIB, 2 * GIB, "in-place", "", ""),
    ]),
    "a context with a secret": (
        {"context": {"password": CANARY, "tier": "slow"}}, {"context": {"password": CANARY, "tier": "fast"}},
        [("context", OWN_WORDS["wanted"], OWN_WORDS["found"], "in-place", "", "")],
    ),
    "a secret in Nomad alone": (
        {"context": {"tier": "slow"}}, {"context": {"password": CANARY, "tier": "slow"}},
        [("context", {"tier": "slow"}, {"password": "[another secret]", "tier": "slow"}, "in-place", "", "")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "found", "expected"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_difference_has_both_values_the_reason_and_what_to_do(wanted, found, expected):
    """Whole, as commands and resources show it."""
    assert [tuple(vars(item).values()) for item in judge(wanted, found).differences] == expected


SENTENCES = {
    'capability: Nomad has ["a", "b"], wanted ["b"]': ("capability", ["a", "b"], ["b"]),
    'places: Nomad has nothing, wanted [{"rack": "1", "zone": "ü"}]': ("places", [], [{"zone": "ü", "rack": "1"}]),
    'places: Nomad has ["a"], wanted nothing': ("places", ["a"], []),
    "capacity_min: Nomad has 1GiB, wanted 2GiB": ("capacity_min", GIB, 2 * GIB),
    "capacity_max: Nomad has nothing, wanted 2GiB": ("capacity_max", 0, 2 * GIB),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentence_has_what_goes_and_comes(sentence):
    """Of a list, what stays is no new_inputs. What was or is nothing is shown whole, with its keys in order."""
    field, actual, wanted = SENTENCES[sentence]

    assert str(compare.Difference(field=field, actual=actual, desired=wanted)) == sentence
