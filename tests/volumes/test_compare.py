"""How a desired volume and Nomad's record differ: each of Nomad's rules, for a free volume and for one in use."""

import dataclasses

import pytest

from nomad_csi.nomad.records import volumes
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


def test_absent_volume_is_new():
    """It must be sent."""
    found = compare.compare_volume(WANTED, None)

    assert found.kind == "new"


def test_equal_volume_is_not_sent():
    """Neither when it is free nor when it is in use."""
    assert judge() == judge(found=IN_USE) == compare.Comparison()
    assert judge().kind == "equal"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("name", {"name": "other"}),
        ("external_id", {"external_id": "vol-2"}),
        ("plugin_id", {"plugin_id": "other"}),
        ("parameters", {"parameters": {"type": "gp2"}}),
        ("clone_id", {"clone_id": "vol-0"}),
        ("snapshot_id", {"snapshot_id": "snap-0"}),
        ("topology_request.required", {"required_topologies": (HERE,)}),
        ("topology_request.required", {"required_topologies": ()}),
    ],
)
def test_identity_is_refused(name, wanted):
    """With the reason, and what to do."""
    found = judge(wanted)

    [difference] = found.differences
    assert (found.kind, difference.field) == ("refused", name)
    assert difference.why.startswith("Nomad never changes ")
    assert difference.fix == "deregister it and register it again, when nothing uses it; the data is not touched"


@pytest.mark.parametrize("wanted", [{"name": ""}, {"clone_id": ""}, {"snapshot_id": ""}])
def test_what_is_left_empty_is_no_wish(wanted):
    """Nomad keeps it."""
    assert judge(wanted, {"clone_id": "vol-0"}).kind == "equal"


def test_all_reasons_come_together():
    """Nobody runs it three times to read three reasons."""
    found = judge({"name": "x", "external_id": "vol-2", "context": {"tier": "slow"}})

    assert [(item.field, item.effect) for item in found.differences] == [
        ("name", "replaced"),
        ("external_id", "replaced"),
        ("context", "in-place"),
    ]
    assert found.kind == "refused"
    assert compare.sentences(found.differences) == (
        'name: Nomad has "mysql", wanted "x"; Nomad never changes it',
        'external_id: Nomad has "vol-1", wanted "vol-2"; Nomad never changes it',
        'context: Nomad has {"tier": "fast"}, wanted {"tier": "slow"}',
        "deregister it and register it again, when nothing uses it; the data is not touched",
    )


def test_order_of_places_means_nothing():
    """Nomad compares it nevertheless, so what is sent has the order that Nomad has."""
    wanted = dataclasses.replace(WANTED, required_topologies=(THERE, HERE))

    assert judge({"required_topologies": (THERE, HERE)}).kind == "equal"
    assert compare.keep_actual_places(wanted, FOUND).required_topologies == (HERE, THERE)
    assert compare.keep_actual_places(wanted, None) is wanted


def test_context_that_nobody_asked_for_is_sent_as_nomad_has_it():
    """Older releases erase it otherwise; one that is wanted takes its place."""
    found = dataclasses.replace(FOUND, context={"partition": "1"})
    bare = dataclasses.replace(WANTED, context={})

    assert compare.keep_actual_places(bare, found).context == {"partition": "1"}
    assert compare.keep_actual_places(dataclasses.replace(bare, context={"a": "b"}), found).context == {"a": "b"}


def test_place_of_a_volume_without_one_is_ignored():
    """Nomad answers 200 and drops it."""
    found = judge(found={"topologies": (), "required_topologies": ()})

    assert found.kind == "ignored"
    assert "registered without" in found.differences[0].why


def test_preferred_place_that_nobody_asked_for_is_no_difference():
    """It counts when storage is made. Nomad refuses a registration without it, so it is sent as Nomad has it."""
    found = dataclasses.replace(FOUND, preferred_topologies=(HERE,))

    assert judge(found={"preferred_topologies": (HERE,)}).kind == "equal"
    assert compare.keep_actual_places(WANTED, found).preferred_topologies == (HERE,)


def test_another_preferred_place_is_refused():
    """Nomad compares the whole request; their order means nothing once the storage is there."""
    assert judge({"preferred_topologies": (THERE,)}, {"preferred_topologies": (HERE,)}).kind == "refused"
    assert judge({"preferred_topologies": (THERE, HERE)}, {"preferred_topologies": (HERE, THERE)}).kind == "equal"


@pytest.mark.parametrize(("name", "found"), [("context", {"tier": "fast"}), ("parameters", {"type": "gp3"})])
def test_what_is_emptied_is_ignored(name, found):
    """Nomad keeps the old where none is sent."""
    compared = judge({name: {}})

    assert compared.kind == "ignored"
    assert (compared.differences[0].field, compared.differences[0].actual) == (name, found)
    assert compared.differences[0].needs_new_registration


def test_place_that_was_requested_and_is_not_effective_is_ignored():
    """Nomad would place allocations anywhere, and accepts any request without effect."""
    found = judge(found={"topologies": ()})

    assert [(item.field, item.effect, item.actual) for item in found.differences] == [
        ("topology_request.required", "kept", [])
    ]


def test_refused_registration_is_not_sent_for_what_would_change():
    """Nomad takes all of it, or nothing."""
    found = judge({"name": "x", "context": {"tier": "slow"}, "secrets": {"password": CANARY}})

    assert (found.kind, bool(found.differences_of_kind("changes"))) == ("refused", True)


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


def test_capability_that_nomad_lists_twice_is_one():
    """It stores what a registration says, twice too; allocations can do no more by that."""
    assert judge(found={"capabilities": (LONE, LONE)}) == compare.Comparison()
    assert judge({"capabilities": (LONE, LONE)}) == compare.Comparison()


def test_capability_of_a_claim_that_is_gone_may_go():
    """Nomad shows how the volume was used, and no job uses it."""
    found = judge({"capabilities": (SHARED,)}, IN_USE | {"claims": ()})

    assert found.kind == "changes"


def test_order_of_capabilities_means_nothing():
    """They are a set."""
    assert judge({"capabilities": (LONE, SHARED)}, {"capabilities": (SHARED, LONE)}).kind == "equal"


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"fs_type": "xfs"}, {}),
        ({"fs_type": "ext4", "mount_flags": ("noatime",)}, {}),
        ({"fs_type": "ext4"}, {"mount_options": HIDDEN}),
    ],
)
def test_mount_options_change_while_the_volume_is_free(options, found):
    """And are refused while it is in use."""
    wanted = {"mount_options": registration.MountOptions(**options)}

    assert judge(wanted, found).kind == "changes"
    assert judge(wanted, found | IN_USE).kind == "refused"


def test_hidden_parts_are_named_and_sent():
    """Neither secrets nor flags can be compared; none of their values is in the found."""
    found = judge(
        {
            "secrets": {"password": CANARY},
            "mount_options": registration.MountOptions(fs_type="ext4", mount_flags=(CANARY,)),
        },
        {"mount_options": HIDDEN},
    )

    assert found.kind == "hidden"
    assert found.hidden == ("secrets", "mount_options.mount_flags")
    assert CANARY not in repr(found)


def test_flags_that_differ_do_not_show():
    """Only that there are some."""
    found = judge({"mount_options": registration.MountOptions(fs_type="ext4", mount_flags=(CANARY,))})

    assert str(found.differences[0]) == 'mount_options.mount_flags: Nomad has nothing, wanted "[redacted]"'
    assert found.hidden == ()


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


@pytest.mark.parametrize(("sizes", "fields"), [
    ((GIB, 3 * GIB), ["capacity_max"]),
    ((GIB, 0), ["capacity_max"]),
    ((0, 2 * GIB), ["capacity_min"]),
    ((2 * GIB, 3 * GIB), ["capacity_min", "capacity_max"]),
])  # fmt: skip
def test_each_size_that_is_asked_for_changes_in_place(sizes, fields):
    """The largest one as well as the smallest."""
    held = {"capacity_min_bytes": GIB, "capacity_max_bytes": 2 * GIB, "capacity_bytes": GIB}
    found = judge({"capacity_min_bytes": sizes[0], "capacity_max_bytes": sizes[1]}, held)

    assert [(item.field, item.effect) for item in found.differences] == [(name, "in-place") for name in fields]


def test_one_more_effective_segment_is_no_difference():
    """Nomad decides by the places that were requested; a plugin may answer more of them."""
    assert judge(found={"topologies": ({**HERE, "rack": "1"},)}).kind == "equal"


@pytest.mark.parametrize("requested", [(), (HERE, THERE)])
def test_requested_places_do_not_count_where_the_effective_ones_are_as_desired(requested):
    """Allocations are placed as desired. Nomad refuses another request, so it is sent as Nomad has it."""
    held = {"topologies": (HERE,), "required_topologies": requested}

    assert judge({"required_topologies": (HERE,)}, held).kind == "equal"
    sent = compare.keep_actual_places(
        dataclasses.replace(WANTED, required_topologies=(HERE,)), dataclasses.replace(FOUND, **held)
    )
    assert sent.required_topologies == requested


def test_secrets_among_parameters_and_context_are_masked():
    """By their names; the other values are shown, and that two secrets differ."""
    found = judge(
        {"context": {"password": CANARY, "tier": "slow"}, "parameters": {"apiKey": CANARY}},
        {"context": {"password": f"{CANARY}-2", "tier": "slow"}},
    )

    assert [(item.desired, item.actual) for item in found.differences] == [
        ({"apiKey": "[secret]"}, {"type": "gp3"}),
        ({"password": "[secret]", "tier": "slow"}, {"password": "[another secret]", "tier": "slow"}),
    ]
    assert CANARY not in repr(found)


@pytest.mark.parametrize(
    ("wanted", "found", "field", "is_lacking"),
    [
        ({"snapshot_id": ""}, {"snapshot_id": "snap-1"}, "snapshot_id", True),
        ({"clone_id": "vol-2"}, {"clone_id": "vol-1"}, "clone_id", False),
        ({"parameters": {}}, {}, "parameters", True),
        ({"required_topologies": ()}, {}, "topology_request.required", True),
        ({}, {"topologies": (), "required_topologies": ()}, "topology_request.required", False),
        ({"preferred_topologies": (HERE,)}, {"preferred_topologies": (THERE,)}, "topology_request.preferred", False),
        ({"external_id": "vol-2"}, {}, "external_id", False),
    ],
)
def test_storage_that_its_plugin_made_otherwise_is_replaced(wanted, found, field, is_lacking):
    """Another registration does not change by what storage was made; what only the spec lacks needs no copy."""
    [seen] = judge({"external_id": "", "context": {}} | wanted, found, made_by_plugin=True).differences

    assert (seen.field, seen.effect, seen.needs_new_registration) == (field, "replaced", True)
    assert seen.fix == (compare.COMPLETE_SPEC if is_lacking else compare.CREATE_ANEW)


def test_document_that_was_just_registered_is_equal():
    """What Nomad holds then is known without asking."""
    whole = dataclasses.replace(
        WANTED, snapshot_id="snap-1", capacity_min_bytes=GIB, capacity_max_bytes=GIB, preferred_topologies=(HERE,)
    )

    assert compare.compare_volume(whole, compare.registered_volume(whole)) == compare.Comparison()


def test_answers_of_the_plugin_are_no_wish():
    """External id and context of a volume that was made through Nomad; its name has more in it than the spec says."""
    wanted = {"external_id": "", "context": {}, "name": "x"}

    assert judge(wanted, made_by_plugin=True).kind == "equal"
    assert judge(wanted | {"plugin_id": "x"}, made_by_plugin=True).kind == "refused"


def test_storage_that_its_plugin_made_stays_where_it_is_under_another_key():
    """The zone is the same; what is only registered has to be registered again for the key."""
    wanted = {"required_topologies": ({"topology": "us-east-1a"}, {"topology": "us-east-1b"})}

    assert judge(wanted, made_by_plugin=True).kind == "equal"
    assert judge(wanted).kind == "refused"
    assert judge({"required_topologies": ({"zone": "us-east-1c"},)}, made_by_plugin=True).kind == "refused"


def test_external_id_that_is_not_known_is_not_compared():
    """And said to be so."""
    assert judge({"external_id": ""}).hidden == ("external_id",)


@pytest.mark.parametrize(
    ("wanted", "found", "text"),
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
            'topology_request.required: removed {"zone": "us-east-1b"}; Nomad never changes where a volume can be attached',
        ),
    ],
)
def test_items_that_go_and_come_are_named(wanted, found, text):
    """Not the whole lists: what stays is no news."""
    [difference] = judge(wanted, found).differences

    assert str(difference) == text


PREFERRED = {"required_topologies": (HERE,), "preferred_topologies": (THERE,)}
ANEW = compare.REGISTER_ANEW
LEFT_OUT = "Nomad accepts it and leaves it out, because the volume was registered without"
NO_PLACES = {"topologies": (), "required_topologies": ()}
IN_USE_FIX = "stop the jobs that claim it first"
FOR_LESS = {"capacity_min_bytes": 4 * GIB, "capacity_max_bytes": 5 * GIB}
TEN = {"capacity_bytes": 10 * GIB, "capacity_min_bytes": 10 * GIB}
SHRINKS = "storage never shrinks, and has 10GiB"
AT_LEAST = "ask for at least what it has"


@pytest.mark.parametrize(
    ("wanted", "found", "expected"),
    [
        (
            {"capabilities": (SHARED,)},
            IN_USE,
            [
                (
                    "capability",
                    ["multi-node-multi-writer file-system"],
                    ["single-node-writer file-system"],
                    "refused",
                    "single-node-writer file-system is in use",
                    "keep it, or stop the jobs that claim the volume first",
                )
            ],
        ),
        (
            {"mount_options": registration.MountOptions(fs_type="xfs", mount_flags=("ro",))},
            IN_USE,
            [
                ("mount_options.fs_type", "xfs", "ext4", "refused", "the volume is in use", IN_USE_FIX),
                ("mount_options.mount_flags", compare.REDACTED, "", "refused", "the volume is in use", IN_USE_FIX),
            ],
        ),
        (
            {"parameters": {}},
            {},
            [("parameters", {}, {"type": "gp3"}, "kept", "Nomad keeps what it has where none are sent", ANEW)],
        ),
        (
            {"required_topologies": (HERE,)},
            NO_PLACES,
            [("topology_request.required", [HERE], [], "kept", LEFT_OUT, ANEW)],
        ),
        (
            PREFERRED | {"required_topologies": ()},
            NO_PLACES,
            [("topology_request.preferred", [THERE], [], "kept", LEFT_OUT, ANEW)],
        ),
        (
            {"capacity_min_bytes": 5 * GIB, "capacity_max_bytes": 5 * GIB},
            TEN,
            [
                ("capacity_min", 5 * GIB, 10 * GIB, "refused", SHRINKS, AT_LEAST),
                ("capacity_max", 5 * GIB, 0, "refused", SHRINKS, AT_LEAST),
            ],
        ),
        (
            {"context": {"password": CANARY, "tier": "slow"}},
            {"context": {"password": CANARY, "tier": "fast"}},
            [
                (
                    "context",
                    {"password": "[secret]", "tier": "slow"},
                    {"password": "[secret]", "tier": "fast"},
                    "in-place",
                    "",
                    "",
                )
            ],
        ),
        (
            PREFERRED,
            {"topologies": (HERE,), "required_topologies": (HERE,), "preferred_topologies": (HERE,)},
            [
                (
                    "topology_request.preferred",
                    [THERE],
                    [HERE],
                    "replaced",
                    "Nomad never changes where a volume can be attached",
                    ANEW,
                )
            ],
        ),
        (
            FOR_LESS,
            TEN,
            [
                ("capacity_min", 4 * GIB, 10 * GIB, "refused", SHRINKS, AT_LEAST),
                ("capacity_max", 5 * GIB, 0, "refused", SHRINKS, AT_LEAST),
            ],
        ),
        (
            {"capacity_min_bytes": 2, "capacity_max_bytes": 1},
            {},
            [
                ("capacity_min", 2, 0, "refused", "capacity_max 1B is less than capacity_min 2B", AT_LEAST),
                ("capacity_max", 1, 0, "refused", "capacity_max 1B is less than capacity_min 2B", AT_LEAST),
            ],
        ),
        (
            {"capacity_min_bytes": 10 * GIB, "capacity_max_bytes": 10 * GIB},
            {"capacity_bytes": 10 * GIB},
            [("capacity_min", 10 * GIB, 0, "in-place", "", ""), ("capacity_max", 10 * GIB, 0, "in-place", "", "")],
        ),
    ],
)
def test_difference_has_both_values_the_reason_and_what_to_do(wanted, found, expected):
    """Whole, as commands and resources show it."""
    assert [tuple(vars(item).values()) for item in judge(wanted, found).differences] == expected


def test_sentence_of_a_list_has_what_goes_and_comes():
    """One that was or is nothing is shown as it is, with its keys in order and its letters as they are."""
    shown = [
        compare.Difference(field="capability", actual=["a", "b", "c"], desired=["c", "d"]),
        compare.Difference(field="places", actual=[], desired=[{"zone": "ü", "rack": "1"}]),
        compare.Difference(field="places", actual=["a"], desired=[]),
    ]

    assert [str(item) for item in shown] == [
        "capability: removed a, b; added d",
        'places: Nomad has nothing, wanted [{"rack": "1", "zone": "ü"}]',
        'places: Nomad has ["a"], wanted nothing',
    ]


def test_a_registration_that_nothing_claims_equals_its_document():
    """As Nomad holds it at first: schedulable, without a controller that it needs, and free."""
    held = compare.registered_volume(WANTED)

    assert (held.schedulable, held.controller_required, held.claims, held.topologies) == (
        True,
        False,
        (),
        WANTED.required_topologies,
    )
    assert compare.compare_volume(WANTED, held).kind == "equal"


def test_preferred_places_that_differ_are_sent_as_they_are_desired():
    """Those that Nomad holds are sent only where none are desired, or the same."""
    held = dataclasses.replace(FOUND, preferred_topologies=(HERE,))
    sent = [
        compare.keep_actual_places(dataclasses.replace(WANTED, preferred_topologies=places), held).preferred_topologies
        for places in ((), (HERE,), (THERE,))
    ]

    assert sent == [(HERE,), (HERE,), (THERE,)]
