"""What is to take the place of a registration is asked for first: Nomad's plugin, AWS's storage, the controller."""

import shutil
import tempfile
from pathlib import Path

import boto3
import pytest

from nomad_csi.csi import capability, channel, endpoint, validation
from nomad_csi.frame import resource
from nomad_csi.health import gather
from nomad_csi.nomad import plugins
from nomad_csi.resources import plugin_health
from nomad_csi.volumes import desired, fitness, storage_checks, volume_properties
from nomad_csi_sandbox.aws import server as moto_server
from nomad_csi_sandbox.csi_plugin import arguments, server
from tests import csi_calls

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


@pytest.mark.parametrize(
    ("found", "needs_controller", "expected"),
    [
        (plugin(NODE), False, []),
        (plugin(NODE, CONTROLLER, controller_required=True), True, []),
        (plugin(), False, ["pluginId: expected a healthy plugin, got 'p': no instance is healthy; "]),
        (plugin(SICK, SICK_CONTROLLER), False, ["pluginId: expected a healthy plugin, got 'p': no instance is "]),
        (plugin(NODE, SICK_CONTROLLER), False, []),
        (
            plugin(NODE, SICK_CONTROLLER, controller_required=True),
            False,
            ["pluginId: expected a plugin with a healthy controller, got 'p': 0 of 1 are healthy; "],
        ),
        (plugin(NODE), True, ["pluginId: expected a plugin with a controller, got 'p': it has none; "]),
    ],
)
def test_plugin_must_be_able_to_serve_the_volume(found, needs_controller, expected):
    """One that was never healthy would take any registration, and one without controller makes no volume."""
    problems = list(
        fitness.plugin_problems(found, wanted(NEWS | ({} if needs_controller else {"externalId": "vol-1"})))
    )

    assert len(problems) == len(expected)
    assert all(str(problem).startswith(start) for problem, start in zip(problems, expected, strict=True))


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
    """AWS."""
    with moto_server.Moto() as made:
        made.wait_until_it_answers()
        yield made


@pytest.fixture
def account(aws, monkeypatch):
    """The environment of one that has credentials of the account."""
    for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": aws.url}.items():
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.fixture
def volume(account):
    """Make an EBS volume in a zone: ``volume("us-east-1a")``."""
    del account
    ec2 = boto3.client("ec2", region_name=REGION)
    yield lambda zone=ZONE: ec2.create_volume(AvailabilityZone=zone, Size=1)["VolumeId"]
    ec2.close()


@pytest.fixture
def systems(account):
    """Two file systems, and an access point of the first."""
    del account
    efs = boto3.client("efs", region_name=REGION)
    one, other = (efs.create_file_system(CreationToken=token)["FileSystemId"] for token in ("one", "other"))
    point = efs.create_access_point(ClientToken="point", FileSystemId=one)["AccessPointId"]
    yield one, other, point
    efs.delete_access_point(AccessPointId=point)
    for system in (one, other):
        efs.delete_file_system(FileSystemId=system)
    efs.close()


def asked(external_id, old, *, of=None, **news):
    """Return what AWS has against an external id, and what it was not asked."""
    unchecked = []
    document = wanted(NEWS | {"externalId": external_id} | news).document
    found = storage_checks.storage_problems(of, document, old, unchecked)
    return [str(problem) for problem in found], unchecked


def test_ebs_volume_that_is_there_in_its_zone_is_well(volume):
    """Nothing is said of it."""
    assert asked(volume(), volume(), requiredTopologies=places(ZONE)) == ([], [])


def test_ebs_volume_that_ec2_does_not_know_is_refused(volume):
    """EC2 knows the old one: account and region are the right ones."""
    old = volume()

    [problem], unchecked = asked(ABSENT_VOLUME, old, requiredTopologies=places(ZONE))

    assert problem == (
        f"externalId: expected an EBS volume of us-east-1, where AWS knows {old} and not this one, got "
        f"'{ABSENT_VOLUME}'; correct the id"
    )
    assert unchecked == []


@pytest.mark.usefixtures("account")
def test_ebs_volume_of_another_account_is_not_called_wrong():
    """Neither of them is known, so that it may be the credentials that are."""
    problems, unchecked = asked(ABSENT_VOLUME, "vol-0bbbbbbbbbbbbbbbb", requiredTopologies=places(ZONE))

    assert problems == []
    assert unchecked == [f"{ABSENT_VOLUME} in AWS (these credentials do not see it in us-east-1)"]


def test_ebs_volume_in_another_zone_is_refused(volume):
    """Nothing could ever attach it."""
    wanted = volume("us-east-1b")

    [problem], _ = asked(wanted, volume(), requiredTopologies=places(ZONE))

    assert problem == f"requiredTopologies: expected us-east-1b, the zone of {wanted}, got us-east-1a"


def test_zone_of_the_nodes_and_the_environment_name_the_region(volume, monkeypatch):
    """Where the volume names none; else nothing is asked, and that is said."""
    old = volume()
    by_nodes = plugin(instance("node", zone="us-east-1c"))

    [of_nodes], _ = asked(ABSENT_VOLUME, old, of=by_nodes)
    without = asked(ABSENT_VOLUME, old)
    monkeypatch.setenv("AWS_REGION", REGION)
    [of_environment], _ = asked(ABSENT_VOLUME, old, requiredTopologies=resource.UNKNOWN)

    assert of_nodes == of_environment
    assert without == ([], [f"{ABSENT_VOLUME} in AWS (no region is known: set AWS_REGION)"])


def test_account_that_does_not_answer_is_not_asked_for_ever(volume, monkeypatch):
    """Without credentials it is one line."""
    old = volume()
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.delenv(f"AWS_{name}")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", "/nonexistent")

    problems, [line] = asked(ABSENT_VOLUME, old, requiredTopologies=places(ZONE))

    assert problems == []
    assert line.startswith(f"{ABSENT_VOLUME} in AWS (AWS credentials: none found; ")


def test_file_system_and_access_point_are_looked_up(systems):
    """An access point must be one of its file system."""
    one, other, point = systems
    here = {"of": plugin(instance("node", zone=ZONE))}
    gone = "fsap-0aaaaaaaaaaaaaaaa"

    assert asked(f"{one}::{point}", other, **here) == ([], [])
    assert asked(f"{one}::{gone}", one, **here)[0] == [
        f"externalId: expected an access point of {one}, got '{gone}', which EFS does not know"
    ]
    assert asked(f"{other}::{point}", one, **here)[0] == [
        f"externalId: expected an access point of {other}, got '{point}', one of {one}"
    ]
    assert asked(ABSENT_SYSTEM, f"{one}:/a", **here)[0] == [
        f"externalId: expected a file system of us-east-1, where AWS knows {one} and not this one, got "
        f"'{ABSENT_SYSTEM}'; correct the id"
    ]


def preview_of_a_new_volume(scripted, context, external_id, *, owned=True):
    """Check the storage of a new volume that the program made before, or did not."""
    scripted.reply("GET", "/v1/plugin/csi/p", 200, {"ID": "p", "Nodes": {}})
    news = NEWS | {"externalId": external_id, "requiredTopologies": places(ZONE), "storage": {"owned": owned}}
    problems, unchecked = fitness.problems_of_owned_storage(context, wanted(news))
    return [str(problem) for problem in problems], unchecked


def test_storage_that_is_gone_is_noticed_before_a_new_registration(systems, scripted, context):
    """The state was copied, or kept: what AWS does not know may be another account's, so it is a warning."""
    one, _, point = systems

    assert preview_of_a_new_volume(scripted, context, f"{one}::{point}") == ([], [])
    assert preview_of_a_new_volume(scripted, context, ABSENT_SYSTEM, owned=False) == ([], [])
    assert preview_of_a_new_volume(scripted, context, resource.UNKNOWN) == ([], [])

    for gone in (ABSENT_SYSTEM, ABSENT_VOLUME):
        found = preview_of_a_new_volume(scripted, context, gone)
        assert found == ([], [f"{gone} in AWS (these credentials do not see it in us-east-1)"])


def test_new_registration_for_an_access_point_that_is_gone_is_refused(systems, scripted, context):
    """EFS knows the file system, and so would know the point."""
    one, _, _ = systems

    [problem], _ = preview_of_a_new_volume(scripted, context, f"{one}::fsap-0aaaaaaaaaaaaaaaa")

    assert problem.startswith(f"externalId: expected an access point of {one}, got ")


def test_file_system_of_another_account_is_not_called_wrong(systems):
    """``crossaccount`` says that these credentials do not see it."""
    one, _, _ = systems

    problems, [line] = asked(
        ABSENT_SYSTEM, one, of=plugin(instance("node", zone=ZONE)), context={"crossAccount": "true"}
    )

    assert (problems, line) == ([], f"{ABSENT_SYSTEM} in AWS (these credentials do not see it in us-east-1)")


@pytest.mark.parametrize("external_id", ["server#share", "pv-1", resource.UNKNOWN, "local-ebs://dev/xvdbz"])
def test_other_storage_is_not_aws_to_know(external_id):
    """Nobody is asked, and nothing is said."""
    assert asked(external_id, "vol-0bbbbbbbbbbbbbbbb", requiredTopologies=places(ZONE)) == ([], [])


# --- the controller
@pytest.fixture(scope="module")
def client():
    """A client's data directory with the socket of an emulated csi-driver-host-path, and a volume that it made."""
    folder = Path(tempfile.mkdtemp(prefix="nc"))
    socket = Path(gather.socket_path(str(folder), "alloc"))
    socket.parent.mkdir(parents=True)
    environment = {"NOMAD_CSI_SANDBOX_STORAGE": str(folder / "storage"), "NOMAD_CSI_SANDBOX_ZONE": ZONE}
    words = ["--driver", "csi-hostpath", f"--endpoint=unix://{socket}", "--nodeid=n1"]
    use = capability.VolumeCapability(access_mode="single-node-writer", attachment_mode="file-system")
    with server.served(arguments.read(words, environment), environment):
        with channel.connect(endpoint.parse(str(socket))) as connection:
            wanted = csi_calls.NewVolume(name="v", capabilities=(use,), required_bytes=2**20)
            made = csi_calls.create_volume(connection, wanted, timeout_s=60)
        yield folder, made.volume_id
    shutil.rmtree(folder)


def validated(context, external_id, of=None, **news):
    """Return what the controller has against an external id, and what it was not asked."""
    unchecked = []
    found = plugin(instance(), controller_required=True) if of is None else of
    document = wanted(NEWS | {"externalId": external_id} | news).document
    problems = storage_checks.controller_problems(context, found, document, unchecked)
    return [str(problem) for problem in problems], unchecked


def test_controller_on_this_machine_is_asked(context, client):
    """What it does not know, Nomad would refuse to register."""
    folder, made = client
    context.operation.declare(
        plugin_health.PluginHealthResource.declared.token, "urn", {"pluginId": "p", "clientDataDir": str(folder)}
    )

    assert validated(context, made) == ([], [])
    [problem], unchecked = validated(context, "absent")
    assert problem.startswith("externalId: expected a volume that the controller of p knows, got 'absent': NOT_FOUND: ")
    assert unchecked == []
    assert validated(context, "absent", secrets={"password": resource.UNKNOWN}) == ([], [])


def test_controller_is_asked_all_that_nomad_would_ask_it(context, client, monkeypatch):
    """Whole, with the secrets: a controller that needs them would else refuse what is right."""
    folder, _ = client
    context.operation.declare(
        plugin_health.PluginHealthResource.declared.token, "urn", {"pluginId": "p", "clientDataDir": str(folder)}
    )
    sent, answers = [], {("default", "v"): validation.Validated(confirmed=True)}
    monkeypatch.setattr(validation, "ask", lambda *words, **given: sent.append((words, given)) or answers)

    more = {"secrets": {"password": "x"}, "parameters": {"kind": "fast"}}
    assert validated(context, "vol-1", **more) == ([], [])

    [((_, [question]), given)] = sent
    assert (question.external_id, question.uses) == ("vol-1", (("single-node-writer", "file-system"),))
    assert question.parameters == {"kind": "fast"}
    assert given == {"secrets": {question.key: {"password": "x"}}, "timeout_s": storage_checks.TIMEOUT_S}


@pytest.mark.parametrize("healthy", [True, False])
def test_controller_elsewhere_is_said_not_to_be_asked(context, client, healthy):
    """Its socket is on a client that is another machine, or nobody serves it."""
    folder, _ = client
    if not healthy:
        context.operation.declare(
            plugin_health.PluginHealthResource.declared.token, "urn", {"pluginId": "p", "clientDataDir": str(folder)}
        )

    found = validated(context, "absent", plugin(instance(healthy=healthy)))

    assert found == ([], ["the controller of p (its socket is not reachable from here)"])


def test_plugin_without_a_controller_is_not_asked(context):
    """As that of EFS."""
    assert validated(context, "absent", plugin(NODE)) == ([], [])


# --- all of them
def together(context, news, recorded):
    """Return the problems of a replacement, and what was not checked."""
    unchecked = []
    return fitness.problems(context, wanted(news), recorded, unchecked), unchecked


def test_all_that_is_wrong_is_said_together(context, scripted, volume):
    """And what was not checked is one line."""
    wrong = NEWS | {"externalId": ABSENT_VOLUME, "requiredTopologies": places(ZONE)}
    old = {"volumeId": "v", "namespace": "default", "externalId": volume()}
    scripted.reply("GET", "/v1/plugin/csi/p", 200, {"ID": "p", "Controllers": {"a": {"AllocID": "x"}}})

    told, _ = together(context, wrong, old)
    scripted.replies.clear()
    scripted.reply("GET", "/v1/plugin/csi/p", 200, {"ID": "p", "Controllers": {"a": {"AllocID": "x", "Healthy": True}}})
    right = wrong | {"externalId": volume()}

    assert [line.partition(", ")[0] for line in told] == [
        "pluginId: expected a healthy plugin",
        "externalId: expected an EBS volume of us-east-1",
    ]
    assert f"where AWS knows {old['externalId']}" in told[1]
    assert together(context, right, old) == (
        (),
        ["the controller of p (its socket is not reachable from here)"],
    )
