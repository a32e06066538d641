"""Plugin jobs are registered against what was planned, compared by Nomad's plan, and stopped before they are purged."""

import contextlib
import dataclasses

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.jobs import plugin_job, wanted_job
from nomad_csi.nomad import jobs, version_gates
from nomad_csi.volumes import ownership
from tests.scripted import servers

JOB = plugin_job.PluginJobResource()
IDENTITY = "storage/aws-ebs0-node"
GET = "/v1/job/aws-ebs0-node"
PLAN = "/v1/job/aws-ebs0-node/plan"
PARSE = "/v1/jobs/parse"
ALLOCATIONS = "/v1/job/aws-ebs0-node/allocations"
NEWS = {
    "jobId": "aws-ebs0-node",
    "namespace": "storage",
    "hcl": 'job "aws-ebs0-node" { namespace = "storage" }',
    "owner": "infra/prod",
}
PARSED = {"ID": "aws-ebs0-node", "Namespace": "storage", "Type": "system", "TaskGroups": []}
RUNNING = {
    "ID": "aws-ebs0-node",
    "Namespace": "storage",
    "Type": "system",
    "Status": "running",
    "Stop": False,
    "Version": 3,
    "JobModifyIndex": 41,
}
STOPPED = RUNNING | {"Status": "dead", "Stop": True}
CLUSTER = "0c9d2c53-7f11-4d8d-9b5a-2f4c9a4be0a1"
OTHER_CLUSTER = "91a7a2ee-0f0e-4d52-8d4a-4d6f3f1f7a55"
IDENTITY_VARIABLE = "/v1/var/nomad-csi/cluster"
OWNER_RECORDS = f"/v1/var/{ownership.path_of('aws-ebs0-node', ownership.JOB_FOLDER)}"
ALLOCATION = {
    "ID": "780a85f8-572b-5a7c-a1c6-ad149d529b4b",
    "NodeID": "e4e7c740-a693-6393-61e0-c39b1899619e",
    "NodeName": "client-1",
    "JobID": "aws-ebs0-node",
    "TaskGroup": "plugin",
    "DesiredStatus": "stop",
    "TaskStates": {},
}


def plan(kind, index=41, **diff):
    """Return the plan that a Nomad answers."""
    of_nomad = {"FailedTGAllocs": None, "Warnings": "", "Annotations": None}
    return of_nomad | {"Diff": {"Type": kind} | diff, "JobModifyIndex": index}


def record_of(owner="infra/prod", **fields):
    """Return the variable with the owner record of the job."""
    record = ownership.OwnerRecord(owner=owner, **fields)
    return {"Path": OWNER_RECORDS.removeprefix("/v1/var/"), "Items": record.to_items(), "ModifyIndex": 9}


def variable(identity):
    """Return the variable that holds the *identity* of a cluster."""
    return {"Path": "nomad-csi/cluster", "Items": {"id": identity}, "ModifyIndex": 7}


def do(step, context, new_inputs=NEWS, recorded=None):
    """Have the job created, changed, previewed, read or deleted."""
    known = new_inputs if recorded is None else recorded
    steps = {
        "create": lambda: JOB.create(context, new_inputs),
        "update": lambda: JOB.update(context, IDENTITY, known, new_inputs),
        "preview": lambda: JOB.preflight(context, {}, new_inputs),
        "preview of an update": lambda: JOB.preflight(context, known, new_inputs),
        "read": lambda: JOB.read(context, IDENTITY, new_inputs, known),
        "delete": lambda: JOB.delete(context, IDENTITY, known),
    }
    return steps[step]()


@pytest.fixture
def cluster(scripted):
    """Return a Nomad that parses the job, registers whatever it is given, and holds no volume."""
    scripted.reply("GET", IDENTITY_VARIABLE, 200, variable(CLUSTER))
    scripted.reply("POST", PARSE, 200, PARSED)
    scripted.reply("GET", "/v1/volumes", 200, [])
    owned_by(scripted, "infra/prod")
    return scripted


def owned_by(cluster, owner):
    """Let the job have the owner record of *owner*; none where it is empty."""
    found = (200, record_of(owner)) if owner else (404, "variable not found")
    cluster.replies["GET", OWNER_RECORDS] = [found]


def answers(cluster, *, job, planned, register=(200, {"EvalID": "", "JobModifyIndex": 44, "Warnings": ""})):
    """Let *cluster* hold *job* (``None``: absent), plan *planned*, and answer a registration with *register*."""
    cluster.reply("GET", GET, *((200, job) if job else (404, "job not found")))
    for method in ("PUT", "POST"):
        cluster.reply(method, PLAN, 200, planned)
        cluster.reply(method, "/v1/jobs", *register)
        cluster.reply(method, GET, *register)


def registered(cluster):
    """Return the bodies of all registrations."""
    return [
        body
        for verb, path, body in cluster.requests
        if verb in ("PUT", "POST") and path.partition("?")[0] in ("/v1/jobs", GET)
    ]


def changes(script):
    """Return method and path of every request that changes something."""
    asked = [(verb, path) for verb, path, _ in script.requests if verb != "GET"]
    return [item for item in asked if not item[1].startswith((PARSE, PLAN))]


@pytest.mark.parametrize("wrong", [{"jobId": "a/b"}, {"minimumNomad": "newest"}])
def test_check(wrong):
    """Nothing means Nomad's default namespace; an id with a slash is another address; a version has three numbers."""
    assert JOB.check({"jobId": "a", "hcl": "job"}) == ({"jobId": "a", "namespace": "default", "hcl": "job"}, ())
    assert [failure.path for failure in JOB.check(NEWS | wrong)[1]] == list(wrong)


@pytest.mark.parametrize(
    ("held", "owner", "planned", "new_inputs"),
    [
        (STOPPED, "", plan("None"), NEWS),
        (RUNNING, "infra/prod", plan("Edited"), NEWS),
        (RUNNING, "", plan("Edited"), NEWS | {"adopt": True}),
        (RUNNING, "infra/dev", plan("None"), NEWS | {"adopt": True}),
    ],
    ids=["stopped", "ours", "adopted", "of another stack"],
)
def test_create_registers_over_what_it_may(context, cluster, held, owner, planned, new_inputs):
    """A stopped job, our own, and one to be adopted get the new version, if nobody changes them meanwhile."""
    owned_by(cluster, owner)
    answers(cluster, job=held, planned=planned)

    JOB.create(context, new_inputs)

    assert [(body["EnforceIndex"], body["JobModifyIndex"]) for body in registered(cluster)] == [(True, 41)]


THEIRS = {
    "preview": "belongs to stack infra/dev: choose another id, set adopt",
    "preview of an update": "belongs to stack infra/dev: choose another id",
    "update": "belongs to stack infra/dev",
}


@pytest.mark.parametrize("step", THEIRS)
def test_job_of_another_stack_is_refused(context, cluster, heard, step):
    """For an import, too, and also one that the state has; one to be adopted is not refused in a preview."""
    owned_by(cluster, "infra/dev")
    answers(cluster, job=RUNNING, planned=plan("Edited"))

    with pytest.raises(errors.RefusedError, match=THEIRS[step]):
        do(step, dataclasses.replace(context, imports=True))
    assert registered(cluster) == []
    JOB.preflight(context, {}, NEWS | {"adopt": True})
    assert heard["warn"] == []


@pytest.mark.parametrize("record", [(404, "variable not found"), (200, record_of("infra/old", nonce="5e884898"))])
def test_job_that_lost_its_owner_record_or_has_it_under_another_name_is_updated(context, cluster, record):
    """The state has it, so that it is this stack's; after a renaming by the nonce."""
    cluster.replies["GET", OWNER_RECORDS] = [record]
    answers(cluster, job=RUNNING, planned=plan("Edited"))

    do("update", context, recorded=NEWS | {"nonce": "5e884898"})

    assert len(registered(cluster)) == 1


def test_resource_that_lost_its_owner_does_not_change_the_job_of_another_stack(context, cluster):
    """Its state has the former owner, or the program a new one; without both, it would change a job whoever owns it."""
    owned_by(cluster, "infra/dev")
    answers(cluster, job=RUNNING, planned=plan("Edited"))
    new_inputs = {name: value for name, value in NEWS.items() if not name.startswith("owner")}

    for given, recorded in ((new_inputs, NEWS), (NEWS, new_inputs)):
        with pytest.raises(errors.RefusedError, match="belongs to stack infra/dev"):
            do("update", context, new_inputs=given, recorded=recorded)

    assert registered(cluster) == []


def test_preview_for_an_import_warns_of_a_job_without_owner_that_would_change(context, cluster, heard):
    """Any other refuses it, as `up` does."""
    owned_by(cluster, "")
    answers(cluster, job=RUNNING, planned=plan("Edited"))

    JOB.preflight(dataclasses.replace(context, imports=True), {}, NEWS)
    with pytest.raises(errors.RefusedError, match="is not this stack's, and would change: Edited; choose another id"):
        JOB.preflight(context, {}, NEWS)

    [warning] = heard["warn"]
    assert "is not this stack's, and would change" in warning
    assert warning.endswith("; `up` is refused, unless the job is imported first")


@pytest.mark.parametrize("new_inputs", [NEWS, {name: NEWS[name] for name in ("jobId", "namespace", "hcl")}])
def test_create_refuses_a_running_job_that_is_not_ours(context, cluster, new_inputs):
    """Somebody else's job runs on; the refusal names it, and five changes of Nomad's plan: it may differ in every line."""
    fields = [{"Type": "Edited", "Name": f"F{number}", "Old": "1", "New": "2"} for number in range(9)]
    owned_by(cluster, "")
    answers(cluster, job=RUNNING, planned=plan("Edited", Fields=fields))

    shown = r"job storage/aws-ebs0-node runs already.* F0: 1 -> 2, .*F4: 1 -> 2 and 4 more; choose.*adopt"
    with pytest.raises(errors.RefusedError, match=shown):
        JOB.create(context, new_inputs)
    assert registered(cluster) == []


def test_create_that_lost_a_race_is_refused(context, cluster):
    """A job changed between plan and registration is left as it is."""
    conflict = "Enforcing job modify index 0: job already exists"
    answers(cluster, job=None, planned=plan("Added", 0), register=(500, conflict))

    with pytest.raises(errors.RefusedError, match=f"changed meanwhile.*{conflict}"):
        JOB.create(context, NEWS)


def test_update_whose_answer_was_lost_and_that_is_not_in_force_fails(context, cluster):
    """The old version runs on: that is no success, and nothing is sent again unseen."""
    answers(cluster, job=RUNNING, planned=plan("Edited"), register=(0, None))

    with pytest.raises(errors.NomadApiError) as failed:
        JOB.update(context, IDENTITY, NEWS, NEWS | {"hcl": NEWS["hcl"] + " "})

    assert failed.value.kind == "ambiguous"
    assert len(registered(cluster)) == 1


@pytest.mark.parametrize(
    ("recorded", "updates"),
    [
        ({"driftType": "Edited", "drift": ["meta[a]", "config.args"]}, ("edited",)),
        ({"driftType": "Stopped"}, ("stopped",)),
        ({"owner": "infra/prod"}, ("nonce",)),
    ],
)
def test_diff_names_what_somebody_changed_in_nomad(recorded, updates):
    """It is a difference although the inputs are equal; so is what an older release did not record."""
    found = JOB.diff(IDENTITY, NEWS, recorded, NEWS)

    assert found.updates == updates


@pytest.mark.parametrize("claims", [{"CurrentWriters": 1}, {"CurrentReaders": 1}])
def test_delete_refuses_while_a_volume_of_the_plugin_is_claimed(context, scripted, claims):
    """A volume in use needs its plugin to be unmounted and detached, whoever registered it."""
    task = {"Name": "plugin", "CSIPluginConfig": {"ID": "aws-ebs0", "Type": "node"}}
    scripted.reply("GET", GET, 200, RUNNING | {"TaskGroups": [{"Name": "plugin", "Tasks": [task]}]})
    free = {"Namespace": "prod", "PluginID": "aws-ebs0", "CurrentReaders": 0, "CurrentWriters": 0}
    held = free | claims
    volumes = [held | {"ID": "mysql"}, free | {"ID": "x"}, held | {"ID": "y", "PluginID": "other"}]
    scripted.reply("GET", "/v1/volumes", 200, volumes)

    with pytest.raises(errors.RefusedError, match="would stay mounted and attached without it: prod/mysql;"):
        JOB.delete(context, IDENTITY, NEWS)
    assert scripted.sent("DELETE") == []
    listed = [path for path, _ in scripted.sent("GET") if path.startswith("/v1/volumes?")]
    assert listed == ["/v1/volumes?namespace=%2A&type=csi"]  # of every namespace, not of the job's


@pytest.mark.parametrize(("without", "is_refused"), [((), True), ((("prod", "x"),), False)])
def test_job_with_registered_volumes_is_stopped_with_them_alone(context, scripted, without, is_refused):
    """They could not be mounted without it; those that are deregistered before do not count."""
    task = {"Name": "plugin", "CSIPluginConfig": {"ID": "aws-ebs0", "Type": "node"}}
    scripted.reply("GET", GET, 200, RUNNING | {"TaskGroups": [{"Name": "plugin", "Tasks": [task]}]})
    scripted.reply("GET", "/v1/volumes", 200, [{"ID": "x", "Namespace": "prod", "PluginID": "aws-ebs0"}])
    found = jobs.get(context.client, "storage", "aws-ebs0-node")

    refused = pytest.raises(errors.RefusedError, match=r"volumes are registered with its plugin, .*: prod/x;")
    with refused if is_refused else contextlib.nullcontext():
        wanted_job.refuse_serving(context.client, found, registered_too=True, without=without)


def test_job_without_an_owner_is_stopped_though_records_may_not_be_read(context, cluster):
    """It has none, and none of its stack's can have taken it over."""
    cluster.replies["GET", OWNER_RECORDS] = [(403, "Permission denied")]
    cluster.reply("GET", GET, 200, STOPPED | {"Stop": False})
    cluster.reply("GET", ALLOCATIONS, 200, [])
    cluster.reply("DELETE", GET, 200, {"EvalID": ""})

    JOB.delete(context, IDENTITY, {name: value for name, value in NEWS.items() if name != "owner"})

    assert ["purge=true" in path for path, _ in cluster.sent("DELETE")] == [False, True]


def test_delete_by_a_copy_of_the_state_is_refused(context, cluster):
    """Of another stack that still has the job."""
    with pytest.raises(
        errors.RefusedError, match=f"^job {IDENTITY} was made by stack infra/prod, and this is infra/copy"
    ):
        JOB.delete(dataclasses.replace(context, stack="infra/copy"), IDENTITY, NEWS | {"stack": "infra/prod"})
    assert cluster.requests == []


NEWER = (200, record_of(nonce="newer"))
STAYS = {
    "held by another resource": (
        NEWER,
        f"job {IDENTITY} runs on: a newer resource of this stack holds it (moved, or repl",
    ),
    "owner not known": ((403, "Permission denied"), "`nomad job stop -namespace storage aws-ebs0-node`"),
}


@pytest.mark.parametrize(("reply", "words"), STAYS.values(), ids=STAYS)
def test_delete_leaves_a_job_that_another_resource_may_hold(context, cluster, heard, reply, words):
    """Its record has another nonce, or cannot be read: the program declares it under another name, or provider."""
    cluster.replies["GET", OWNER_RECORDS] = [reply]
    cluster.reply("GET", GET, 200, RUNNING)

    JOB.delete(context, IDENTITY, NEWS | {"nonce": "older"})

    assert cluster.sent("DELETE") == []
    assert words in heard["warn"][-1]


UNPURGED = (
    "job storage/aws-ebs0-node is stopped, but after 0.001 s allocations still run: 780a85f8 on client-1 ({}); it was "
    "not purged: check these clients, then run again"
)
UNENDED = {
    "interrupted": ("running", 2, {}, "interrupted: job storage/aws-ebs0-node is stopped, not purged"),
    "running": ("running", 1, {"timeout_s": 0.001}, UNPURGED.format("running")),
    "away": ("unknown", 1, {"timeout_s": 0.001}, UNPURGED.format("unknown")),
}


@pytest.mark.parametrize(("status", "count", "options", "said"), UNENDED.values(), ids=UNENDED)
def test_delete_that_ends_before_the_tasks_do_purges_nothing(context, cluster, heard, status, count, options, said):
    """It says how far it came, or, after its deadline, where to look: also on a client that is away."""
    cluster.reply("GET", GET, 200, RUNNING)
    cluster.reply("DELETE", GET, 200, {"EvalID": ""})
    ended = ALLOCATION | {"ClientStatus": "complete"}
    cluster.reply("GET", ALLOCATIONS, 200, [ALLOCATION | {"ClientStatus": status}] * count + [ended])
    if not options:
        context.cancelled.set()

    with pytest.raises(errors.NomadCsiError) as caught:
        JOB.delete(dataclasses.replace(context, **options), IDENTITY, NEWS)
    assert (str(caught.value), isinstance(caught.value, errors.CancelledError)) == (said, not options)
    assert heard["status"][0] == ("1 task is stopping" if count == 1 else "2 tasks are stopping")
    assert ["purge=true" in path for path, _ in cluster.sent("DELETE")] == [False]


OLD_SERVERS = {
    "1.9.3": "nomad-too-old-for-driver: job storage/aws-ebs0-node: expected Nomad 1.9.4 or later on the servers, found "
    "server-1 with 1.9.3; ",
    "1.8.3": "nomad-unsupported: servers: expected Nomad 1.8.4 or later on the servers, found server-1 with 1.8.3; ",
}


@pytest.mark.parametrize("version", OLD_SERVERS)
@pytest.mark.parametrize("step", ["create", "update", "preview"])
def test_server_older_than_the_plugin_wants_is_refused(context, cluster, step, version):
    """Before the job is even parsed: the name of the server, its version, and what is wanted."""
    cluster.reply("GET", "/v1/agent/members", 200, servers("1.9.4", version))

    with pytest.raises(errors.RefusedError) as caught:
        do(step, context, NEWS | {"minimumNomad": "1.9.4"}, {})

    assert str(caught.value).startswith(OLD_SERVERS[version])
    assert str(caught.value).endswith("; nothing was changed")
    assert [path.split("?")[0] for _method, path, *_ in cluster.requests] == ["/v1/agent/members"]


@pytest.mark.parametrize(
    ("version", "status", "is_refused"),
    [
        ("1.9.4", "alive", False),
        ("1.10.0+ent", "alive", False),
        ("2.0.6-dev", "alive", False),
        ("1.9.4-beta.1", "alive", False),
        ("1.9.3", "failed", True),
        ("1.9.3", "leaving", True),
        ("1.9.3", "left", False),
    ],
)
def test_every_server_that_may_come_back_counts_by_its_release(context, scripted, version, status, is_refused):
    """A pre-release counts as its release; a server that failed is still a member, and one that left is none."""
    scripted.reply("GET", "/v1/agent/members", 200, servers("1.9.4", version, status=status))

    with pytest.raises(errors.RefusedError) if is_refused else contextlib.nullcontext():
        version_gates.refuse_older(context.client, {"plugin ebs": "1.9.4", "plugin efs": "1.3.0"})


RECORDED = NEWS | {"jobModifyIndex": 41, "version": 3, "driftType": "None", "cluster": CLUSTER}
COMMAND = f"`nomad var put -force -namespace default nomad-csi/cluster id={CLUSTER}`"
ELSEWHERE = {
    "another": ((200, variable(OTHER_CLUSTER)), f"cluster {OTHER_CLUSTER}"),
    "lost": ((404, "variable not found"), "one without an identity"),
}


@pytest.mark.parametrize("step", ["create", "preview", "read", "preview of an update", "update", "delete"])
@pytest.mark.parametrize(("identity", "other"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_job_of_another_cluster_is_not_taken_for_ours(context, scripted, step, identity, other):
    """A provider that points to another cluster finds somebody's job of that id: it is neither read nor touched."""
    scripted.reply("GET", IDENTITY_VARIABLE, *identity)
    scripted.reply("POST", PARSE, 200, PARSED)
    answers(scripted, job=RUNNING, planned=plan("Edited"))
    context.operation.see(RECORDED)

    with pytest.raises(errors.RefusedError) as caught:
        do(step, context, NEWS | ({"adopt": True} if "update" in step else {}), RECORDED)

    assert str(caught.value) == (
        f"job {IDENTITY} is recorded in cluster {CLUSTER}, and at {scripted.address} is {other}; nothing was changed: "
        f"correct the provider's address or region; where it is that cluster, rebuilt or restored: {COMMAND}"
    )
    assert changes(scripted) == []


def test_create_without_an_owner_makes_nothing_but_the_job(context, scripted):
    """No record is left, so that the cluster needs no identity for it."""
    scripted.reply("GET", IDENTITY_VARIABLE, 404, "variable not found")
    scripted.reply("POST", PARSE, 200, PARSED)
    answers(scripted, job=None, planned=plan("Added", 0))
    scripted.reply("GET", GET, 200, RUNNING)

    _identity, outputs = JOB.create(context, {name: value for name, value in NEWS.items() if name != "owner"})

    assert outputs.get("cluster") is None
    assert [path.partition("?")[0] for _verb, path in changes(scripted)] == ["/v1/jobs"]


# --- the type of a job


SERVICE = NEWS | {"hcl": 'job "aws-ebs0-node" {\n  namespace = "storage"\n}\n'}
SYSTEM = NEWS | {"hcl": 'job "aws-ebs0-node" {\n  namespace = "storage"\n  type = "system"\n}\n'}
WISHED = SYSTEM | {"replaceForType": True}


@pytest.mark.parametrize("held", [RUNNING, STOPPED], ids=["running", "stopped"])
@pytest.mark.parametrize("step", ["create", "update", "preview", "preview of an update"])
def test_job_of_another_type_is_not_sent(context, cluster, held, step):
    """Nomad would refuse it after the owner was recorded; also one to be adopted. What is stopped before is not refused."""
    answers(cluster, job=held | {"Type": "service"}, planned=plan("Edited"))

    with pytest.raises(errors.RefusedError) as refused:
        do(step, context, SYSTEM | {"adopt": True})

    assert str(refused.value) == (
        "job storage/aws-ebs0-node stays as it is: it is a service job, and Nomad makes no system job of it: keep the type "
        "(monolith.job_type, where it serves both roles), or stop and purge it while no volume of the plugin is claimed"
    )
    assert registered(cluster) == []
    assert cluster.sent("PUT") == []
    JOB.preflight(context, SERVICE, WISHED)
    assert JOB.diff(IDENTITY, SYSTEM, SYSTEM, WISHED | {"hcl": "job {"}).replaces == ()  # its type is not known


# --- other jobs that run the plugin


BESIDE = "/v1/job/plugin-aws-ebs-nodes"
NODE_TASK = {"Driver": "docker", "CSIPluginConfig": {"ID": "aws-ebs0", "Type": "node"}}
CLIENT = {"ID": "id-a", "Name": "a", "Datacenter": "dc1", "NodePool": "default", "Status": "down", "Drain": True}


def runs_beside(cluster, *, kind="node", owner="", job_ids=("plugin-aws-ebs-nodes",)):
    """Let *cluster* parse a job of the plugin, and run another job of it on a client that is drained and away."""
    cluster.replies["POST", PARSE] = [(200, PARSED | {"TaskGroups": [{"Tasks": [NODE_TASK]}]})]
    record = {"ID": "aws-ebs0", "NodeJobs": {"storage": {job_id: {} for job_id in job_ids}}}
    cluster.reply("GET", "/v1/plugin/csi/aws-ebs0", 200, record)
    other = {"ID": "plugin-aws-ebs-nodes", "Namespace": "storage"}
    if owner:
        path = ownership.path_of("plugin-aws-ebs-nodes", ownership.JOB_FOLDER)
        cluster.reply("GET", f"/v1/var/{path}", 200, record_of(owner))
    tasks = [{"CSIPluginConfig": {"ID": "aws-ebs0", "Type": kind}}]
    cluster.reply("GET", BESIDE, 200, other | {"TaskGroups": [{"Tasks": tasks}]})
    running = {"ID": "x", "NodeID": "id-a", "NodeName": "a", "ClientStatus": "running", "DesiredStatus": "run"}
    cluster.reply("GET", f"{BESIDE}/allocations", 200, [running])
    cluster.reply("GET", "/v1/nodes", 200, [CLIENT])


@pytest.mark.parametrize("step", ["create", "update", "preview"])
def test_nothing_is_started_beside_another_job_of_the_plugin(context, cluster, heard, step):
    """Neither registered nor recorded; the refusal names the job, its owner and both ways out."""
    answers(cluster, job=RUNNING if step == "update" else None, planned=plan("Added", 0))
    runs_beside(cluster, owner="shop/prod")

    with pytest.raises(errors.RefusedError) as refused:
        do(step, context, NEWS, NEWS | {"hcl": NEWS["hcl"] + " "})

    assert str(refused.value) == (
        "nothing was started; job-conflict: plugin aws-ebs0: expected no instances of job storage/plugin-aws-ebs-nodes on "
        "the clients of job storage/aws-ebs0-node, found instances on a; the job belongs to stack shop/prod; take it over (job_ids: "
        "{node: plugin-aws-ebs-nodes} and adopt: true at the plugin), or stop it while none of the plugin's volumes is "
        "claimed (`nomad job stop -namespace storage plugin-aws-ebs-nodes`)"
    )
    assert (registered(cluster), heard["warn"]) == ([], [])
    assert cluster.sent("PUT") == []


NO_OTHERS = {
    "other part of this stack": ({"kind": "controller", "owner": "infra/prod"}, NEWS),
    "of the same plugin": ({}, NEWS | {"pluginJobs": ["aws-ebs0-node", "plugin-aws-ebs-nodes"]}),
    "itself": ({"job_ids": ["aws-ebs0-node"]}, NEWS),
}


@pytest.mark.parametrize(("beside", "new_inputs"), NO_OTHERS.values(), ids=NO_OTHERS)
def test_jobs_of_the_same_plugin_and_stack_are_no_others(context, cluster, beside, new_inputs):
    """What this run has not come to yet may run on."""
    answers(cluster, job=None, planned=plan("Added", 0))
    cluster.reply("GET", GET, 200, RUNNING)
    runs_beside(cluster, **beside)

    JOB.create(context, new_inputs)

    assert len(registered(cluster)) == 1


@pytest.mark.parametrize("name", ["namespace", "jobId", "hcl"])
def test_preview_of_what_is_not_known_yet_asks_nothing(context, scripted, name):
    """The update refuses what is wrong."""
    JOB.preflight(context, {}, NEWS | {name: resource.UNKNOWN})

    assert scripted.requests == []


def test_preview_of_a_changed_id_does_not_take_the_old_job_for_another(context, cluster):
    """It is stopped before the one of the new id is started."""
    runs_beside(cluster)
    cluster.reply("GET", GET, 404, "job not found")

    JOB.preflight(context, NEWS | {"jobId": "plugin-aws-ebs-nodes"}, NEWS)

    assert [path.partition("?")[0] for path, _ in cluster.sent("GET")] == ["/v1/plugin/csi/aws-ebs0", GET]


@pytest.mark.parametrize("path", ["/v1/plugin/csi/aws-ebs0", "/v1/nodes", BESIDE])
def test_other_jobs_that_the_token_may_not_see_are_a_warning(context, cluster, heard, path):
    """The run goes on, and says what was not checked."""
    answers(cluster, job=None, planned=plan("Added", 0))
    cluster.reply("GET", GET, 200, RUNNING)
    runs_beside(cluster)
    cluster.replies["GET", path] = [(403, "Permission denied")]

    JOB.create(context, NEWS)

    [line] = heard["warn"]
    assert f"GET {path}: status 403: Permission denied" in line
    assert len(registered(cluster)) == 1
