"""Every finding there is: the smallest thing that makes it, and what it says."""

import dataclasses

import pytest

from nomad_csi.diagnosis import doctor, facts
from nomad_csi.findings import registry
from nomad_csi.nomad import nodes, token_rights, version_gates
from nomad_csi.plan import storage
from nomad_csi.volumes import ownership

OURS = {"nomad-csi:owner": "shop/prod", "nomad-csi:volume": "default/old"}
OWNED = ownership.OwnerRecord(owner="shop/prod")
SPEC = {"plugins": [{"id": "ebs", "driver": "aws-ebs", "aws_region": "us-east-1"}]}


def _limited(**rules):
    whole = {"namespaces": {"*": frozenset({"read-job", "list-jobs", "csi-read-volume"})}, "node": "read"}
    policies = {"ro": token_rights.Rules(**(whole | {"plugin": "read"} | rules))}
    return token_rights.AclToken(name="t", is_unlimited=False, policies=policies)


def _server(version="2.0.5", status="alive"):
    return nodes.Server(name="s2.global", status=status, version=version)


SITUATIONS = {
    "nomad-unsupported": (
        lambda make: make.found(
            servers=(_server("1.8.3"), _server(), _server("1.8.2", "left")), clients=(make.node(version="1.7.7"),)
        ),
        "/v1/agent/members and /v1/nodes: servers s2.global with 1.8.3; clients client-1 with 1.7.7; the oldest tested "
        "Nomad is 1.8.4",
    ),
    "nomad-too-old-for-driver": (
        lambda make: make.found(clients=(make.node(version="1.9.3"),)),
        "AWS EBS needs Nomad 1.9.4; /v1/agent/members and /v1/nodes: clients client-1 with 1.9.3",
    ),
    "driver-nowhere": (
        lambda make: make.found(
            clients=(make.node(drivers={"docker": False}),),
            account=None,
        ),
        "/v1/nodes: docker is not healthy on client-1",
    ),
    "driver-missing": (
        lambda make: make.found(
            clients=(make.node(), make.node(node_id="n2", name="client-2", drivers={})), account=None
        ),
        "/v1/nodes: docker is not healthy on client-2",
    ),
    "privileged-refused": (
        lambda make: make.found(clients=(make.node(driver_attributes={}),)),
        "job default/plugin-ebs-node requires privileged = true; /v1/nodes: driver.docker.privileged.enabled is not set on "
        "client-1",
    ),
    "privilege-missing": (
        lambda make: make.found(tasks=(make.task(privileged=False),)),
        "job default/plugin-ebs-node has no privileged = true",
    ),
    "folders-refused": (
        lambda make: make.found(tasks=(make.task(binds=("/run/udev:/run/udev",)),)),
        "job default/plugin-ebs-node mounts /run/udev:/run/udev; /v1/nodes: driver.docker.volumes.enabled is not set on "
        "client-1",
    ),
    "token-cannot": (
        lambda make: make.found(token=_limited()),
        "/v1/acl/policy (ro): not allowed: csi-write-volume in namespace default",
    ),
    "plugin-missing": (
        lambda make: make.found(plugins={}, tasks=(), account=None),
        "/v1/volumes: 1 with plugin ebs (default/mysql); /v1/plugins: no such plugin",
    ),
    "volume-unschedulable": (
        lambda make: make.found(volumes=(make.volume(schedulable=False),)),
        "plugin ebs without enough healthy instances",
    ),
    "job-missing": (
        lambda make: make.found(
            plugin_jobs=facts.ObservedPluginJobs(stopped={("default", "plugin-ebs-nodes")}),
            plan=storage.plan_document(SPEC),
        ),
        "/v1/job: it is stopped",
    ),
    "nomad-may-erase-secrets": (
        lambda make: make.found(servers=(_server("2.0.5"), _server("1.11.0"))),
        "/v1/agent/members: Nomad 1.11.0 on s2.global; Nomad does not show which volumes have secrets",
    ),
    "claim-without-controller": (
        lambda make: make.found(
            plugins={"ebs": make.plugin(controllers=(make.instance("controller", healthy=False),))}
        ),
        "1 controllers, none healthy",
    ),
    "claim-node-draining": (
        lambda make: make.found(clients=(make.node(eligible=False),), claimed=(make.claimed(),)),
        "not eligible for scheduling; allocations there claim default/mysql",
    ),
    "claim-without-node-plugin": (
        lambda make: make.found(
            clients=(make.node(eligible=False),),
            plugins={"ebs": make.plugin(nodes=())},
            claimed=(make.claimed(client_status="complete"),),
        ),
        "none; the client is not eligible for scheduling, and default/mysql claimed there",
    ),
    "hop-limit-low": (
        lambda make: make.found(account=make.account(instances={make.INSTANCE_ID: make.machine(hop_limit=1)})),
        "job default/plugin-ebs-node is not on the host's network; EC2 DescribeInstances: "
        "MetadataOptions.HttpPutResponseHopLimit below 2 on client-1 (i-0123456789abcdef0: 1)",
    ),
    "metadata-disabled": (
        lambda make: make.found(
            account=make.account(instances={make.INSTANCE_ID: make.machine(metadata_enabled=False)})
        ),
        "EC2 DescribeInstances: MetadataOptions.HttpEndpoint is disabled on client-1 (i-0123456789abcdef0)",
    ),
    "instance-without-role": (
        lambda make: make.found(account=make.account(instances={make.INSTANCE_ID: make.machine(profile_arn="")})),
        "EC2 DescribeInstances: no IamInstanceProfile on i-0123456789abcdef0",
    ),
    "role-lacks-actions": (
        lambda make: make.found(
            account=make.account(
                roles={
                    make.PROFILE: make.role(
                        {"Statement": [{"Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"}]}
                    )
                }
            )
        ),
        "policies of role nomad-client (ebs): not allowed: ec2:AttachVolume, ec2:DetachVolume",
    ),
    "storage-zone-differs": (
        lambda make: make.found(account=make.account(volumes={make.EBS_ID: make.ebs(availability_zone="us-east-1b")})),
        "Nomad: topology of us-east-1a; EC2 DescribeVolumes: vol-0123456789abcdef0 is in us-east-1b",
    ),
    "zone-not-registered": (
        lambda make: make.found(
            volumes=(make.volume(segments=()),),
            account=make.account(volumes={make.EBS_ID: make.ebs(availability_zone="us-east-1b")}),
        ),
        "/v1/volumes: no topology of default/mysql (in us-east-1b); /v1/plugin/csi/ebs: clients in us-east-1a",
    ),
    "volume-out-of-reach": (
        lambda make: make.found(volumes=(make.volume(segments=({make.ZONE_KEY: "us-east-1c"},)),), account=None),
        "Nomad: topology.ebs.csi.aws.com/zone=us-east-1c; /v1/plugin/csi/ebs: healthy clients in us-east-1a",
    ),
    "topology-key-unknown": (
        lambda make: make.found(volumes=(make.volume(segments=({"zone": "us-east-1a"},)),), account=None),
        "Nomad: zone=us-east-1a; /v1/plugin/csi/ebs: no client reports zone",
    ),
    "policy-tag-missing": (
        lambda make: make.found(account=make.account(volumes={make.EBS_ID: make.ebs(tags={})})),
        "EC2 DescribeVolumes: no ebs.csi.aws.com/cluster=true on default/mysql (vol-0123456789abcdef0); policies of "
        "role nomad-client (ebs): ec2:AttachVolume is not allowed without it",
    ),
    "key-unusable": (
        lambda make: make.found(account=make.account(keys={make.KEY: "PendingDeletion"})),
        "KMS DescribeKey: PendingDeletion; it encrypts default/mysql",
    ),
    "storage-missing": (
        lambda make: make.found(account=make.account(volumes={})),
        "Nomad: external id vol-0123456789abcdef0; EC2 DescribeVolumes in us-east-1: none",
    ),
    "storage-not-registered": (
        lambda make: make.found(
            account=make.account(
                ours={
                    "vol-1": make.ebs(
                        external_id="vol-1", availability_zone="a", state="available", kms_key_arn="", tags=OURS
                    )
                }
            )
        ),
        "EC2 DescribeVolumes: vol-1 has nomad-csi:owner=shop/prod, nomad-csi:volume=default/old; /v1/volumes: no volume "
        "with that external id",
    ),
}
"""Code -> what brings it about, and its evidence."""


def test_cluster_without_a_fault_has_no_finding(make):
    """And everything but the limits of a role, which only IAM knows, was checked."""
    report = doctor.examined(make.found())

    assert report.findings == ()
    assert [(item.check, item.is_expected) for item in report.unchecked] == [
        ("limits of role nomad-client beyond its policies", True)
    ]
    assert report.exit_code == 0


@pytest.mark.parametrize("is_tagged", [False, True])
def test_storage_that_an_owner_record_names_is_found_once(make, is_tagged):
    """By the record, with the two ways on, also where EC2 shows its tags; not while its volume is registered."""
    record = dataclasses.replace(OWNED, created_name="old-a3c024f01cac", external_id="vol-1", plugin_id="ebs")
    disk = make.ebs(external_id="vol-1", availability_zone="a", state="available", kms_key_arn="", tags=OURS)
    account = make.account(ours={"vol-1": disk} if is_tagged else {})

    found = doctor.examined(
        make.found(owner_records={"default/old": record, "default/mysql": record}, account=account)
    ).findings

    assert [(item.code, item.subject, item.found, item.advice) for item in found] == [
        (
            "storage-not-registered",
            "storage vol-1",
            "/v1/var/nomad-csi/volumes: plugin ebs created vol-1 as default/old for shop/prod; /v1/volumes: not "
            "registered",
            "run `nomad-csi apply` with the spec of shop/prod, which registers it again; or, where its data is not "
            "needed, `nomad-csi remove default/old --delete-data --owner shop/prod`",
        )
    ]


def test_every_finding_stands_here():
    """A new rule needs a situation."""
    assert set(SITUATIONS) == {
        code for code, row in registry.codes().items() if "doctor" in row.commands and not row.gate
    }


@pytest.mark.parametrize("code", SITUATIONS)
def test_finding_is_made_by_one_thing(make, code):
    """Of the cluster without a fault, with its evidence: what was read, and where."""
    bring, evidence = SITUATIONS[code]

    found = [item for item in doctor.examined(bring(make)).findings if item.code == code]

    assert evidence in {item.found for item in found}
    assert {item.severity for item in found} == {registry.codes()[code].severity}
    assert all(item.advice and item.subject for item in found)


@pytest.mark.parametrize(
    ("fault", "gate"), version_gates.gates(), ids=[fault.code for fault, _ in version_gates.gates()]
)
def test_gate_closes_below_each_of_its_versions(fault, gate):
    """On the side whose version counts, where what it is about is used; not at the version itself."""
    for text in gate.fixed_in:
        below = _below(text)
        for side in gate.sides:
            assert fault.code in _gates(side, below, gate.features)
            assert fault.code not in _gates(side, text, gate.features)
            assert fault.code not in _gates(side, f"{text}+ent", gate.features)
            assert fault.code not in _gates(side, f"{text}-rc.1", gate.features)


def _below(text):
    major, minor, patch = (int(part) for part in text.split("."))
    return f"{major}.{minor}.{patch - 1}" if patch else f"{major}.{minor - 1}.0"


def _gates(side, version, features):
    return {gate.code for gate in version_gates.met(side, version, features)}
