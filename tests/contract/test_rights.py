"""Which right opens which call: the emulator and a real agent answer each capability alike."""

import pytest

from nomad_csi.nomad import permissions
from tests import acl, deadlines

CAPABILITIES = (
    *("list-jobs", "read-job", "parse-job", "submit-job", "register-job", "plan-job", "deregister-job", "purge-job"),
    *("read-logs", "read-fs", "csi-register-plugin", "csi-list-volume", "csi-read-volume", "csi-mount-volume"),
    "csi-write-volume",
)
LIST = {"csi-list-volume", "csi-read-volume", "csi-mount-volume", "list-jobs"}
TASK = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}
GROUP = {"Name": "g", "Count": 0, "Tasks": [TASK]}
JOB = {"Job": {"ID": "rights", "Name": "rights", "Type": "service", "Datacenters": ["*"], "TaskGroups": [GROUP]}}
VOLUME = {"Volumes": [{"ID": "v", "Namespace": "default", "PluginID": "none", "RequestedCapabilities": [{}]}]}
CALLS = {
    "GET /v1/jobs": (None, {"list-jobs"}),
    "GET /v1/jobs?namespace=*": (None, {"list-jobs"}),
    "GET /v1/job/no-such-job": (None, {"read-job"}),
    "GET /v1/job/no-such-job/allocations": (None, {"read-job"}),
    "GET /v1/job/no-such-job/submission?version=0": (None, {"read-job"}),
    "POST /v1/jobs/parse": ({"JobHCL": 'job "j" {}'}, {"parse-job", "submit-job"}),
    "POST /v1/job/rights/plan": (JOB, {"submit-job", "plan-job"}),
    "POST /v1/jobs": (JOB, {"submit-job", "register-job"}),
    "DELETE /v1/job/no-such-job?purge=true": (None, {"submit-job", "purge-job"}),
    "DELETE /v1/job/no-such-job": (None, {"submit-job", "purge-job", "deregister-job"}),
    "GET /v1/volumes?type=csi": (None, LIST),
    "GET /v1/volumes?type=csi&namespace=*": (None, LIST),
    "GET /v1/volumes/snapshot?plugin_id=none": (None, LIST),
    "GET /v1/volume/csi/no-such-volume": (None, {"csi-read-volume", "csi-mount-volume", "read-job"}),
    "PUT /v1/volumes": (VOLUME, {"csi-write-volume"}),
    "PUT /v1/volume/csi/v/create": (VOLUME, {"csi-write-volume"}),
    "DELETE /v1/volume/csi/no-such-volume": (None, {"csi-write-volume"}),
    "DELETE /v1/volume/csi/v/detach?node=00000000-0000-0000-0000-000000000000": (None, {"csi-mount-volume"}),
    "DELETE /v1/volumes/snapshot?plugin_id=none&snapshot_id=s": (None, {"csi-write-volume"}),
}
"""Call -> its body, and the capabilities that open it, beside reading plugins and clients."""

LEVELS = {
    "GET /v1/plugins?type=csi": {"plugin"},
    "GET /v1/plugin/csi/none": {"plugin"},
    "GET /v1/nodes": {"node"},
    "GET /v1/node/00000000-0000-0000-0000-000000000000": {"node"},
    "GET /v1/agent/members": {"node"},
    "PUT /v1/volumes": {"plugin"},
    "GET /v1/agent/self": set(),
    "GET /v1/acl/token/self": None,
    "PUT /v1/system/gc": set(),
}
"""Call -> the policies ``plugin`` and ``node`` with which ``read`` is needed; ``None``: none, an empty set: others."""


def known(agent):
    """Return the capabilities that this release knows; it refuses a policy with another."""
    return [name for name in CAPABILITIES if agent.has("job-capabilities") or name not in permissions.YOUNG]


@pytest.fixture(scope="module")
def token_with():
    """Return a token of an agent with these rights: ``token_with(agent, root, capabilities, plugin="read")``."""
    made = {}

    def make(agent, root, capabilities=(), **levels):
        key = (agent.kind, tuple(capabilities), tuple(levels.items()))
        if key not in made:
            spaces = {"default": {"capabilities": capabilities}} if capabilities else {}
            made[key] = agent.make_token(root, f"rights-{len(made)}", acl.rules(spaces, **levels))
        return made[key]

    return make


def is_open(agent, call, body, token):
    """Return whether the call gets past the rights; what is wrong with it otherwise does not matter."""
    method, path = call.split()
    headers = {"X-Nomad-Token": token}
    reply = agent.pool.request(
        method,
        agent.url + path,
        json=body if method != "GET" else None,
        headers=headers,
        timeout=deadlines.PATIENT_S,
        preload_content=False,
    )
    refused = reply.status == 403 or (reply.status == 500 and reply.read() == b"Permission denied")
    reply.close()
    return not refused


@pytest.mark.parametrize("call", CALLS)
def test_each_capability_opens_what_the_table_says(acl_agent, token_of, token_with, call):
    """One capability at a time, in ``default``."""
    body, opening = CALLS[call]
    root = token_of("root")

    found = {name for name in known(acl_agent) if is_open(acl_agent, call, body, token_with(acl_agent, root, (name,)))}

    assert found == opening & {*known(acl_agent)}


def test_young_capabilities_are_refused_by_older_releases(acl_agent, token_of):
    """As any that there is not: no policy of ours may have one."""
    headers, statuses = {"X-Nomad-Token": token_of("root")}, {}

    for name in sorted(permissions.YOUNG):
        rules = acl.rules({"default": {"capabilities": [name]}})
        statuses[name], *_ = acl_agent.call("PUT", "/v1/acl/policy/young", {"Name": "young", "Rules": rules}, headers)

    assert statuses == dict.fromkeys(permissions.YOUNG, 200 if acl_agent.has("job-capabilities") else 400)


@pytest.mark.parametrize("call", CALLS)
def test_the_product_knows_what_opens_each_call(call):
    """Its messages, `doctor` and `acl-policy` name the same capabilities."""
    method, path = call.split()
    need = permissions.table().calls[permissions.name_of(method, path.partition("?")[0])]

    of_purge = {"deregister-job"} if "purge=true" in path else set()
    assert set(need.any_of) - of_purge == CALLS[call][1]


@pytest.mark.parametrize("call", LEVELS)
def test_each_level_opens_what_the_table_says(acl_agent, token_of, token_with, call):
    """Reading plugins, reading clients; every capability in ``default`` beside it."""
    root = token_of("root")
    body = VOLUME if call == "PUT /v1/volumes" else {}

    def opens(**levels):
        return is_open(acl_agent, call, body, token_with(acl_agent, root, tuple(known(acl_agent)), **levels))

    found = {kind for kind in ("plugin", "node") if opens(**{"plugin": "", "node": "", kind: "read"})}

    assert opens(plugin="", node="") is (LEVELS[call] is None)
    assert found == (LEVELS[call] if LEVELS[call] is not None else {"plugin", "node"})


USE = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}


@pytest.mark.parametrize(
    ("part", "needs"),
    [
        ({"Tasks": [TASK | {"CSIPluginConfig": {"ID": "p", "Type": "node"}}]}, "csi-register-plugin"),
        ({"Volumes": {"v": {"Type": "csi", "Source": "v", "Name": "v"} | USE}}, "csi-mount-volume"),
    ],
)
def test_a_job_needs_what_it_holds(acl_agent, token_of, token_with, part, needs):
    """A plugin to run, a volume to mount."""
    root = token_of("root")
    job = {"Job": JOB["Job"] | {"TaskGroups": [GROUP | part]}}

    without = token_with(acl_agent, root, ("submit-job",))
    enough = token_with(acl_agent, root, tuple(sorted(("submit-job", needs))))
    found = [is_open(acl_agent, "POST /v1/jobs", job, token) for token in (without, enough)]
    acl_agent.call("DELETE", "/v1/job/rights?purge=true", headers={"X-Nomad-Token": root})

    assert found == [False, True]
