"""How large a volume is that the plugin makes: in GiB or in bytes, and never both."""

import pytest

from nomad_csi.plan import registration, storage, volumes


def plan_of(**create):
    volume = {"id": "v", "plugin_id": "p", "create": create}
    return storage.plan_document({"plugins": [{"id": "p", "driver": "csi-hostpath"}], "volumes": [volume]})


@pytest.mark.parametrize(
    ("create", "least", "most"),
    [
        ({}, 0, 0),
        ({"capacity_min_gib": 2}, 2 * 2**30, 0),
        ({"capacity_min_bytes": 104_857_600}, 104_857_600, 0),
        ({"capacity_min_gib": 1, "capacity_max_bytes": 2**30 + 1}, 2**30, 2**30 + 1),
        ({"capacity_min_bytes": 1, "capacity_max_gib": 1}, 1, 2**30),
        ({"capacity_min_bytes": 2**53, "capacity_max_bytes": 2**53}, 2**53, 2**53),
    ],
)
def test_both_units_are_bytes_from_here_on(create, least, most):
    """What is compared with Nomad, and sent to it, is the exact number of bytes."""
    plan = plan_of(**create)

    document = volumes.desired_document(plan.volumes[0], {})
    assert (document.capacity_min_bytes, document.capacity_max_bytes) == (least, most)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("Web[0]", "web-0"),
        ("a_b..c", "a-b-c"),
        ("9", "v-9"),
        ("..", "v"),
        ("é", "v"),
        ("x" * 50, "x" * 50),
        ("x" * 51, "x" * 50),
        ("x" * 49 + ".y", "x" * 49),
    ],
)
def test_storage_has_the_name_of_its_volume_and_a_nonce(name, made):
    """Within the alphabet and the length of every driver; it is read back without the nonce."""
    nonce = "5e884898da28"

    assert registration.creation_name(name, nonce) == f"{made}-{nonce}"
    assert registration.readable_part(f"{made}-{nonce}") == made
    for other in (name, f"{made}-{nonce}0", f"{made}-{nonce[1:]}", f"{made}-{nonce}".upper(), f"-{nonce}"):
        assert registration.readable_part(other) == other
