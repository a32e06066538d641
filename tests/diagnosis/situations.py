"""
Situations of a cluster and an account: one without a fault, and what is changed of it.

``situations.txt`` has what all rules say of each, which was read and found right;
`python -m tests.diagnosis.situations` writes it as it is now.
"""

import dataclasses
import functools
from pathlib import Path

from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import claim_status, facts, judge
from nomad_csi.nomad import nodes, token_rights, volumes
from nomad_csi.plan import iam, storage
from nomad_csi.plan import volumes as tags
from nomad_csi.volumes import ownership

OURS = {"nomad-csi:owner": "shop/prod", "nomad-csi:volume": "default/old"}
SPEC = {"plugins": [{"id": "ebs", "driver": "aws-ebs", "aws_region": "us-east-1"}]}
EFS = "fs-0123456789abcdef0"
POINT = "fsap-0123456789abcdef0"
OTHER_EBS = "vol-0aaaaaaaaaaaaaaaa"
NOW_NS = 1_795_272_761_000_000_000
ON_I1 = aws_records.Attachment(instance_id="i-1", state="attached", device="/dev/xvdba", instance_state="running")
ON_I2 = dataclasses.replace(ON_I1, instance_id="i-2")
LEAVING = dataclasses.replace(ON_I1, state="detaching")
EXISTING = {"availability_zone": "us-east-1a"}
UNKNOWN = facts.Unknown(reason="not answered")
ALL_RIGHTS = (
    "read-job",
    "list-jobs",
    "submit-job",
    "csi-read-volume",
    "csi-list-volume",
    "csi-write-volume",
    "csi-register-plugin",
)
OF_VARIABLES = frozenset({"read", "write", "list", "destroy"})
CONDITIONAL = {
    "Statement": [
        {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"Bool": {"aws:MultiFactorAuthPresent": True}}}
    ]
}


def _limited(**rules):
    whole = {"namespaces": {"*": frozenset({"read-job", "list-jobs", "csi-read-volume"})}, "node": "read"}
    policies = {"ro": token_rights.Rules(**(whole | {"plugin": "read"} | rules))}
    return token_rights.AclToken(name="t", is_unlimited=False, policies=policies)


def _server(version="2.0.5", status="alive"):
    return nodes.Server(name="s2.global", status=status, version=version)


SITUATIONS = {
    "nomad-unsupported": lambda make: make.found(
        servers=(_server("1.8.3"), _server(), _server("1.8.2", "left")), clients=(make.node(version="1.7.7"),)
    ),
    "nomad-too-old-for-driver": lambda make: make.found(clients=(make.node(version="1.9.3"),)),
    "driver-nowhere": lambda make: make.found(
        clients=(make.node(drivers={"docker": False}),),
        account=None,
    ),
    "driver-missing": lambda make: make.found(
        clients=(make.node(), make.node(node_id="n2", name="client-2", drivers={})), account=None
    ),
    "privileged-refused": lambda make: make.found(clients=(make.node(driver_attributes={}),)),
    "privilege-missing": lambda make: make.found(tasks=(make.task(privileged=False),)),
    "folders-refused": lambda make: make.found(tasks=(make.task(binds=("/run/udev:/run/udev",)),)),
    "token-cannot": lambda make: make.found(token=_limited()),
    "plugin-missing": lambda make: make.found(plugins={}, tasks=(), account=None),
    "volume-unschedulable": lambda make: make.found(volumes=(make.volume(schedulable=False),)),
    "job-missing": lambda make: make.found(
        plugin_jobs=facts.ObservedPluginJobs(stopped={("default", "plugin-ebs-nodes")}),
        plan=storage.plan_document(SPEC),
    ),
    "nomad-may-erase-secrets": lambda make: make.found(servers=(_server("2.0.5"), _server("1.11.0"))),
    "claim-without-controller": lambda make: make.found(
        plugins={"ebs": make.plugin(controllers=(make.instance("controller", healthy=False),))}
    ),
    "claim-node-draining": lambda make: make.found(clients=(make.node(eligible=False),), claimed=(make.claimed(),) * 2),
    "claim-without-node-plugin": lambda make: make.found(
        clients=(make.node(eligible=False),),
        plugins={"ebs": make.plugin(nodes=())},
        claimed=(make.claimed(client_status="complete"),),
    ),
    "hop-limit-low": lambda make: make.found(
        account=make.account(instances={make.INSTANCE_ID: make.machine(hop_limit=1)})
    ),
    "metadata-disabled": lambda make: make.found(
        account=make.account(instances={make.INSTANCE_ID: make.machine(metadata_enabled=False)})
    ),
    "instance-without-role": lambda make: make.found(
        account=make.account(instances={make.INSTANCE_ID: make.machine(profile_arn="")})
    ),
    "role-lacks-actions": lambda make: make.found(
        account=make.account(
            roles={
                make.PROFILE: make.role(
                    {"Statement": [{"Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"}]}
                )
            }
        )
    ),
    "storage-zone-differs": lambda make: make.found(
        account=make.account(volumes={make.EBS_ID: make.ebs(availability_zone="us-east-1b")})
    ),
    "zone-not-registered": lambda make: make.found(
        volumes=(make.volume(segments=()),),
        account=make.account(volumes={make.EBS_ID: make.ebs(availability_zone="us-east-1b")}),
    ),
    "volume-out-of-reach": lambda make: make.found(
        plugins={"ebs": make.plugin(nodes=(make.instance("node"), *_instances(make, healthy=False)))},
        volumes=(make.volume(segments=tuple({make.ZONE_KEY: f"us-east-1{zone}"} for zone in "fdec")),),
        account=None,
    ),
    "topology-key-unknown": lambda make: make.found(
        volumes=(make.volume(segments=({"zone": "us-east-1a"},)),), account=None
    ),
    "policy-tag-missing": lambda make: make.found(account=make.account(volumes={make.EBS_ID: make.ebs(tags={})})),
    "key-unusable": lambda make: make.found(account=make.account(keys={make.KEY: "PendingDeletion"})),
    "storage-missing": lambda make: make.found(account=make.account(volumes={})),
    "storage-not-registered": lambda make: make.found(
        account=make.account(
            ours={
                "vol-1": make.ebs(
                    external_id="vol-1", availability_zone="a", state="available", kms_key_arn="", tags=OURS
                )
            }
        )
    ),
}
"""By the code that comes of it."""

MORE = {
    "nothing is wrong": lambda make: make.found(),
    "a server that left and a client that is down are old": lambda make: make.found(
        servers=(_server("1.8.3", "left"), _server()), clients=(make.node(version="1.7.7", status="down"), make.node())
    ),
    "versions that are no versions": lambda make: make.found(servers=(_server("x"),), clients=(make.node(version=""),)),
    "a server and a client of the oldest version": lambda make: make.found(
        servers=(_server("1.8.4"),), clients=(make.node(version="1.8.4"),)
    ),
    "servers are not known": lambda make: make.found(servers=UNKNOWN),
    "clients are not known": lambda make: make.found(clients=UNKNOWN),
    "clients are not known, and need not be": lambda make: make.found(
        clients=facts.Unknown(reason="left out", is_expected=True)
    ),
    "plugins are not known": lambda make: make.found(plugins=UNKNOWN),
    "tasks are not known": lambda make: make.found(tasks=UNKNOWN),
    "volumes are not known": lambda make: make.found(volumes=UNKNOWN),
    "owner records are not known": lambda make: make.found(owner_records=UNKNOWN),
    "the token is not known": lambda make: make.found(token=UNKNOWN),
    "claims are not known": lambda make: make.found(claims=UNKNOWN, claimed=UNKNOWN),
    "failed mounts are not known": lambda make: make.found(failed_mounts=UNKNOWN),
    "attachments are not known": lambda make: make.found(attachments=UNKNOWN),
    "the health of plugins is not known": lambda make: make.found(observed=UNKNOWN),
    "plugin jobs are not known": lambda make: make.found(
        plugin_jobs=UNKNOWN, tasks=UNKNOWN, plan=storage.plan_document(SPEC)
    ),
    "the account is not known": lambda make: make.found(account=UNKNOWN),
    "nothing is of AWS": lambda make: make.found(account=None),
    "instances are not known": lambda make: make.found(account=make.account(instances=UNKNOWN)),
    "instances are not known, and no task is of EBS": lambda make: make.found(
        account=make.account(instances=UNKNOWN), tasks=()
    ),
    "a role is not known": lambda make: make.found(account=make.account(roles={make.PROFILE: UNKNOWN})),
    "a role was not read": lambda make: make.found(account=make.account(roles={})),
    "a role is not known, and a volume has no tag": lambda make: make.found(
        account=make.account(roles={make.PROFILE: UNKNOWN}, volumes={make.EBS_ID: make.ebs(tags={})})
    ),
    "EBS volumes are not known": lambda make: make.found(account=make.account(volumes=UNKNOWN, ours=UNKNOWN)),
    "file systems are not known": lambda make: _efs(make, UNKNOWN),
    "a key is not known": lambda make: make.found(account=make.account(keys={make.KEY: UNKNOWN})),
    "a key was not read": lambda make: make.found(account=make.account(keys={})),
    "EBS volumes are not known, and none is one": lambda make: make.found(
        volumes=(make.volume(external_id="x"),), account=make.account(volumes=UNKNOWN, ours={})
    ),
    "a volume has no key": lambda make: make.found(
        account=make.account(volumes={make.EBS_ID: make.ebs(kms_key_arn="")}, keys={})
    ),
    "an instance of a client is not known": lambda make: make.found(instance_ids={}),
    "EC2 has no instance of that id": lambda make: make.found(account=make.account(instances={})),
    "a client that runs no task has no instance": lambda make: make.found(
        clients=(make.node(), make.node(node_id="n2", name="client-2", drivers={"docker": False}))
    ),
    "the controller has credentials of its own": lambda make: make.found(
        tasks=(make.task(), make.task("controller", own_credentials=True)),
        account=make.account(
            roles={}, volumes={make.EBS_ID: make.ebs(tags={})}, instances={make.INSTANCE_ID: make.machine(hop_limit=1)}
        ),
    ),
    "metadata is off, and the task needs none": lambda make: make.found(
        tasks=(make.task("controller", own_credentials=True),),
        account=make.account(instances={make.INSTANCE_ID: make.machine(metadata_enabled=False, hop_limit=1)}),
    ),
    "few hops, on the host's network": lambda make: make.found(
        tasks=(make.task(host_network=True),),
        account=make.account(instances={make.INSTANCE_ID: make.machine(hop_limit=1)}),
    ),
    "a role with a boundary and conditions": lambda make: make.found(
        account=make.account(roles={make.PROFILE: make.role(CONDITIONAL, boundary="arn:limit")})
    ),
    "a role without policies": lambda make: make.found(
        account=make.account(roles={make.PROFILE: dataclasses.replace(make.role(), documents={})})
    ),
    "conditions, and a volume has no tag": lambda make: make.found(
        account=make.account(roles={make.PROFILE: make.role(CONDITIONAL)}, volumes={make.EBS_ID: make.ebs(tags={})})
    ),
    "a tag with another value": lambda make: make.found(
        account=make.account(volumes={make.EBS_ID: make.ebs(tags={iam.CLUSTER_TAG: "false"})})
    ),
    "a monolith": lambda make: make.found(
        tasks=(make.task("monolith", privileged=False),),
        account=make.account(instances={make.INSTANCE_ID: make.machine(profile_arn="")}),
    ),
    "containers with a capability, of a controller, and none": lambda make: make.found(
        clients=(make.node(drivers={"docker": True, "raw_exec": True}),),
        tasks=(
            *(make.task(privileged=False, capabilities=frozenset({can})) for can in ("sys_admin", "all", "chown")),
            make.task("controller", privileged=False),
            make.task(task_driver="raw_exec", privileged=False),
        ),
    ),
    "the driver is nowhere for controllers": lambda make: make.found(
        tasks=(make.task("controller", task_driver="podman"), make.task()), account=None
    ),
    "no client is of the plugin's placement": lambda make: make.found(
        clients=(make.node(datacenter="other"),), tasks=(make.task(datacenters=("dc1",)),), account=None
    ),
    "a client without Docker, whose privileges are not known": lambda make: make.found(
        clients=(
            make.node(driver_attributes={}),
            make.node(node_id="n2", name="client-2", drivers={"docker": False}, driver_attributes={}),
            make.node(node_id="n3", name="client-3", drivers={"raw_exec": True}, driver_attributes={}),
        ),
        tasks=(make.task(task_driver="raw_exec", binds=("/run/udev:/run/udev",)), make.task("controller")),
        account=None,
    ),
    "a job may not be read": lambda make: make.found(
        plugin_jobs=facts.ObservedPluginJobs(hidden={"default/b": "refused", "default/a": "refused"}),
        tasks=(make.task(privileged=False),),
    ),
    "a job of the spec is stopped, and another one": lambda make: make.found(
        plugin_jobs=facts.ObservedPluginJobs(
            stopped={("default", "plugin-ebs-controller"), ("other", "plugin-ebs-nodes"), ("default", "strange")}
        ),
        plan=storage.plan_document(SPEC),
    ),
    "a privileged task of the spec is not": lambda make: make.found(
        tasks=(make.task(job_id="plugin-ebs-nodes", privileged=False), make.task("controller")),
        plan=storage.plan_document(SPEC),
    ),
    "some rules of the token are not shown": lambda make: make.found(
        token=dataclasses.replace(_limited(), unread=("secret",))
    ),
    "a token with no policy": lambda make: make.found(
        tasks=(), token=token_rights.AclToken(name="t", is_unlimited=False, policies={})
    ),
    "a token of one namespace of two": lambda make: make.found(
        token=_limited(namespaces={"default": frozenset({"csi-write-volume", "csi-read-volume", "read-job"})}),
        volumes=(make.volume(), make.volume(key="prod/mysql")),
    ),
    "a token that may not read clients and plugins": lambda make: make.found(
        token=_limited(namespaces={"*": frozenset(ALL_RIGHTS)}, node="", plugin="list"), volumes=()
    ),
    "a token with all rights on the owner records of one namespace of two": lambda make: make.found(
        token=_limited(
            namespaces={"*": frozenset(ALL_RIGHTS)},
            variables={("default", "nomad-csi/*"): OF_VARIABLES, ("prod", "nomad-csi/*"): frozenset({"read"})},
        ),
        volumes=(make.volume(), make.volume(key="prod/mysql")),
    ),
    "a token with all rights on owner records": lambda make: make.found(
        token=_limited(
            namespaces={"*": frozenset(ALL_RIGHTS)}, variables={("*", "nomad-csi/*"): OF_VARIABLES}, node="write"
        )
    ),
    "two volumes have no plugin": lambda make: make.found(
        plugins={},
        tasks=(),
        account=None,
        volumes=(
            make.volume(),
            make.volume(key="default/b", claims=0),
            make.volume(key="default/planned", is_registered=False),
            make.volume(key="default/c", plugin_id="other", controller_required=True),
        ),
    ),
    "a volume that is not registered": lambda make: make.found(
        volumes=(make.volume(is_registered=False, schedulable=False, claims=0),), account=make.account(volumes={})
    ),
    "a volume without storage yet": lambda make: make.found(
        volumes=(make.volume(is_registered=False, external_id="", claims=0),)
    ),
    "no controller is needed": lambda make: make.found(
        plugins={"ebs": make.plugin(controllers=(), controller_required=False)}
    ),
    "one of two controllers is healthy": lambda make: make.found(
        plugins={
            "ebs": make.plugin(controllers=(make.instance("controller", healthy=False), make.instance("controller")))
        }
    ),
    "a free volume needs no controller": lambda make: make.found(
        plugins={"ebs": make.plugin(controllers=())}, volumes=(make.volume(claims=0),)
    ),
    "a topology without segments": lambda make: make.found(volumes=(make.volume(segments=({},)),), account=None),
    "one of two topologies is in reach": lambda make: make.found(
        volumes=(make.volume(segments=({make.ZONE_KEY: "us-east-1c"}, {make.ZONE_KEY: "us-east-1a"})),), account=None
    ),
    "the storage is in one of two zones": lambda make: make.found(
        volumes=(make.volume(segments=({make.ZONE_KEY: "us-east-1a"}, {make.ZONE_KEY: "us-east-1b"})),),
        account=make.account(volumes={make.EBS_ID: make.ebs(availability_zone="us-east-1b")}),
    ),
    "no topology, and clients in the storage's zone alone": lambda make: make.found(
        volumes=(make.volume(segments=()),)
    ),
    "a file system leaves": lambda make: _efs(make, _systems("deleting")),
    "a file system is gone": lambda make: _efs(
        make, aws_records.ObservedFileSystems(file_systems={}, access_points={})
    ),
    "an access point of another file system": lambda make: _efs(make, _systems(point="fs-0fedcba9876543210")),
    "a file system is there": lambda make: _efs(make, _systems()),
    "file systems of this package, and of others": lambda make: make.found(
        account=make.account(
            file_systems=aws_records.ObservedFileSystems(
                file_systems={
                    key: aws_records.FileSystem(file_system_id=key, state="available", tags=each)
                    for key, each in (
                        ("fs-1", OURS),
                        ("fs-2", {"nomad-csi:volume": "default/x"}),
                        ("fs-3", {"a": "b"}),
                        ("fs-4", {"nomad-csi:owner": "a"}),
                    )
                },
                access_points={},
            )
        )
    ),
    "two claims on a client that leaves, and one that ended": lambda make: make.found(
        clients=(make.node(eligible=False, draining=True),),
        claimed=(make.claimed(), make.claimed(client_status="complete"), make.claimed(node_id="n9")),
    ),
    "claims where no node instance is healthy": lambda make: make.found(
        plugins={"ebs": make.plugin(nodes=(make.instance("node", healthy=False),))}, claimed=(make.claimed(),)
    ),
    "an EFS volume without an access point": lambda make: _efs(make, _systems(), external_id=EFS),
    "metadata is off, few hops, and the node task has credentials": lambda make: make.found(
        tasks=(make.task(own_credentials=True),),
        account=make.account(instances={make.INSTANCE_ID: make.machine(metadata_enabled=False, hop_limit=1)}),
    ),
    "one of two controllers has credentials of its own, and a volume has no tag": lambda make: make.found(
        tasks=(make.task("controller"), make.task("controller", job_id="other", own_credentials=True)),
        account=make.account(volumes={make.EBS_ID: make.ebs(tags={})}),
    ),
    "another plugin's controller has credentials of its own, and a volume has no tag": lambda make: make.found(
        plugins={name: make.plugin(plugin_id=name) for name in ("ebs", "other")},
        tasks=(make.task("controller"), make.task("controller", plugin_id="other", own_credentials=True)),
        account=make.account(volumes={make.EBS_ID: make.ebs(tags={})}),
    ),
    "no controller, and a volume has no tag": lambda make: make.found(
        tasks=(make.task(),), account=make.account(volumes={make.EBS_ID: make.ebs(tags={})})
    ),
    "the node task has credentials of its own, and a volume has no tag": lambda make: make.found(
        tasks=(make.task(own_credentials=True), make.task("controller")),
        account=make.account(volumes={make.EBS_ID: make.ebs(tags={})}),
    ),
    "two untagged volumes, of which one is named by the role": lambda make: make.found(
        volumes=(make.volume(), make.volume(key="default/b", external_id=OTHER_EBS)),
        account=make.account(
            roles={make.PROFILE: make.role(_named(make))},
            volumes={
                make.EBS_ID: make.ebs(tags={}),
                OTHER_EBS: make.ebs(external_id=OTHER_EBS, tags={"a": "b"}, kms_key_arn=""),
            },
        ),
    ),
    "owner records of what is kept, planned, registered and named only": lambda make: make.found(
        owner_records={
            f"default/{name}": ownership.OwnerRecord(owner="shop/prod", plugin_id="ebs", **has)
            for name, has in {
                "kept": {"created_name": "kept-1", "external_id": "vol-1"},
                "planned": {"registered_name": "planned", "external_id": "vol-2"},
                "mysql": {"created_name": "mysql-1", "external_id": "vol-3"},
                "no storage": {"created_name": "x-1"},
                "no name": {"external_id": "vol-4"},
            }.items()
        },
        volumes=(make.volume(), make.volume(key="default/planned", is_registered=False, claims=0)),
    ),
    "failed mounts of a volume, of a planned one and of none": lambda make: make.found(
        volumes=(
            make.volume(),
            *(make.volume(key=f"default/{name}") for name in ("wal", "wal-2")),
            make.volume(key="default/planned", is_registered=False, claims=0),
        ),
        failed_mounts=facts.FailedMounts(
            failed=(
                make.failed("1", "first"),
                make.failed("2", "last"),
                make.failed("3", None),
                make.replace(make.failed("4", "x"), namespace="prod"),
                make.failed("5", 'claiming volumes: could not claim volume "wal-2": max claims'),
                make.failed("6", "could not claim volume wal, of two"),
                make.failed("7", "no volume is named: wal"),
            ),
            wanted={
                "1": ("mysql", "planned"),
                **dict.fromkeys("24", ("mysql",)),
                **dict.fromkeys("567", ("wal", "wal-2", "other")),
            },
            unread={"prod": "refused"},
        ),
    ),
    "eight claims on a client that drains": lambda make: make.found(
        clients=(make.node(eligible=False, draining=True),),
        claimed=tuple(make.replace(make.claimed(), volume_id=f"v{number}") for number in (7, 6, 5, 4, 3, 2, 1, 0)),
    ),
    "a claim that ended on a client that drains, and one on another client": lambda make: make.found(
        clients=(make.node(eligible=False, draining=True), make.node(node_id="n2", name="client-2")),
        plugins={"ebs": make.plugin(nodes=tuple(make.instance("node", node_id=f"n{number}") for number in (1, 2)))},
        claimed=(make.claimed(client_status="complete"), make.claimed(node_id="n2")),
        account=None,
    ),
    "volumes of the spec that differ, are missing and are as specified": lambda make: _planned(
        make,
        registered={
            "default/mysql": make.replace(make.claimed(), external_id="vol-0fffffffffffffffe", context={"a": "1"}),
            "default/made": make.replace(
                make.claimed(), volume_id="made", external_id="x", plugin_id="host", capacity_bytes=2**30
            ),
            "default/gone": None,
            "default/unmade": None,
        },
    ),
    "volumes of the spec are not known": lambda make: make.found(registered=UNKNOWN),
    "features of the spec, and clients that report more segments": lambda make: _planned(
        make,
        servers=(_server("1.9.1"),),
        clients=(make.node(version="1.9.1"),),
        plugins={"ebs": make.plugin(nodes=(make.instance("node", segments={make.ZONE_KEY: "us-east-1a", "b": "c"}),))},
    ),
    "the same segments, and a spec without secrets": lambda make: _planned(
        make, servers=(_server("1.9.1"),), volumes=(make.volume(), make.volume(key="default/b", plugin_id="none"))
    ),
    "a plugin of another driver than the spec's, and one that reports none": lambda make: make.found(
        plan=storage.plan_document(SPEC),
        plugins={"ebs": make.plugin(provider="efs.csi.aws.com"), "new": make.plugin(plugin_id="new", provider="")},
        clients=(make.node(version="1.9.3"),),
    ),
    "a spec with existing volumes alone": lambda make: make.found(
        registered={"default/mysql": None},
        servers=(_server("1.9.1"),),
        plan=storage.plan_document(
            SPEC
            | {"volumes": [{"id": "mysql", "plugin_id": "ebs", "existing": EXISTING | {"external_id": make.EBS_ID}}]}
        ),
    ),
    "privileges that are reported as 1": lambda make: make.found(
        clients=(make.node(driver_attributes={"driver.docker.privileged.enabled": "1"}),)
    ),
    "the driver of a monolith is nowhere, and privileges are not set where there is no Docker": lambda make: make.found(
        clients=(make.node(drivers={"docker": False}, driver_attributes={}),),
        tasks=(make.task("monolith", privileged=True),),
    ),
    "plugins without a provider": lambda make: make.found(
        plan=storage.plan_document(SPEC),
        plugins={"ebs": make.plugin(provider="")},
        account=make.account(instances={make.INSTANCE_ID: make.machine(hop_limit=1)}),
    ),
    "one of two machines has no role, and a volume has no tag": lambda make: make.found(
        clients=(make.node(), make.node(node_id="n2", name="client-2")),
        instance_ids={"n1": make.INSTANCE_ID, "n2": "i-2"},
        account=make.account(
            instances={make.INSTANCE_ID: make.machine(), "i-2": make.machine(instance_id="i-2", profile_arn="")},
            volumes={make.EBS_ID: make.ebs(tags={})},
        ),
    ),
    "a client that is disconnected is old, drains and holds a claim": lambda make: make.found(
        clients=(
            make.node(version="1.7.7", status="disconnected", eligible=False, draining=True),
            make.node(node_id="n2", name="client-2"),
        ),
        claimed=(make.claimed(),),
        account=None,
    ),
    "everything twice, and out of order": lambda make: make.found(
        clients=(
            make.node(node_id="n0-01234", name="client-c", version="1.8.3"),
            make.node(name="client-b", version="1.8.2"),
        ),
        instance_ids={"n0-01234": "i-2", "n1": "i-1"},
        plugins={name: make.plugin(plugin_id=name, nodes=_instances(make)) for name in ("z", "ebs")},
        tasks=(make.task("controller", plugin_id="z"),),
        volumes=(
            make.volume(key="default/z", plugin_id="z", segments=(), external_id=OTHER_EBS),
            make.volume(segments=()),
            *(make.volume(key=f"default/{name}", plugin_id=name, external_id="") for name in "yx"),
        ),
        claimed=tuple(make.replace(make.claimed(node_id=name), plugin_id="y") for name in ("n1", "n0-01234")),
        owner_records={
            f"default/{name}": ownership.OwnerRecord(owner="o", plugin_id="ebs", created_name=name, external_id=name)
            for name in "qp"
        },
        account=make.account(
            instances={name: make.machine(instance_id=name, profile_arn=f"of {name}") for name in ("i-2", "i-1")},
            roles={f"of {name}": make.role({}, name=name) for name in ("i-2", "i-1")},
            volumes={
                OTHER_EBS: make.ebs(external_id=OTHER_EBS, kms_key_arn="b", tags={}),
                make.EBS_ID: make.ebs(kms_key_arn="a", tags={}),
            },
            keys=dict.fromkeys("ba", "Disabled"),
            ours={name: make.ebs(external_id=name, tags=OURS) for name in "cadbp"},
            file_systems=aws_records.ObservedFileSystems(
                file_systems={
                    name: aws_records.FileSystem(
                        file_system_id=name, state="available", tags={tag: "x", tags.FILE_SYSTEM_TAG: "y"}
                    )
                    for name, tag in (("fs-2", tags.OWNER_TAG), ("fs-1", tags.VOLUME_TAG), ("fs-3", "other"))
                }
            ),
        ),
    ),
    "claims that may not be read": lambda make: make.found(
        claims_read=volumes.Read(unread=(volumes.Unread(namespace="prod", volume_ids=("a", "b"), reason="refused"),))
    ),
}
"""What else may be the case, by a name."""

CLAIMS = {
    "live": lambda make: _claims(make, _claim(make), attached=(ON_I1,), instances={"i-1": "running"}),
    "vanished": lambda make: _claims(
        make, _claim(make, node_id="", node_name="", job_id="", client_status=""), attached=(ON_I1,)
    ),
    "ended lately": lambda make: _claims(make, _ended(make, ago_s=600)),
    "ended, and when is not known": lambda make: _claims(make, _claim(make, client_status="complete")),
    "of a client whose instance is gone": lambda make: _claims(
        make, _ended(make, "lost"), client="down", instances={"i-1": "terminated"}
    ),
    "none, and attached": lambda make: _claims(make, attached=(ON_I1,)),
    "none, and on its way off": lambda make: _claims(make, attached=(LEAVING,)),
    "none, and one of two on its way off": lambda make: _claims(make, attached=(LEAVING, ON_I2)),
    "on another instance": lambda make: _claims(make, _claim(make), attached=(ON_I2,), instances={"i-1": "running"}),
    "on an instance, while that of the claim is not known": lambda make: _claims(
        make, _claim(make), client="", attached=(ON_I2,)
    ),
    "two of each of two volumes, of a client that is down": lambda make: _claims(
        make, _claim(make), _claim(make, alloc_id="second"), client="down", also=["logs"]
    ),
    "of storage that EC2 does not have": lambda make: _claims(make, _claim(make), attached=(ON_I2,), state="missing"),
}
CLAIMS |= {
    f"{status} long ago": functools.partial(
        lambda status, make: _claims(make, _ended(make, status, ago_s=600.1)), status
    )
    for status in ("complete", "failed", "lost")
}
CLAIMS |= {
    f"of a client that is {status or 'not there'}": functools.partial(
        lambda status, make: _claims(make, _claim(make), client=status), status
    )
    for status in ("down", "disconnected", "")
}
CLAIMS |= {
    f"of a client that is down, and its instance {state}": functools.partial(
        lambda state, make: _claims(make, _claim(make), client="down", instances={"i-1": state}), state
    )
    for state in ("missing", "stopped", "running")
}
MORE |= {f"claim: {name}": claim for name, claim in CLAIMS.items()}

RECORDED = Path(__file__).with_name("situations.txt")
ALL = SITUATIONS | MORE


def _named(make):
    """Return a policy that names the volume, and allows the rest as this package writes it."""
    own = make.OWN_POLICY["Statement"]
    volume = f"arn:aws:ec2:us-east-1:*:volume/{make.EBS_ID}"
    return {"Statement": [*own, {"Effect": "Allow", "Action": "ec2:AttachVolume", "Resource": volume}]}


def _planned(make, **changes):
    """Return what there is of a spec with volumes of each source."""
    uses = {"capabilities": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}]}
    host = {"id": "host", "driver": "csi-hostpath"}
    plan = storage.plan_document(
        {
            "plugins": [*SPEC["plugins"], host],
            "volumes": [
                {"id": "mysql", "plugin_id": "ebs", "existing": {"external_id": make.EBS_ID} | EXISTING},
                {"id": "gone", "plugin_id": "ebs", "existing": {"external_id": OTHER_EBS} | EXISTING},
                {"id": "made", "plugin_id": "host", "create": {"capacity_min_gib": 2}, **uses},
                {"id": "unmade", "plugin_id": "host", "create": {}, **uses},
            ],
        }
    )
    return make.found(**{"plan": plan, "registered": {item.key: None for item in plan.volumes}} | changes)


def _efs(make, systems, external_id=f"{EFS}::{POINT}"):
    volume = make.volume(external_id=external_id, segments=(), plugin_id="efs")
    plugin = make.plugin(plugin_id="efs", provider="efs.csi.aws.com", controllers=(), controller_required=False)
    account = make.account(file_systems=systems, ours={})
    return make.found(volumes=(volume,), plugins={"efs": plugin}, account=account, tasks=())


def _instances(make, **changes):
    """Return node instances in two zones, of clients that are not in their order."""
    zones = (("n1", "us-east-1b"), ("n0-01234", "us-east-1c"))
    return tuple(make.instance("node", node_id=name, segments={make.ZONE_KEY: zone}, **changes) for name, zone in zones)


def _claim(make, **changes):
    [claim] = make.claimed(**changes).claims
    return claim


def _ended(make, status="complete", ago_s=3600.0):
    return _claim(make, client_status=status, changed_ns=NOW_NS - int(ago_s * 1e9))


def _claims(make, *held, client="ready", attached=(), instances=None, state="in-use", also=()):
    """Return what there is of the volume with these claims; EC2 was asked where it says something."""
    seen = None
    if attached or instances:
        volume = aws_records.AttachedVolume(external_id=make.EBS_ID, state=state, attachments=attached)
        seen = aws_records.ObservedAttachments(
            volumes={make.EBS_ID: volume} if attached else {}, instances=instances or {}
        )
    clients = (make.node(status=client, attributes={"unique.platform.aws.instance-id": "i-1"}),) if client else ()
    volumes_ = [make.replace(make.claimed(), volume_id=volume_id, claims=held) for volume_id in ("mysql", *also)]
    claims = claim_status.judge(volumes_, clients, seen)
    return make.found(now_ns=NOW_NS, account=None, clients=clients, claims=claims, attachments=seen)


def _systems(state="available", point=EFS):
    system = aws_records.FileSystem(file_system_id=EFS, state=state)
    return aws_records.ObservedFileSystems(file_systems={EFS: system}, access_points={POINT: point})


def outcomes(found):
    """Yield what all rules find, and what was not checked, each in a line."""
    for volume in facts.known_or(found.claims, ()):
        yield " ".join(("claims:", *(item.status for item in volume.claims), *["held"] * volume.is_held))
    for item in judge.outcomes(found, "doctor", "claims", "verify"):
        if isinstance(item, facts.Unchecked):
            yield f"{'left out' if item.is_expected else 'not checked'}: {item.check}: {item.reason}"
        else:
            more = {"about": item.about, "links": item.links, "storage": item.external_ids}
            yield f"{item.severity} {item}" + "".join(f" [{key}: {', '.join(has)}]" for key, has in more.items() if has)


def recorded():
    """Return the lines of each situation."""
    sections = RECORDED.read_text(encoding="utf-8").split("\n== ")[1:]
    return {name: lines.splitlines() for name, _, lines in (each.partition("\n") for each in sections)}


def main():
    """Write what the rules say of each situation."""
    from tests.diagnosis import conftest  # noqa: PLC0415

    parts = ["# Written by `python -m tests.diagnosis.situations`.\n"]
    for name, bring in ALL.items():
        parts += [f"\n== {name}\n", *(f"{line}\n" for line in outcomes(bring(conftest.made())))]
    RECORDED.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
