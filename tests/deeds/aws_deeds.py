"""The questions to AWS, and what changes it: each call with its region and parameters, every page, and the whole answer."""

import copy
import datetime as dt
import functools
import json
import types
from unittest import mock

from nomad_csi import errors
from nomad_csi.aws import calls, deletion, ebs_volumes, file_systems, instances, tagged
from tests.deeds import agent as agents
from tests.deeds import deeds
from tests.deeds.deeds import Case

REGION = "eu-west-1"
DISKS = ["vol-00000000000000001", "vol-00000000000000002", "vol-00000000000000003"]
OURS = {"nomad-csi:owner": "shop/prod", "nomad-csi:volume": "prod/mysql", "nomad-csi:stack-id": "s-1"}
POINT, SYSTEM = "fsap-0123456789abcdef0", "fs-0123456789abcdef0"


def _tags(found):
    return [{"Key": key, "Value": value} for key, value in found.items()]


def _disk(number, state="in-use", **more):
    return {
        "VolumeId": DISKS[number],
        "State": state,
        "AvailabilityZone": f"eu-west-1{'abc'[number]}",
        "Encrypted": number == 0,
        "KmsKeyId": "key-1" if number == 0 else "",
        "Size": 10 + number,
        "VolumeType": "gp3",
        "Iops": 3000,
        "Throughput": 125,
        "Attachments": [],
        "Tags": _tags(OURS | {"n": str(number)}),
    } | more


def _place(instance_id, state):
    return {"InstanceId": instance_id, "State": state, "Device": "/dev/xvdba"}


PAGES = {
    "DescribeVolumes": [
        {"Volumes": [_disk(0, Attachments=[_place("i-1", "attached"), _place("i-9", "detached")])], "NextToken": "2"},
        {"Volumes": [_disk(1, "available", Attachments=[_place("i-2", "detaching")]), _disk(2, "deleting")]},
    ],
    "DescribeInstances": [
        {
            "Reservations": [
                {
                    "Instances": [
                        {
                            "InstanceId": "i-1",
                            "State": {"Name": "running"},
                            "Placement": {"AvailabilityZone": "eu-west-1a"},
                            "MetadataOptions": {"HttpPutResponseHopLimit": 2, "HttpEndpoint": "disabled"},
                            "IamInstanceProfile": {"Arn": "arn:aws:iam::1:instance-profile/p"},
                        }
                    ]
                }
            ],
            "NextToken": "2",
        },
        {
            "Reservations": [
                {
                    "Instances": [
                        {"InstanceId": "i-2", "State": {"Name": "stopped"}, "Placement": {"AvailabilityZone": "b"}}
                    ]
                }
            ]
        },
    ],
    "DescribeVolumesModifications": [
        {
            "VolumesModifications": [
                {
                    "VolumeId": DISKS[0],
                    "ModificationState": "optimizing",
                    "Progress": 40,
                    "StartTime": dt.datetime(2026, 8, day, 1, 2, tzinfo=dt.UTC),
                }
                for day in (3, 2)
            ]
        }
    ],
    "DescribeSnapshots": [
        {
            "Snapshots": [
                {
                    "SnapshotId": f"snap-{number}",
                    "State": "pending",
                    "Progress": "40%",
                    "StartTime": dt.datetime(2026, 8, number, tzinfo=dt.UTC),
                    "Tags": _tags(OURS),
                }
            ],
            **({"NextToken": "2"} if number == 1 else {}),
        }
        for number in (1, 2)
    ],
    "DescribeFileSystems": [
        {
            "FileSystems": [
                {"FileSystemId": SYSTEM, "LifeCycleState": "available", "Encrypted": True, "Tags": _tags(OURS)}
            ],
            "NextMarker": "2",
        },
        {"FileSystems": [{"FileSystemId": "fs-2", "LifeCycleState": "deleting", "Tags": _tags(OURS)}]},
    ],
    "DescribeAccessPoints": [
        {
            "AccessPoints": [
                {
                    "FileSystemId": SYSTEM,
                    "AccessPointId": POINT,
                    "LifeCycleState": "available",
                    "Tags": _tags(OURS),
                }
            ]
        }
    ],
    "CreateSnapshot": [{"SnapshotId": "snap-9"}],
    "CreateTags": [{}],
    "DeleteVolume": [{}],
    "DeleteAccessPoint": [{}],
    "DescribeKey": [{"KeyMetadata": {"Arn": "arn:k", "KeyState": "Enabled", "KeyManager": "CUSTOMER"}}],
    "GetKeyPolicy": [{"Policy": '{"Statement": []}'}],
    "GetInstanceProfile": [
        {
            "InstanceProfile": {
                "Roles": [
                    {
                        "RoleName": "r",
                        "Arn": "arn:aws:iam::123456789012:role/r",
                        "PermissionsBoundary": {"PermissionsBoundaryArn": "arn:b"},
                    }
                ]
            }
        }
    ],
    "SimulatePrincipalPolicy": [
        {
            "EvaluationResults": [
                {"EvalActionName": "ec2:AttachVolume", "EvalDecision": "allowed"},
                {"EvalActionName": "ec2:DetachVolume", "EvalDecision": "implicitDeny"},
            ],
            "IsTruncated": True,
            "Marker": "2",
        },
        {
            "EvaluationResults": [{"EvalActionName": "ec2:CreateTags", "EvalDecision": "allowed"}],
            "IsTruncated": False,
        },
    ],
    "ListAttachedRolePolicies": [
        {
            "AttachedPolicies": [{"PolicyName": "a", "PolicyArn": "arn:aws:iam::123456789012:policy/a"}],
            "IsTruncated": False,
        }
    ],
    "GetPolicy": [{"Policy": {"DefaultVersionId": "v3"}}],
    "GetPolicyVersion": [{"PolicyVersion": {"Document": "%7B%22Statement%22%3A%20%5B%22a%22%5D%7D"}}],
    "ListRolePolicies": [{"PolicyNames": ["inline"], "IsTruncated": False}],
    "GetRolePolicy": [{"PolicyDocument": '{"Statement": ["inline"]}'}],
}
REFUSALS = ("UnauthorizedOperation", "InvalidVolume.NotFound", "AccessPointNotFound", "FileSystemNotFound")
QUESTION = instances.PolicySimulation(
    actions=("ec2:AttachVolume", "ec2:DetachVolume"), resources=("arn:aws:ec2:::volume/x",), context={"aws:tag": "x"}
)
PROFILE = "arn:aws:iam::123456789012:instance-profile/p"


_CLIENTS = {}
"""Clients by service and region, each with its current answerer: to create one takes longer than a case."""


def asked(agent, call, refused, replies=PAGES, used=None):
    """
    Return what *call* returns, with each call of AWS written down; *refused* is the error of all of them.

    *used* receives the name and page of each of the *replies* that was sent.
    """
    made = calls.client

    def client(service, aws_region, *, profile=None):
        key = service, aws_region
        if key not in _CLIENTS:
            found = made(*key)  # a profile would be looked for in the files of the user
            current = types.SimpleNamespace(answer=None)
            found.meta.events.register("before-call", lambda model, params, **_: current.answer(model, params))
            _CLIENTS[key] = found, current
        found, current = _CLIENTS[key]
        current.answer = functools.partial(
            _answer, agent, (refused, replies, used), f"{aws_region}{f' as {profile}' if profile else ''} {service}"
        )
        return found

    with mock.patch.object(calls, "client", client):
        return call(agent)


def _answer(agent, given, where, model, params):
    refused, replies, used = given
    is_form = isinstance(params["body"], dict)
    sent = dict(params["body"]) if is_form else {"path": params["url_path"], **(params["query_string"] or {})}
    known = {name: value for name, value in sent.items() if name not in {"Action", "Version"}}
    if not is_form and params["body"]:
        known |= {"body": str(params["body"])}
    agent.messages += [] if refused else [f"{where} {model.name} {agents.as_text(known)}"]
    if refused:
        return types.SimpleNamespace(status_code=400), {"Error": {"Code": refused, "Message": "no: password=canary-7"}}
    page = int(any(name in known for name in ("NextToken", "Marker")))
    if used is not None:
        used[model.name, page] = None
    return types.SimpleNamespace(status_code=200), copy.deepcopy(replies[model.name][page])


def _without(value, path=""):
    """Yield the path of each value in *value*, and *value* without it, with an empty list, and with another kind."""
    if not isinstance(value, dict):
        return
    for key, each in value.items():
        place = f"{path}.{key}"
        yield place, {other: kept for other, kept in value.items() if other != key}
        if isinstance(each, list) and each:
            yield f"{place} empty", value | {key: []}
            inner = [(name, [first, *each[1:]]) for name, first in _without(each[0], f"{place}[0]")]
        else:
            inner = _without(each, place)
        yield from ((name, value | {key: changed}) for name, changed in inner)


UNREADABLE = ": its reply could not be read; check the endpoint and what stands in front of it"


def _lacking(agent, call):
    """Yield what is not as with whole replies, for each value that one of them lacks; alike ones together."""
    used, alike = {}, {}
    whole = json.loads(agents.as_text(asked(agent, call, "", PAGES, used)))
    for name, page in used:
        for path, changed in _without(PAGES[name][page]):
            pages = [changed if at == page else kept for at, kept in enumerate(PAGES[name])]
            try:
                found = json.loads(agents.as_text(asked(agent, call, "", PAGES | {name: pages})))
            except errors.NomadCsiError as error:
                text = "unreadable" if str(error).endswith(UNREADABLE) else f"{type(error).__name__}: {error}"
            else:
                text = agents.as_text(deeds.changes(dict(deeds.flat(whole)), dict(deeds.flat(found))))
            alike.setdefault(text, []).append(f"{name}{f' {page + 1}' if page else ''}{path}")
    alike.pop("{}", None)
    return [f"without {', '.join(places)}: {found}" for found, places in alike.items()]


def _calls(call):
    def run(agent, _context):
        found = asked(agent, call, "")
        said = list(agent.messages)
        for code in REFUSALS:
            try:
                said.append(f"{code}: = {agents.as_text(asked(agent, call, code))}")
            except errors.NomadCsiError as error:
                usual = f" in {REGION}: {code}: no: password=[secret]"
                said += [] if str(error).endswith(usual) else [f"{code}: {type(error).__name__}: {error}"]
        agent.messages[:] = [*said, *_lacking(agent, call)]
        return found

    return run


def _wait(agent):
    said = agent.messages.append
    deletion.wait_for_snapshot("snap-1", REGION, wait_s=6, cancelled=agents.Cancelled(), report=said)


FULL = {f"tag-{number:02}": "x" for number in range(50)}
CALLS = {
    "ebs_volumes.read_attachments": lambda _: ebs_volumes.read_attachments(
        [*DISKS, "fs-1", "vol-00000000000000009"], REGION, instance_ids=["i-3"]
    ),
    "ebs_volumes.read_volumes": lambda _: ebs_volumes.read_volumes([*DISKS, "fs-1"], REGION),
    "ebs_volumes.ours": lambda _: ebs_volumes.ours(REGION),
    "ebs_volumes.tag": lambda _: ebs_volumes.tag(DISKS[:2], REGION, key="k", value="v"),
    "ebs_volumes.latest_modifications": lambda _: ebs_volumes.latest_modifications(DISKS[:1], REGION, profile="other"),
    "ebs_volumes.read_key": lambda _: ebs_volumes.read_key("arn:k", REGION),
    "instances.read_instances": lambda _: instances.read_instances(["i-2", "i-1"], REGION),
    "file_systems.read_file_systems": lambda _: file_systems.read_file_systems(REGION),
    "file_systems.find": lambda _: file_systems.find([f"{SYSTEM}::{POINT}", "vol-1"], REGION),
    "tagged.find": lambda _: tagged.find("shop/prod", REGION, profile="other"),
    "policies.read_role": lambda _: instances.read_role(PROFILE, REGION, [QUESTION]),
    "policies.read_role, its policies": lambda _: _documents(),
    "deletion.pending_snapshot": lambda _: deletion.pending_snapshot(DISKS[0], REGION),
    "deletion.find_last_snapshots": lambda _: deletion.find_last_snapshots("shop/prod", REGION, profile="other"),
    "deletion.create_snapshot": lambda _: deletion.create_snapshot(DISKS[0], REGION, {"aws:x": "y", "team": "db"}),
    "deletion.create_snapshot, no room": lambda agent: deletion.create_snapshot(
        DISKS[0], REGION, FULL, agent.messages.append
    ),
    "deletion.wait_for_snapshot": _wait,
    "deletion.read_storage": lambda _: deletion.read_storage(DISKS[0], REGION),
    "deletion.read_storage, access point": lambda _: deletion.read_storage(f"{SYSTEM}::{POINT}", REGION),
    "deletion.read_storage, of another system": lambda _: deletion.read_storage(f"fs-aaaaaaaa::{POINT}", REGION),
    "deletion.find": lambda _: deletion.find("prod/mysql", REGION),
    "deletion.delete": lambda _: deletion.delete(DISKS[0], REGION, last_look=lambda: None),
    "deletion.delete, access point": lambda _: deletion.delete(f"{SYSTEM}::{POINT}", REGION, last_look=lambda: None),
}


def _documents():
    with mock.patch.object(instances, "_simulated", side_effect=errors.AwsError("may not simulate")):
        return instances.read_role(PROFILE, REGION, [QUESTION])


CASES = tuple(Case(name, _calls(call)) for name, call in CALLS.items())
