"""What is to take the place of a registration is asked for first: Nomad's plugin, AWS's storage, the controller."""

import boto3
import pytest

from nomad_csi.frame import resource
from nomad_csi.nomad import plugins
from nomad_csi.volumes import desired, fitness, storage_checks, volume_properties
from nomad_csi_sandbox.aws import server as moto_server

REGION, ZONE = "us-east-1", "us-east-1a"
ABSENT_VOLUME, ABSENT_SYSTEM = "vol-0aaaaaaaaaaaaaaaa", "fs-0aaaaaaaaaaaaaaaa"
USE = {"accessMode": "single-node-writer", "attachmentMode": "file-system"}
NEWS = {"volumeId": "v", "namespace": "default", "name": "v", "pluginId": "p", "capabilities": [USE]}


def wanted(news):
    """Return the desired volume of inputs; without an external id its plugin creates the storage."""
    return desired.of_properties(volume_properties.of("existing" if "externalId" in news else "created"), news)


def instance(role="controller", *, healthy=True, zone="", alloc_id="alloc"):
    """An instance of a plugin."""
    return plugins.Instance(
        role=role,
        node_id=f"node-{alloc_id}",
        alloc_id=alloc_id,
        healthy=healthy,
        health_description="",
        provider_version="",
        segments={"topology.kubernetes.io/zone": zone} if zone else {},
        max_volumes=None,
        supports=frozenset(),
    )


def plugin(*instances, provider="", controller_required=False):
    """A plugin as Nomad has it."""
    return plugins.Plugin(
        plugin_id="p",
        provider=provider,
        version="",
        controller_required=controller_required,
        controllers=tuple(item for item in instances if item.role == "controller"),
        nodes=tuple(item for item in instances if item.role == "node"),
        controllers_expected=1,
        nodes_expected=1,
    )


def places(*zones):
    """Required places in EBS's words."""
    return [{"segments": {"topology.ebs.csi.aws.com/zone": zone}} for zone in zones]


# --- Nomad
NODE, SICK = instance("node"), instance("node", healthy=False)
CONTROLLER, SICK_CONTROLLER = instance(), instance(healthy=False)


UNHEALTHY = "expected a healthy plugin, got 'p': no instance is healthy; "
ABLE = {
    "a node": (plugin(NODE), False, ""),
    "node and controller": (plugin(NODE, CONTROLLER, controller_required=True), True, ""),
    "nothing": (plugin(), False, UNHEALTHY),
    "nothing healthy": (plugin(SICK, SICK_CONTROLLER), False, UNHEALTHY),
    "a controller that it does not need": (plugin(NODE, SICK_CONTROLLER), False, ""),
    "a controller that it needs": (
        plugin(NODE, SICK_CONTROLLER, controller_required=True), False,
        "expected a plugin with a healthy controller, got 'p': 0 of 1 are healthy; ",
    ),
    "no controller to create volumes": (plugin(NODE), True, "expected a plugin with a controller, got 'p': it has none; "),
}  # fmt: skip


@pytest.mark.parametrize(("found", "needs_controller", "expected"), ABLE.values(), ids=ABLE)
def test_plugin_must_be_able_to_serve_the_volume(found, needs_controller, expected):
    """One that was never healthy would take any registration, and one without controller makes no volume."""
    news = NEWS | ({} if needs_controller else {"externalId": "vol-1"})

    problems = [str(problem) for problem in fitness.plugin_problems(found, wanted(news))]

    assert len(problems) == bool(expected)
    assert not problems or problems[0].startswith(f"pluginId: {expected}")


@pytest.mark.parametrize(
    ("provider", "external_id", "count"),
    [
        ("ebs.csi.aws.com", "vol-0123456789abcdef0", 0),
        ("ebs.csi.aws.com", "vol-o123456789abcdef0", 1),
        ("ebs.csi.aws.com", resource.UNKNOWN, 0),
        ("efs.csi.aws.com", "fs-0123456789abcdef0::fsap-0123456789abcdef0", 0),
        ("efs.csi.aws.com", "vol-0123456789abcdef0", 1),
        ("org.democratic-csi.p", "anything", 0),
        ("example.com", "anything", 0),
    ],
)
def test_external_id_has_the_form_of_its_driver(provider, external_id, count):
    """Where the catalogue has the driver."""
    news = NEWS | {"externalId": external_id}

    found = list(fitness.plugin_problems(plugin(NODE, provider=provider), wanted(news)))

    assert len(found) == count


def test_a_missing_plugin_is_named_with_those_that_are_there():
    """Eight of them, and the nearest."""
    known = [f"efs{number}" for number in range(9)] + ["shop-ebs"]

    assert str(fitness.missing("shop-esb", known)) == (
        "pluginId: expected a CSI plugin that Nomad has (efs0, efs1, efs2, efs3, efs4, efs5, efs6, efs7 and 2 more), "
        "got 'shop-esb'; did you mean shop-ebs"
    )
    assert str(fitness.missing("p", [])) == (
        "pluginId: expected a CSI plugin that Nomad has (none), got 'p'; run the plugin's job first"
    )


# --- AWS
@pytest.fixture(scope="module")
def aws():
    """AWS, with a volume in each of two zones, two file systems, and an access point of the first: their ids by name."""
    with moto_server.Moto() as made, pytest.MonkeyPatch.context() as patched:
        made.wait_until_it_answers()
        for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": made.url}.items():
            patched.setenv(f"AWS_{name}", value)
        ec2, efs = (boto3.client(service, region_name=REGION) for service in ("ec2", "efs"))
        found = {
            name: ec2.create_volume(AvailabilityZone=zone, Size=1)["VolumeId"]
            for name, zone in (("disk", ZONE), ("same", ZONE), ("away", "us-east-1b"))
        }
        found |= {name: efs.create_file_system(CreationToken=name)["FileSystemId"] for name in ("one", "other")}
        found["point"] = efs.create_access_point(ClientToken="p", FileSystemId=found["one"])["AccessPointId"]
        ec2.close()
        efs.close()
        yield made, found


@pytest.fixture
def stored(aws, monkeypatch):
    """The ids of what is in AWS, to whoever has credentials of the account."""
    made, found = aws
    for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": made.url}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    return found


def asked(external_id, old, *, of=None, **news):
    """Return what AWS has against an external id, and what it was not asked."""
    unchecked = []
    document = wanted(NEWS | {"externalId": external_id} | news).document
    found = storage_checks.storage_problems(of, document, old, unchecked)
    return [str(problem) for problem in found], unchecked


PLACED = {"requiredTopologies": places(ZONE)}
IN_ZONE, IN_ANOTHER = ({"of": plugin(instance("node", zone=zone))} for zone in (ZONE, "us-east-1c"))
GONE_POINT = "fsap-0aaaaaaaaaaaaaaaa"
WRONG = "externalId: expected an EBS volume of us-east-1, where AWS knows {disk} and not this one, got '{absent}'; correct the id"
UNSEEN = "{} in AWS (these credentials do not see it in us-east-1)"
OF_AWS = {
    "a volume in its zone": ("{same}", "{disk}", PLACED, "", ""),
    "one that EC2 does not know": ("{absent}", "{disk}", PLACED, WRONG, ""),
    "nor the old one: it may be the credentials": ("{absent}", "vol-0bbbbbbbbbbbbbbbb", PLACED, "", UNSEEN.format("{absent}")),
    "in another zone": ("{away}", "{disk}", PLACED, "requiredTopologies: expected us-east-1b, the zone of {away}, got us-east-1a", ""),
    "by the region of the nodes": ("{absent}", "{disk}", IN_ANOTHER, WRONG, ""),
    "without a region": ("{absent}", "{disk}", {}, "", "{absent} in AWS (no region is known: set AWS_REGION)"),
    "an access point": ("{one}::{point}", "{other}", IN_ZONE, "", ""),
    "an access point that is gone": (
        f"{{one}}::{GONE_POINT}", "{one}", IN_ZONE, f"externalId: expected an access point of {{one}}, got '{GONE_POINT}', which EFS does not know", ""
    ),
    "of another file system": (
        "{other}::{point}", "{one}", IN_ZONE, "externalId: expected an access point of {other}, got '{point}', one of {one}", ""
    ),
    "a file system that is gone": (
        "{system}", "{one}:/a", IN_ZONE,
        "externalId: expected a file system of us-east-1, where AWS knows {one} and not this one, got '{system}'; correct the id", "",
    ),
    "one of another account": ("{system}", "{one}", IN_ZONE | {"context": {"crossAccount": "true"}}, "", UNSEEN.format("{system}")),
    "storage of another driver": ("server#share", "{disk}", PLACED, "", ""),
    "a local volume": ("local-ebs://dev/xvdbz", "{disk}", PLACED, "", ""),
    "not known": (resource.UNKNOWN, "{disk}", PLACED, "", ""),
}  # fmt: skip
"""New and old external id, and what else is known -> what AWS has against it, and what it was not asked."""


@pytest.mark.parametrize(("external_id", "old", "known", "problem", "unchecked"), OF_AWS.values(), ids=OF_AWS)
def test_storage_is_looked_up_in_aws(stored, external_id, old, known, problem, unchecked):
    """What AWS does not know is wrong where it knows the old one: account and region are the right ones then."""
    names = stored | {"absent": ABSENT_VOLUME, "system": ABSENT_SYSTEM}
    new, before, *expected = (text.format(**names) for text in (external_id, old, problem, unchecked))

    assert asked(new, before, **known) == tuple([text] if text else [] for text in expected)


def test_environment_names_the_region(stored, monkeypatch):
    """And without credentials it is one line."""
    monkeypatch.setenv("AWS_REGION", REGION)
    assert asked(ABSENT_VOLUME, stored["disk"])[0] == [WRONG.format(disk=stored["disk"], absent=ABSENT_VOLUME)]

    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.delenv(f"AWS_{name}")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", "/nonexistent")
    problems, [line] = asked(ABSENT_VOLUME, stored["disk"], **PLACED)
    assert problems == []
    assert line.startswith(f"{ABSENT_VOLUME} in AWS (AWS credentials: none found; ")


PREVIEWS = {
    "it is there": ("{one}::{point}", True, "", ""),
    "not of the program": (ABSENT_SYSTEM, False, "", ""),
    "not known": (resource.UNKNOWN, True, "", ""),
    "a file system that is gone": (ABSENT_SYSTEM, True, "", UNSEEN.format(ABSENT_SYSTEM)),
    "a volume that is gone": (ABSENT_VOLUME, True, "", UNSEEN.format(ABSENT_VOLUME)),
    "an access point that is gone": (f"{{one}}::{GONE_POINT}", True, "externalId: expected an access point of ", ""),
}


@pytest.mark.parametrize(("external_id", "owned", "problem", "unchecked"), PREVIEWS.values(), ids=PREVIEWS)
def test_storage_that_is_gone_is_noticed_before_a_new_registration(
    stored, scripted, context, external_id, owned, problem, unchecked
):
    """The state was copied, or kept: what AWS does not know may be another account's, so it is a warning."""
    scripted.reply("GET", "/v1/plugin/csi/p", 200, {"ID": "p", "Nodes": {}})
    news = NEWS | {"externalId": external_id.format(**stored), "storage": {"owned": owned}} | PLACED

    problems, lines = fitness.problems_of_owned_storage(context, wanted(news))

    assert [str(each)[: len(problem)] for each in problems] == ([problem] if problem else [])
    assert lines == ([unchecked] if unchecked else [])


# --- all of them
def together(context, news, recorded):
    """Return the problems of a replacement, and what was not checked."""
    unchecked = []
    return fitness.problems(context, wanted(news), recorded, unchecked), unchecked


def test_all_that_is_wrong_is_said_together(context, scripted, stored):
    """And what was not checked is one line."""
    wrong = NEWS | {"externalId": ABSENT_VOLUME, "requiredTopologies": places(ZONE)}
    old = {"volumeId": "v", "namespace": "default", "externalId": stored["disk"]}
    scripted.reply("GET", "/v1/plugin/csi/p", 200, {"ID": "p", "Controllers": {"a": {"AllocID": "x"}}})

    told, _ = together(context, wrong, old)
    scripted.replies.clear()
    scripted.reply("GET", "/v1/plugin/csi/p", 200, {"ID": "p", "Controllers": {"a": {"AllocID": "x", "Healthy": True}}})
    right = wrong | {"externalId": stored["same"]}

    assert [line.partition(", ")[0] for line in told] == [
        "pluginId: expected a healthy plugin",
        "externalId: expected an EBS volume of us-east-1",
    ]
    assert f"where AWS knows {old['externalId']}" in told[1]
    assert together(context, right, old) == ((), [])
