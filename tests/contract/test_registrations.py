"""Registration of many volumes on both sides: what is stored, what is refused, and what is not written."""

import dataclasses
import json
from concurrent import futures

import pytest

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.nomad import namespaces, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import desired, sending, volume_resource
from tests import clocks, volume_files

SHARED = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
LONE = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
ZONE = {"topology.kubernetes.io/zone": "us-east-1a"}
COUNT = 30


@pytest.fixture
def documents(fresh, client):
    """Return new volumes of plugin ``efs``: ``documents(3)``; they are gone after the test."""
    made = []

    def make(count, **fields):
        for _ in range(count):
            volume_id = fresh("batch")
            document = registration.VolumeRegistration(
                volume_id=volume_id,
                name=volume_id,
                external_id=f"fs-0123456789abcdef1:/{volume_id}",
                plugin_id="efs",
                capabilities=(SHARED,),
                required_topologies=(ZONE,),
            )
            made.append(dataclasses.replace(document, **fields))
        return made[-count:]

    yield make
    for document in made:
        volumes.deregister(client, document.namespace, document.volume_id)


def statuses(outcomes):
    """Return what became of each."""
    return [outcome.status for outcome in outcomes]


def test_namespace_that_is_not_there_is_found_before_anything_is_sent(agent, documents):
    """By one read, however many volumes are in it; nothing is sent for the other namespaces either."""
    calls = []
    here = documents(2)
    lost = [dataclasses.replace(item, namespace="storag") for item in documents(COUNT)]
    connection = nomad.Connection(address=agent.url)
    with nomad.Nomad(connection, observe=lambda *call: calls.append(call)) as client:
        with pytest.raises(errors.SpecError) as caught:
            applied.apply(client, volume_files.wanted([*here, *lost]))
        there = [volumes.get(client, "default", item.volume_id) for item in here]

    [problem] = caught.value.problems
    assert (problem.path, problem.got) == ("namespace", "'storag'")
    assert calls[0] == ("GET", "/v1/namespace/storag")
    assert [method for method, _ in calls] == ["GET"] * 3
    assert there == [None, None]


@pytest.mark.parametrize("who", ["blind", "owner"])
def test_token_that_may_not_see_a_namespace_finds_none_missing(acl_agent, token_of, who):
    """A read by name does not show it either; Nomad's refusal of the volume stands."""
    with nomad.Nomad(nomad.Connection(address=acl_agent.url, token=token_of(who))) as client:
        assert namespaces.missing(client, ["default", "other"]) == ()


def test_plugin_that_is_not_there_is_refused_with_advice(client, documents):
    """For each volume."""
    outcomes = applied.apply(client, volume_files.wanted(documents(3, plugin_id="nobody")))

    assert statuses(outcomes) == ["refused"] * 3
    assert "no CSI plugin named: nobody could be found; run the plugin's job first" in outcomes[0].reason


def test_controller_refuses_one_and_the_others_go_in(client, documents, ec2):
    """Each is asked for by its controller; the one without storage is refused with its own reason."""
    fields = {"plugin_id": "ebs", "capabilities": (LONE,), "required_topologies": ()}
    disks = [ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"] for _ in range(12)]
    disks[5] = "vol-0123456789abcdef0"
    wanted = [documents(1, external_id=disk, **fields)[0] for disk in disks]

    outcomes = applied.apply(client, volume_files.wanted(wanted))

    assert statuses(outcomes) == ["registered"] * 5 + ["refused"] + ["registered"] * 6
    assert "InvalidVolume.NotFound" in outcomes[5].reason


@pytest.mark.parametrize(
    ("fault", "message", "status", "requests"),
    [
        ("ABORTED", "code = Aborted desc", "failed", sending.ATTEMPTS),
        ("FAILED_PRECONDITION", "code = FailedPrecondition desc", "refused", 1),
        ("UNAVAILABLE", "code = Unavailable desc", "failed", sending.ATTEMPTS),
        ("RESOURCE_EXHAUSTED", "code = ResourceExhausted desc", "failed", sending.ATTEMPTS),
        (
            "DEADLINE_EXCEEDED: context deadline exceeded",
            "desc = context deadline exceeded",
            "failed",
            sending.ATTEMPTS,
        ),
        ("INTERNAL: api error RequestLimitExceeded: slow down", "RequestLimitExceeded", "failed", sending.ATTEMPTS),
        ("INTERNAL: api error ThrottlingException: slow down", "ThrottlingException", "failed", sending.ATTEMPTS),
    ],
)
def test_volume_that_its_controller_refuses_keeps_no_other_out(sticky, fresh, ec2, fault, message, status, requests):
    """One that is busy with it is asked again."""
    storage = [ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"] for _ in range(3)]
    wanted = [_of_ebs(fresh("one"), external_id) for external_id in storage]
    sticky.fault_file.write_text(json.dumps({"validate": {storage[1]: fault}}))
    calls = []
    connection = nomad.Connection(address=sticky.agent.url)
    try:
        with nomad.Nomad(
            connection, observe=lambda method, path: calls.append((method, path)), clock=clocks.Clock()
        ) as client:
            outcomes = applied.apply(client, volume_files.wanted(wanted))
            for item in wanted:
                volumes.deregister(client, item.namespace, item.volume_id)
    finally:
        sticky.fault_file.unlink()

    assert statuses(outcomes) == ["registered", status, "registered"]
    assert message in outcomes[1].reason
    assert calls.count(("PUT", volumes.path_of(wanted[1].volume_id))) == requests


def _of_ebs(volume_id, external_id):
    return registration.VolumeRegistration(
        volume_id=volume_id, name=volume_id, external_id=external_id, plugin_id="ebs", capabilities=(LONE,)
    )


@pytest.mark.usefixtures("world")
def test_mount_options_in_use_are_refused_before_nomad_does(client):
    """The reason names the volume, which Nomad's sentence does not."""
    found = volumes.get(client, "default", "used")
    document = registration.VolumeRegistration(
        volume_id="used",
        name="used",
        external_id=found.external_id,
        plugin_id="efs",
        capabilities=found.capabilities,
        context=found.context,
    )

    [outcome] = applied.apply(client, volume_files.wanted([document]))

    assert outcome.status == "refused"
    assert "mount_options.mount_flags: Nomad has" in outcome.reason
    assert "the volume is in use; stop the jobs that claim it first" in outcome.reason
    with pytest.raises(errors.NomadApiError, match="can not update mount options while volume is in use"):
        volumes.register(client, document)


def test_creates_of_pulumi_keep_their_errors(agent, documents):
    """The engine creates in parallel: the volume that Nomad refuses fails alone, and the list of all volumes is shared."""
    kind, calls = volume_resource.VolumeRegistrationResource(), []
    wanted = [desired.write_inputs(item) for item in documents(COUNT)]
    wanted[7] = wanted[7] | {"capabilities": []}
    connection = nomad.Connection(address=agent.url)
    with nomad.Nomad(connection, observe=lambda *call: calls.append(call)) as client:
        context = resource.Context(connect=lambda: client)
        with futures.ThreadPoolExecutor(COUNT) as pool:
            done = [pool.submit(kind.create, context, news) for news in wanted]
        failed = [number for number, item in enumerate(done) if item.exception()]
        there = [volumes.get(client, "default", news["volumeId"]) is not None for news in wanted]

    assert failed == [7]
    assert "must include at least one capability block" in str(done[7].exception())
    assert there == [number != 7 for number in range(COUNT)]
    sent = [path for method, path in calls if method == "PUT" and path.startswith("/v1/volume")]
    assert sorted(sent) == sorted(volumes.path_of(news["volumeId"]) for news in wanted)
    assert calls.count(("GET", "/v1/volumes")) <= COUNT  # one of all, and of each one's storage after it is registered
