"""
The calls of the client of Nomad: each request, the whole answer as it is read, and the error of each refusal.

Each field of a reply has a value of its own, so that one that is read from another field shows.
"""

import json

from nomad_csi import errors, nomad
from nomad_csi.nomad import jobs, namespaces, nodes, plugins, snapshots, tokens, transport, variables, volumes
from nomad_csi.plan import registration
from tests.deeds import agent as agents
from tests.deeds.deeds import Case

DOCUMENT = registration.VolumeRegistration(
    volume_id="mysql",
    namespace="prod",
    name="mysql-data",
    external_id="vol-1",
    plugin_id="ebs",
    capabilities=(registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
    mount_options=registration.MountOptions(fs_type="ext4", mount_flags=("noatime",)),
    required_topologies=({"zone": "a"},),
    preferred_topologies=({"zone": "b"},),
    parameters={"type": "gp3"},
    context={"partition": "1"},
    secrets={"key": "canary-5"},
    capacity_min_bytes=5,
    capacity_max_bytes=8,
    clone_id="vol-0",
    snapshot_id="snap-0",
)
VOLUME = {
    "ID": "mysql",
    "Namespace": "prod",
    "Name": "mysql-data",
    "ExternalID": "vol-1",
    "PluginID": "ebs",
    "Provider": "ebs.csi.aws.com",
    "RequestedCapabilities": [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}],
    "AccessMode": "multi-node-reader-only",
    "AttachmentMode": "block-device",
    "MountOptions": {"FSType": "ext4", "MountFlags": ["[REDACTED]"]},
    "RequestedTopologies": {"Required": [{"Segments": {"zone": "a"}}], "Preferred": [{"Segments": {"zone": "b"}}]},
    "Topologies": [None, {"Segments": {"zone": "c"}}],
    "Context": {"partition": "1"},
    "Parameters": {"type": "gp3"},
    "Secrets": {"key": "[REDACTED]"},
    "RequestedCapacityMin": 5,
    "RequestedCapacityMax": 8,
    "Capacity": 6,
    "CloneID": "vol-0",
    "SnapshotID": "snap-0",
    "ControllerRequired": True,
    "Schedulable": False,
    "CurrentReaders": 2,
    "CurrentWriters": 3,
    "CreateIndex": 41,
    "ModifyIndex": 42,
    "ReadAllocs": {"r": None},
    "WriteAllocs": {"w": None, "gone": None},
    "Allocations": [
        {
            "ID": name,
            "NodeID": f"{name}-node",
            "NodeName": f"{name}-name",
            "JobID": f"{name}-job",
            "Namespace": f"{name}-space",
            "ClientStatus": "running",
            "DesiredStatus": "stop",
            "CreateTime": 71,
            "ModifyTime": 72,
        }
        for name in ("r", "w")
    ],
}
SNAPSHOT = {"ID": "snap-1", "ExternalSourceVolumeID": "vol-1", "SizeBytes": 5, "CreateTime": 60, "IsReady": True}
JOB = {
    "ID": "web/nodes",
    "Namespace": "prod",
    "Type": "system",
    "Status": "running",
    "Stop": False,
    "Version": 3,
    "JobModifyIndex": 51,
    "ModifyIndex": 52,
    "Meta": {"team": "db"},
    "Datacenters": ["dc1"],
    "NodePool": "disks",
    "Constraints": [{"LTarget": "${node.class}", "Operand": "!=", "RTarget": "small"}],
    "TaskGroups": [
        {
            "Constraints": [{"LTarget": "${attr.os.name}", "Operand": "", "RTarget": "debian"}],
            "Networks": [{"Mode": "host"}],
            "Tasks": [
                {"Name": "other", "Driver": "exec"},
                {
                    "Name": "plugin",
                    "Driver": "docker",
                    "Config": {"privileged": True, "volumes": ["/dev:/dev", "local:/x"], "cap_add": ["CAP_SYS_ADMIN"]},
                    "Env": {"AWS_PROFILE": "x"},
                    "Constraints": [{"LTarget": "${meta.rack}", "Operand": "=", "RTarget": "r1"}],
                    "CSIPluginConfig": {"ID": "ebs", "Type": "node"},
                },
            ],
        }
    ],
}
ALLOCATION = {
    "ID": "a",
    "NodeID": "a-node",
    "NodeName": "a-name",
    "ClientStatus": "failed",
    "DesiredStatus": "evict",
    "JobVersion": 4,
    "TaskStates": {
        "one": {"Restarts": 2, "Events": [{"Time": 9, "Type": "Started", "DisplayMessage": "up", "Message": "no"}]},
        "two": {"Restarts": 3, "Events": [{"Time": 8, "Type": "Killed", "DisplayMessage": "", "Message": "out"}]},
    },
}
INSTANCE = {
    "AllocID": "a",
    "Healthy": True,
    "HealthDescription": "fine",
    "Provider": "ebs.csi.aws.com",
    "ProviderVersion": "v2",
    "NodeInfo": {
        "ID": "i-1",
        "MaxVolumes": 25,
        "AccessibleTopology": {"Segments": {"zone": "a"}},
        "RequiresNodeStageVolume": True,
        "SupportsExpand": True,
        "SupportsStats": False,
    },
    "ControllerInfo": {"SupportsAttachDetach": True, "SupportsClone": False},
}
PLUGIN = {
    "ID": "ebs",
    "Provider": "ebs.csi.aws.com",
    "Version": "v1",
    "ControllerRequired": True,
    "Controllers": {"c-node": INSTANCE},
    "Nodes": {"n-node": INSTANCE},
    "ControllersExpected": 2,
    "ControllersHealthy": 1,
    "NodesExpected": 4,
    "NodesHealthy": 3,
    "ControllerJobs": {"prod": {"ebs-controller": {"Expected": 1}}},
    "NodeJobs": {"prod": {"web/nodes": {"Expected": 1}}},
}
NODE = {
    "ID": "n",
    "Name": "client-1",
    "Datacenter": "dc1",
    "NodePool": "disks",
    "NodeClass": "large",
    "Status": "down",
    "SchedulingEligibility": "eligible",
    "Drain": True,
    "ModifyIndex": 61,
    "CreateIndex": 60,
    "Version": "2.0.5",
    "Drivers": {
        "docker": {
            "Detected": True,
            "Healthy": False,
            "HealthDescription": "off",
            "Attributes": {"driver.docker": "1"},
        },
        "exec": {"Detected": False, "Healthy": False, "HealthDescription": "no", "Attributes": None},
    },
    "Attributes": {"cpu.arch": "amd64"},
    "Meta": {"rack": "r1"},
}
VARIABLE = {"Namespace": "prod", "Path": "a/b", "Items": {"k": "v"}, "CreateIndex": 30, "ModifyIndex": 31}
MEMBERS = {
    "ServerRegion": "eu",
    "Members": [
        {"Name": "one.eu", "Status": "alive", "Tags": {"region": "eu", "build": "2.0.5"}},
        {"Name": "two.us", "Status": "failed", "Tags": {"region": "us", "build": "2.0.4"}},
        {"Name": "three", "Status": "left", "Tags": {"build": "2.0.3"}},
    ],
}
PLAN = {
    "Diff": {
        "Type": "Edited",
        "Fields": [{"Type": "Edited", "Name": "Priority", "Old": "50", "New": "60"}],
        "TaskGroups": [
            {"Type": "Added", "Name": "new", "Tasks": [{"Type": "Added", "Name": "plugin"}]},
            {
                "Type": "Edited",
                "Name": "nodes",
                "Tasks": [
                    {
                        "Type": "Edited",
                        "Name": "plugin",
                        "Objects": [
                            {
                                "Type": "Edited",
                                "Name": "Config",
                                "Fields": [{"Type": "Edited", "Name": "image", "Old": "a", "New": "b"}],
                            }
                        ],
                    }
                ],
            },
        ],
    },
    "JobModifyIndex": 51,
    "FailedTGAllocs": {"nodes": {"ConstraintFiltered": {"missing drivers": 1}, "NodesEvaluated": 1}},
    "Warnings": "take care",
}
TOKEN = {"Name": "ci", "AccessorID": "x", "Type": "client", "Policies": ["csi", "none"], "Roles": [{"ID": "r"}]}
RULES = {
    "Namespaces": [
        {
            "Name": "prod",
            "Capabilities": ["csi-read-volume"],
            "Variables": {"Paths": [{"PathSpec": "a/*", "Capabilities": ["read"]}]},
        }
    ],
    "Node": {"Policy": "read"},
    "Plugin": {"Policy": "list"},
    "Agent": {"Policy": "write"},
}

PARSED = {"JobHCL": "x", "Canonicalize": True}
REPLIES = {
    "GET /v1/volume/csi/mysql": VOLUME,
    "GET /v1/volumes": [VOLUME | {"ReadAllocs": None}],
    "PUT /v1/volume/csi/mysql": {"Warnings": "odd"},
    "PUT /v1/volumes": {"Warnings": "odd"},
    "DELETE /v1/volume/csi/mysql": {},
    "PUT /v1/volume/csi/mysql/create": {"Volumes": [VOLUME], "Warnings": "odd"},
    "DELETE /v1/volume/csi/mysql/detach": {},
    "PUT /v1/system/gc": None,
    "PUT /v1/volumes/snapshot": {"Snapshots": [SNAPSHOT]},
    "GET /v1/volumes/snapshot": {"Snapshots": [SNAPSHOT], "NextToken": "2"},
    "DELETE /v1/volumes/snapshot": {},
    "POST /v1/jobs/parse": JOB,
    "POST /v1/job/web%2Fnodes/plan": PLAN,
    "POST /v1/jobs": {"JobModifyIndex": 53},
    "GET /v1/job/web%2Fnodes": JOB,
    "GET /v1/jobs": [JOB],
    "DELETE /v1/job/web%2Fnodes": {"EvalID": ""},
    "GET /v1/job/web%2Fnodes/submission": {"Source": "job {}", "Format": "hcl2"},
    "GET /v1/job/web%2Fnodes/allocations": [ALLOCATION],
    "GET /v1/job/ebs-controller": JOB | {"ID": "ebs-controller", "Stop": True},
    "GET /v1/client/fs/logs/a": "line",
    "GET /v1/plugin/csi/ebs": PLUGIN,
    "GET /v1/plugins": [{"ID": "z"}, {"ID": "b"}],
    "GET /v1/nodes": [NODE],
    "GET /v1/node/n": NODE,
    "GET /v1/agent/members": MEMBERS,
    "GET /v1/var/a/b": VARIABLE,
    "GET /v1/vars": [{name: value for name, value in VARIABLE.items() if name != "Items"}],
    "PUT /v1/var/a/b": VARIABLE,
    "DELETE /v1/var/a/b": None,
    "GET /v1/namespaces": [{"Name": "shop"}, {"Name": "default"}],
    "GET /v1/namespace/prod": {"Name": "prod"},
    "GET /v1/acl/token/self": TOKEN,
    "GET /v1/acl/role/r": {"Policies": [{"Name": "by-role"}]},
    "GET /v1/acl/policy/csi": {"RulesJSON": RULES},
    "GET /v1/acl/policy/by-role": {"RulesJSON": None},
}


class Canned(agents.Recorded):
    """A transport that answers with `REPLIES`, or each request with one status."""

    def __init__(self, status=0, text=""):
        super().__init__(None)
        self._status, self._text = status, text

    def exchange(self, call, target, content, timeout_s):
        """Answer."""
        path = target.partition("?")[0]
        body = json.loads(content) if content else None
        self.requests.append(((call.method, target, body, round(timeout_s)), self._status or 200))
        if self._status == -1:
            raise self.lost(call, "the connection broke")
        if self._status == BARE:
            return transport.Answer(status=404, headers={}, content=self._text.encode())
        found = REPLIES.get(f"{call.method} {path}", ...)
        if self._status or found is ...:
            absent = next((text for start, text in ABSENT.items() if path.startswith(start)), "absent")
            status = self._status or 404
            text = absent if status == 404 else self._text
            return transport.Answer(status=status, headers={}, content=text.encode())
        if "next_token" in target:
            found = {"Snapshots": [SNAPSHOT | {"ID": "snap-2"}]}
        text = found if isinstance(found, str) else "" if found is None else json.dumps(found)
        return transport.Answer(status=200, headers={"X-Nomad-Index": "77"}, content=text.encode())


CONNECTION = nomad.Connection(address=agents.ADDRESS, token="t-1", namespace="own", region="eu")
BARE = -404
"""The 404 of a proxy, which is no word of Nomad about what it was asked for."""

STATUSES = {
    400: "bad",
    403: "Permission denied",
    404: "absent",
    409: "cas error",
    429: "slow down",
    500: "volume in use: mysql",
    503: "no leader",
    BARE: "404 page not found",
    -1: "",
}
"""What Nomad answers, `BARE` for the answer of a proxy, and -1 for no answer."""

ABSENT = {
    "/v1/volume/": volumes.ABSENT,
    "/v1/plugin/": "plugin not found",
    "/v1/node/": "node not found",
    "/v1/var/": variables.ABSENT,
    "/v1/namespace/": namespaces.ABSENT,
    "/v1/job/web%2Fnodes/submission": "job source not found",
    "/v1/job/": jobs.ABSENT,
    "/v1/acl/policy/": "ACL policy not found",
    "/v1/acl/role/": "not found",
}
USUAL = {
    400: "refused: status 400: bad",
    404: "refused: status 404: absent",
    BARE: "refused: status 404: 404 page not found",
    409: "refused: status 409: cas error",
    429: "retry: status 429: slow down; use fewer connections at a time; a Nomad agent takes 100 of one address",
    500: "refused: status 500: volume in use: mysql; stop the jobs that claim it and wait until the claims are free",
    503: "retry: status 503: no leader",
}
"""What becomes of a status in most calls; the file has only what is not so."""


def _once(agent, call, status, text):
    agent.transport = Canned(status, text)
    with nomad.Nomad(CONNECTION, timeout_s=30) as client:
        found = call(client)
        return list(found) if hasattr(found, "__next__") else found


def _calls(call):
    """Return what runs *call* on each reply: first the expected one, then each refusal."""

    def run(agent, _context):
        for status, text in STATUSES.items():
            try:
                words = f"= {agents.as_text(_once(agent, call, status, text))}"
            except errors.NomadApiError as error:
                words = f"{error.kind}: {str(error).replace(f'{error.method} {error.path}: ', '')}"
            except errors.NomadCsiError as error:
                words = f"{type(error).__name__}: {error}"
            agent.messages += [f"{status}: {words}"] if words != USUAL.get(status) else []
        return _once(agent, call, 0, "")

    return run


OF_JOBS = plugins.Plugin(
    plugin_id="ebs",
    provider="",
    version="",
    controller_required=True,
    controllers=(),
    nodes=(),
    controllers_expected=1,
    nodes_expected=1,
    jobs=frozenset({("prod", "web/nodes"), ("prod", "ebs-controller"), ("prod", "none")}),
)

WANTED = [("prod", "none"), ("default", "x"), ("prod", "mysql"), ("prod", "none")]
"""In no order, and one twice."""

CALLS = {
    "volumes.get": lambda client: volumes.get(client, "prod", "mysql"),
    "volumes.list_volumes": lambda client: volumes.list_volumes(client, "*", prefix="my"),
    "volumes.register": lambda client: volumes.register(client, DOCUMENT),
    "volumes.deregister": lambda client: volumes.deregister(client, "prod", "mysql"),
    "volumes.found": lambda client: volumes.found(client, WANTED),
    "volumes.read_each": lambda client: volumes.read_each(client, WANTED),
    "volumes.create": lambda client: volumes.create(client, DOCUMENT),
    "volumes.detach": lambda client: volumes.detach(client, "prod", "mysql", "n"),
    "volumes.collect_garbage": volumes.collect_garbage,
    "volumes.deregister, forced": lambda client: volumes.deregister(client, "prod", "mysql", is_forced=True),
    "snapshots.create": lambda client: snapshots.create(
        client,
        snapshots.NewSnapshot(namespace="prod", volume_id="mysql", name="s", parameters={"p": "1"}, secrets={"k": "2"}),
    ),
    "snapshots.list_snapshots": lambda client: list(snapshots.list_snapshots(client, "ebs")),
    "snapshots.delete": lambda client: snapshots.delete(client, "ebs", "snap-1"),
    "jobs.parse": lambda client: jobs.parse(client, "job {}", namespace="prod"),
    "jobs.plan": lambda client: jobs.plan(client, {"ID": "web/nodes", "Namespace": "prod"}),
    "jobs.register": lambda client: jobs.register(
        client, {"ID": "web/nodes", "Namespace": "prod"}, source="job {}", enforce_index=51
    ),
    "jobs.register, overwriting": lambda client: jobs.register(
        client, {"ID": "x"}, source="job {}", enforce_index=None
    ),
    "jobs.get": lambda client: jobs.get(client, "prod", "web/nodes"),
    "jobs.list_jobs": lambda client: jobs.list_jobs(client, "prod", "web"),
    "jobs.source": lambda client: jobs.source(client, "prod", "web/nodes", 3),
    "jobs.stop": lambda client: jobs.stop(client, "prod", "web/nodes", purge=False),
    "jobs.allocations": lambda client: jobs.allocations(client, "prod", "web/nodes"),
    "jobs.tail_log": lambda client: jobs.tail_log(
        client, "prod", "a", "plugin", stream="stdout", length=9, timeout_s=3
    ),
    "jobs.jobs_of_plugin": lambda client: jobs.jobs_of_plugin(client, OF_JOBS),
    "plugins.get": lambda client: plugins.get(client, "ebs"),
    "plugins.list_ids": plugins.list_ids,
    "nodes.list_nodes": nodes.list_nodes,
    "nodes.described": lambda client: list(nodes.all_described(client, nodes.list_nodes(client))),
    "nodes.ids_matching": lambda client: nodes.ids_matching(client, "${attr.cpu.arch}", "64"),
    "nodes.list_servers": nodes.list_servers,
    "variables.get": lambda client: variables.get(client, "prod", "a/b"),
    "variables.list_all": lambda client: variables.list_all(client, "prod", "a/"),
    "variables.put": lambda client: variables.put(client, "prod", "a/b", {"k": "v"}, index=31),
    "variables.delete": lambda client: variables.delete(client, "prod", "a/b", index=31),
    "namespaces.missing": lambda client: namespaces.missing(client, ["prod", "shop", "none", "default"]),
    "namespaces.check": lambda client: namespaces.check(client, "none"),
    "namespaces.refuse_unknown": lambda client: namespaces.refuse_unknown(client, "none"),
    "tokens.own": tokens.own,
}

CASES = tuple(Case(name, _calls(call)) for name, call in CALLS.items())
