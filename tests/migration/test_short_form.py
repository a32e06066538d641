"""An imported spec says what is not so anyway, and is planned as it was."""

import pytest

from nomad_csi.migration import short_form
from nomad_csi.plan import storage

EBS = {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}
MODE = {"access_mode": "single-node-writer", "attachment_mode": "file-system"}


def disk(volume_id, number=0, **more):
    """Return a volume whose storage is there."""
    source = {"external_id": f"vol-0123456789abcde{number:02}", "availability_zone": "us-east-1a"}
    return {"id": volume_id, "plugin_id": "aws-ebs0", "existing": source} | more


def made(volume_id, **more):
    """Return a volume that Pulumi makes."""
    return {"id": volume_id, "plugin_id": "aws-ebs0", "ebs": {"availability_zone": "us-east-1a", "size_gib": 8}} | more


def shortened(*volumes, **plugin):
    """Return the short form of a spec, of which the same plan is made."""
    document = {"plugins": [EBS | plugin], "volumes": list(volumes)}
    found = short_form.shortened(document)
    assert storage.plan_document(found) == storage.plan_document(document)
    return found


def test_defaults_are_left_out_at_every_depth():
    """Of the spec and of its driver; what stands beside them stays."""
    resources = {"cpu_mhz": 100, "memory_mib": 64}
    usual = {
        "priority": 80,
        "datacenters": ["*"],
        "verify": {"timeout_s": 300.0},
        "controller": {"resources": resources},
    }

    found = shortened(disk("mysql", namespace="default", capabilities=[MODE], adopt=False), **usual)

    assert found["plugins"] == [EBS | {"controller": {"resources": {"memory_mib": 64}}}]
    assert found["volumes"] == [disk("mysql")]


def test_what_differs_from_a_default_stays():
    """Also where it is false or nothing."""
    block = MODE | {"attachment_mode": "block-device"}
    volume = disk("mysql", namespace="prod", capabilities=[block], protect=False)

    found = shortened(volume, priority=50)

    assert found == {"plugins": [EBS | {"priority": 50}], "volumes": [volume]}


@pytest.mark.parametrize(
    ("volumes", "expected"),
    [
        ([made("web[0]"), made("web[1]"), made("web[2]")], [made("web", count=3)]),
        (
            [made("web[1]"), disk("a"), made("web[0]", adopt=True)],
            [made("web", each=[{"adopt": True}, {}]), disk("a")],
        ),
        (
            [disk("web[0]", 1), disk("web[1]", 2)],
            [
                {
                    "id": "web",
                    "plugin_id": "aws-ebs0",
                    "each": [{"existing": disk("web", number)["existing"]} for number in (1, 2)],
                }
            ],
        ),
        ([made("web[0]"), made("web[2]")], [made("web[0]"), made("web[2]")]),
        ([made("web[0]")], [made("web[0]")]),
        ([made("web[0]"), made("web[1]", namespace="prod")], [made("web[0]"), made("web[1]", namespace="prod")]),
    ],
    ids=["equal", "in another order", "of their own storage", "with a gap", "alone", "of two namespaces"],
)
def test_volumes_of_one_per_alloc_job_are_a_set(volumes, expected):
    """From 0 on and without a gap: with a count where they are equal, else with what each has of its own."""
    document = {"plugins": [EBS], "volumes": volumes}

    found = short_form.shortened(document)

    assert found["volumes"] == expected
    by_key = [sorted(storage.plan_document(each).volumes, key=lambda item: item.key) for each in (document, found)]
    assert by_key[0] == by_key[1]


def test_sets_of_one_name_in_two_namespaces_both_stay():
    """Both are in the spec."""
    found = shortened(
        made("web[0]"), made("web[1]"), made("web[0]", namespace="prod"), made("web[1]", namespace="prod")
    )

    assert found["volumes"] == [made("web", count=2), made("web", count=2, namespace="prod")]
