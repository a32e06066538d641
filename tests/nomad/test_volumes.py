"""Volumes: what is sent for them, and what a real agent said of them."""

import dataclasses
import json
import types

import pytest

from nomad_csi import errors
from nomad_csi.nomad import snapshots, volumes
from nomad_csi.plan import registration

WRITER = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
MYSQL = registration.VolumeRegistration(
    volume_id="mysql",
    namespace="storage",
    name="mysql",
    external_id="vol-f830b031821ee95ad",
    plugin_id="aws-ebs",
    capabilities=(WRITER,),
)
ZONE_A = {"topology.ebs.csi.aws.com/zone": "eu-west-1a"}
ZONE_B = {"topology.ebs.csi.aws.com/zone": "eu-west-1b"}


def read(agent, client, file, volume_id):
    agent.recorded(file, path=f"/v1/volume/csi/{volume_id}")
    return volumes.get(client, "default", volume_id)


def test_payload_of_a_bare_volume_has_mount_options():
    """Without the empty object, a volume in use could not be registered again."""
    assert volumes.payload(MYSQL) == {
        "ID": "mysql",
        "Namespace": "storage",
        "Name": "mysql",
        "ExternalID": "vol-f830b031821ee95ad",
        "PluginID": "aws-ebs",
        "RequestedCapabilities": [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}],
        "MountOptions": {},
    }


def test_a_refusal_that_repeats_a_secret_does_not_show_it(agent, client):
    """Not even the half of it that is left where a long sentence is cut."""
    secrets = {"password": "canary-of-the-volume"}
    new = snapshots.NewSnapshot(namespace="default", volume_id="mysql", name="s", secrets=secrets)
    for path in ("volume/csi/mysql", "volumes/snapshot"):
        agent.answer("PUT", f"/v1/{path}", "x" * 500 + " canary-of-the-volume", status=500)

    for send in (
        lambda: volumes.register(client, dataclasses.replace(MYSQL, secrets=secrets)),
        lambda: snapshots.create(client, new),
    ):
        with pytest.raises(errors.NomadApiError) as caught:
            send()
        assert caught.value.message == "x" * 500 + " [secret]"


def test_other_404_is_an_error(agent, client):
    """A server that is not Nomad does not make a volume disappear."""
    agent.answer("GET", "/v1/volume/csi/v1", "404 page not found", status=404)

    with pytest.raises(errors.NomadApiError, match="404 page not found"):
        volumes.get(client, "default", "v1")


def test_volume_with_odd_characters_and_redacted_flags(agent, client):
    """Every character arrives; of the flags only that there are some."""
    volume = read(agent, client, "05-dialect-volume.json", "dialect")

    assert volume == volumes.Volume(
        create_index=20,
        volume_id="dialect",
        namespace="default",
        name='n ${attr.x} %{ if } "q" \\ back',
        external_id="fs-1:/a\nb\tc",
        plugin_id="stubn",
        capabilities=(WRITER,),
        mount_options=registration.MountOptions(fs_type="ext4", mount_flags=("[REDACTED]",)),
        context={"k ${z}": "v ${z}"},
        parameters={
            "ls": "a\u2028b",
            "dollar": "$ $ $$ $x {y} ${",
            "nul": "a\u0001b",
            "plain": "cafe\u0301 vs caf\u00e9",
            'quo"t': "x",
            "newline": "l1\nl2\r\n\tend",
            "percent": "% %{ %% {",
            "\u00fc\u00f1\u00ed": "\u043a\u043b\u044e\u0447",
            "a.b/c": "emoji \U0001f389 and \U0001f389",
        },
        topologies=(ZONE_A, ZONE_B),
        required_topologies=(ZONE_A, ZONE_B),
        preferred_topologies=(ZONE_A,),
        schedulable=True,
        controller_required=False,
        claims=(),
    )


def test_claim_that_outlived_its_allocation(agent, client):
    """A claim whose allocation Nomad has forgotten is still a claim."""
    item = {
        "ID": "v",
        "Namespace": "default",
        "ReadAllocs": {"b": None, "a": None},
        "WriteAllocs": {"c": {"ID": "c"}},
        "Allocations": None,
    }
    agent.answer("GET", "/v1/volume/csi/v", json.dumps(item))

    claims = volumes.get(client, "default", "v").claims

    assert [(claim.alloc_id, claim.mode, claim.job_id) for claim in claims] == [
        ("c", "write", ""),
        ("a", "read", ""),
        ("b", "read", ""),
    ]


def test_volume_with_null_wherever_nomad_may_write_it(agent, client):
    """Null instead of a list or a map is read as empty."""
    names = ["Allocations", "Context", "MountOptions", "Parameters", "ReadAllocs", "RequestedCapabilities"]
    names += ["RequestedTopologies", "Topologies", "WriteAllocs"]
    agent.answer("GET", "/v1/volume/csi/v", json.dumps({"ID": "v", "Namespace": "default"} | dict.fromkeys(names)))

    volume = volumes.get(client, "default", "v")

    assert volume.volume_id == "v"
    assert not any([volume.claims, volume.context, volume.capabilities, volume.topologies, volume.has_mount_flags])


@pytest.mark.parametrize("missing", ["ID", "Namespace"])
def test_volume_without_its_key_is_an_error(agent, client, missing):
    """It would be taken for another one, or for none."""
    item = {"ID": "v", "Namespace": "default"} | {missing: None}
    agent.answer("GET", "/v1/volume/csi/v", json.dumps(item))

    with pytest.raises(errors.NomadApiError, match=f"{missing}: Field required"):
        volumes.get(client, "default", "v")


def test_what_is_no_volume_is_an_error(agent, client):
    """It is not taken for an absent one."""
    agent.answer("GET", "/v1/volume/csi/v", "[]")

    with pytest.raises(errors.NomadApiError, match="the answer: Value error, should be a volume"):
        volumes.get(client, "default", "v")


def test_deregister_what_is_gone_already(agent, client):
    """A second deregistration has nothing to do."""
    agent.answer("DELETE", "/v1/volume/csi/nope", "rpc error: volume not found: nope", status=500)

    volumes.deregister(client, "default", "nope")

    assert len(agent.asked) == 1


@pytest.mark.parametrize(
    ("topologies", "is_reached"),
    [
        ([], False),
        ([{"zone": "a"}], True),
        ([{"zone": "b"}], False),
        ([{"zone": "b"}, {"zone": "a"}], True),
        ([{"zone": "a", "rack": "2"}], False),
        ([{"zone": "a", "os": "linux"}], False),
        ([{}], True),
    ],
)
def test_client_reaches_a_topology_with_all_its_segments(topologies, is_reached):
    """It may have more."""
    assert volumes.reaches(topologies, {"zone": "a", "rack": "1"}) is is_reached


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"job_id": "web", "namespace": "prod", "node_id": "n", "node_name": "client-1", "client_status": "running"},
            "job prod/web (write, allocation a-1, running on node client-1)",
        ),
        (
            {"job_id": "web", "namespace": "prod", "node_id": "n", "client_status": "lost"},
            "job prod/web (write, allocation a-1, lost on node n)",
        ),
        ({}, "a job that is gone (write, allocation a-1, node unknown)"),
    ],
)
def test_holder_of_a_claim_is_named(fields, text):
    """As far as Nomad knows it."""
    claim = volumes.Claim(alloc_id="a-1", mode="write", **fields)

    assert volumes.holder(claim) == text
    assert volumes.holders(types.SimpleNamespace(claims=(claim, claim))) == f"{text}; {text}"


@pytest.mark.parametrize(
    ("message", "status", "kind", "has_made_nothing"),
    [
        *(
            (f"rpc error: code = {code} desc = x", 500, "refused", True)
            for code in ("InvalidArgument", "NotFound", "OutOfRange", "Unimplemented")
        ),
        ("rpc error: code = Internal desc = x", 500, "refused", False),
        ("rpc error: code = Aborted desc = x", 500, "retry", False),
        ("no healthy controllers for CSI plugin: p", 500, "retry", True),
        ("node is not the leader", 500, "retry", False),
        ("leadership transfer in progress", 500, "retry", False),
        ("timed out enqueuing operation", 500, "retry", False),
        ("volume v: nonexistent namespace", 500, "retry", False),
        ("mount options cannot be updated", 500, "retry", False),
        ("", 503, "retry", False),
        ("no CSI plugin named: p", 500, "refused", True),
        ("ACL token not found", 500, "refused", True),
        ("No path to region", 500, "refused", True),
        ("plugin has no controller", 500, "refused", True),
        ("plugin does not support creating volumes", 500, "refused", True),
        ("volume v already exists but is incompatible with these parameters", 500, "refused", True),
        ("unsupported capacity_range", 500, "refused", True),
        ("unknown volume access mode: x", 500, "refused", True),
        ("unknown volume attachment mode: x", 500, "refused", True),
        ("something else", 500, "refused", False),
        ("Permission denied", 403, "refused", True),
        ("rpc error: EOF", 500, "ambiguous", False),
    ],
)
def test_creation_that_made_nothing_is_known_for_sure(message, status, kind, has_made_nothing):
    """Any other error may hide storage."""
    error = errors.NomadApiError("PUT", "/v1/volume/csi/v/create", message, status=status, kind=kind)

    assert volumes.has_made_nothing(error) is has_made_nothing


def test_other_volume_that_is_gone_is_an_error_of_a_deregistration(agent, client):
    """Only the volume itself may be gone."""
    agent.answer("DELETE", "/v1/volume/csi/v", "volume not found: other", status=500)

    with pytest.raises(errors.NomadApiError, match="other"):
        volumes.deregister(client, "default", "v")
