"""The cases of the commands that compare a spec with a cluster: what is well, and one thing at a time that is not."""

import copy
import dataclasses
import json
import weakref
from unittest import mock

import yaml

from nomad_csi import errors
from nomad_csi.diagnosis import rounds, verification
from nomad_csi.hcl import values
from nomad_csi.jobs import owner as job_owner
from nomad_csi.migration import live_files
from nomad_csi.migration import model as migration
from nomad_csi.nomad import jobs, variables
from nomad_csi.plan import storage
from nomad_csi.render import documents
from nomad_csi.volumes import owner_records
from nomad_csi_sandbox.nomad import state
from tests.deeds import agent as agents
from tests.deeds import command_deeds, deeds, registration_deeds
from tests.deeds.deeds import Case, checked_inputs

VERSION = "v1.64.0"
INFO = {"Healthy": True, "HealthDescription": "healthy", "Provider": "ebs.csi.aws.com", "ProviderVersion": VERSION}


_KEPT = weakref.WeakKeyDictionary()


def allocation(alloc_id, job, node, *, index, status, task):
    """Return the allocation of a *job* on a *node*, with its client *status* and the state of each *task*."""
    group = job["TaskGroups"][0]
    return state.Allocation(
        alloc_id=alloc_id,
        eval_id="",
        job=job,
        group=group,
        spec={},
        index=0,
        node_id=node["ID"],
        node_name=node["Name"],
        create_index=index,
        create_ns=1,
        modify_ns=2,
        client_status=status,
        tasks={each["Name"]: state.TaskState(state=task, started_ns=3) for each in group["Tasks"]},
    )


def run_jobs(agent, _context):
    """Have what `_run_all` leaves, which runs once."""
    if agent.cluster not in _KEPT:
        _run_all(agent)
        _KEPT[agent.cluster] = agent.keep()
    agent.go_back(_KEPT[agent.cluster])


def _run_all(agent):
    """Run the plugin jobs of the spec, healthy on the one client, with all volumes registered."""
    command_deeds.REGISTER(agent, None)
    command_deeds.CREATE(agent, None)
    plan = storage.plan_document(yaml.safe_load(command_deeds.SPEC.format(folder="web", size=5)))
    known, client = agent.cluster.state, agent.client()
    node = next(iter(known.nodes.values()))
    node["Drivers"] = {"docker": {"Detected": True, "Healthy": True, "HealthDescription": "", "Attributes": {}}}
    node["Attributes"]["platform.aws.placement.availability-zone"] = "us-east-1a"
    known.allocs.clear()
    for plugin in plan.plugins:
        for job in plugin.jobs:
            source = documents.job_file(job)
            jobs.register(client, jobs.parse(client, source), source=source, enforce_index=None)
            stored = known.jobs[job.namespace, job.job_id].spec
            record = known.plugins[plugin.expectation.plugin_id]
            expected = plugin.expectation
            info = INFO | {
                "Provider": expected.provider,
                "ProviderVersion": expected.version,
                "PluginID": expected.plugin_id,
            }
            info |= {"AllocID": job.job_id, "UpdateTime": "", "AllocUpdateTime": 0}
            record.provider, record.version = expected.provider, expected.version
            if job.role == "controller":
                record.controllers = {
                    node["ID"]: info
                    | {"ControllerInfo": dict.fromkeys(("SupportsAttachDetach", "SupportsCreateDelete"), True)}
                }
            else:
                segments = {"topology.ebs.csi.aws.com/zone": "us-east-1a"} if job.plugin_id == "ebs" else {}
                own = {"ID": "i-1", "MaxVolumes": 25, "AccessibleTopology": {"Segments": segments}}
                record.nodes = {node["ID"]: info | {"NodeInfo": own}}
            known.allocs[job.job_id] = allocation(job.job_id, stored, node, index=20, status="running", task="running")


def then(change):
    """Return what brings the cluster to where all is well but for *change*, given the state and the client's node."""

    def before(agent, context):
        run_jobs(agent, context)
        known = agent.cluster.state
        change(known, next(iter(known.nodes.values())))

    return before


def _of(known, plugin_id, role):
    return next(iter(getattr(known.plugins[plugin_id], role).values()))


def _unhealthy(known, _node):
    _of(known, "ebs", "nodes").update(Healthy=False, HealthDescription="rpc error: password=canary-12")


def _no_instance(known, _node):
    known.plugins["ebs"].controllers.clear()


def _restarted(known, _node):
    task = next(iter(known.allocs["plugin-ebs-nodes"].tasks.values()))
    task.restarts, task.events = 3, [{"Time": 5, "Type": "Restarting", "DisplayMessage": "exit 1", "Details": {}}]


def _failed(known, _node):
    known.allocs["plugin-ebs-controller"].client_status = "failed"


def _creates_none(known, _node):
    _of(known, "ebs", "controllers")["ControllerInfo"]["SupportsCreateDelete"] = False


def _older(known, _node):
    _of(known, "efs", "nodes").update(ProviderVersion="v0.1.0")


def _other_driver(known, _node):
    _of(known, "efs", "nodes").update(Provider="other.csi.example")


def _other_zone(known, _node):
    _of(known, "ebs", "nodes")["NodeInfo"]["AccessibleTopology"]["Segments"] = {
        "topology.ebs.csi.aws.com/zone": "us-east-1b"
    }


def _edited(known, _node):
    known.jobs["default", "plugin-efs-nodes"].spec["Priority"] = 70


def _job_stopped(known, _node):
    known.jobs["default", "plugin-efs-nodes"].spec["Stop"] = True
    known.allocs["plugin-efs-nodes"].desired_status = "stop"


def _job_gone(known, _node):
    del known.jobs["default", "plugin-ebs-nodes"]
    known.allocs["plugin-ebs-nodes"].desired_status = "stop"


def _drained(_known, node):
    node.update(SchedulingEligibility="ineligible", Drain=True, DrainStrategy={"Deadline": 0})


def _down(_known, node):
    node["Status"] = "down"


def _no_driver(_known, node):
    node["Drivers"] = {}


def _volume_gone(known, _node):
    del known.volumes["prod", "web"]


def _volume_differs(known, _node):
    known.volumes["prod", "web"].spec.update(ExternalID="fs-0123456789abcdef0:/old")
    known.volumes["default", "logs"].spec.update(Context={"encryptInTransit": "false", "password": "canary-13"})


def _claimed_by_gone(known, _node):
    claim = {"Mode": "write", "AccessMode": "multi-node-multi-writer", "AttachmentMode": "file-system", "NodeID": "n"}
    known.volumes["default", "logs"].claims["gone"] = claim


def _two_jobs(known, _node):
    other = known.jobs["default", "plugin-efs-nodes"]
    known.jobs["default", "other"] = state.JobRecord(spec=other.spec | {"ID": "other", "Name": "other"})


def _job_of(label, stack_id=""):
    """Return what gives the job of ``efs`` to an owner, and changes it."""

    def change(agent, context):
        then(_edited)(agent, context)
        job = agent.cluster.state.jobs["default", "plugin-efs-nodes"].spec
        job |= {"Meta": {job_owner.OWNER_META: label}}
        _record(agent, owner_records.JOB_FOLDER, "plugin-efs-nodes", label, stack_id, label)

    return change


def _record(agent, folder, name, label, stack_id="", job_owner=""):
    record = owner_records.OwnerRecord(owner=label, stack_id=stack_id, nonce=stack_id and "0" * 12, job_owner=job_owner)
    written = {"id": name, **record.to_items()}
    path = owner_records.path_of(name, folder)
    assert variables.put(agent.client(), "default", path, written, index=variables.NEW)


def _others(agent, context):
    """Have volumes beside those of the spec: of this owner, of its stack, of another, of no owner, of another plugin."""
    run_jobs(agent, context)
    for volume_id, owner in {"b": OURS, "c": OURS | STACK, "d": {"owner": "web/prod"}, "e": {}, "f": OURS}.items():
        plugin = {"pluginId": "efs", "externalId": f"fs-0123456789abcdef0:/{volume_id}"}
        given = {name: value for name, value in registration_deeds.GIVEN.items() if not name.startswith("owner")}
        given |= {"volumeId": volume_id, "name": volume_id, "namespace": "default", "secrets": {}, **plugin, **owner}
        registration_deeds.VOLUME.create(context, checked_inputs(registration_deeds.VOLUME, given))
    known = agent.cluster.state
    known.volumes["default", "g"] = copy.deepcopy(known.volumes["default", "e"])
    known.volumes["default", "g"].spec.update(ID="g", PluginID="other")


def _no_namespace(agent, context):
    run_jobs(agent, context)
    for key in [("prod", "web"), ("prod", "scratch")]:
        del agent.cluster.state.volumes[key]
    del agent.cluster.state.namespaces["prod"]


def _of_another_type(known, _node):
    known.jobs["default", "plugin-efs-nodes"].spec["Type"] = "service"


def _several_edited(known, node):
    _edited(known, node)
    known.jobs["default", "plugin-ebs-nodes"].spec["Meta"] = {"nomad-csi.owner": "shop/prod", "team": "x"}
    known.jobs["default", "plugin-ebs-controller"].spec["Priority"] = 1


OURS, STACK = {"owner": "shop/prod"}, {"ownerId": "00112233aabbccdd"}
PLANNED = {
    "job stopped": then(_job_stopped),
    "job of another type": then(_of_another_type),
    "several jobs differ": then(_several_edited),
    "own job": _job_of("shop/prod"),
    "job of the stack": _job_of("shop/prod", "00112233aabbccdd"),
    "job of another": _job_of("web/prod"),
    "job of another stack": _job_of("web/prod", "9999999999999999"),
    "volume gone": then(_volume_gone),
    "volume differs": then(_volume_differs),
    "two jobs": then(_two_jobs),
    "others": _others,
    "no namespace": _no_namespace,
}


CHANGES = (
    _unhealthy,
    _no_instance,
    _restarted,
    _failed,
    _creates_none,
    _older,
    _other_driver,
    _other_zone,
    _edited,
    _job_stopped,
    _job_gone,
    _drained,
    _down,
    _no_driver,
    _volume_gone,
    _volume_differs,
    _claimed_by_gone,
    _two_jobs,
)


IMPORT = command_deeds.command("import", "--cluster", "--json")
VERIFY = command_deeds.command("verify", "SPEC", "--json")


def _no_source(known, _node):
    known.jobs["default", "plugin-efs-nodes"].sources.clear()


def _broken_source(known, _node):
    for source in known.jobs["default", "plugin-efs-nodes"].sources.values():
        source["Source"] = 'job "x" {\n'


def _no_provider(known, _node):
    known.plugins["efs"].provider = ""


def _own_driver(known, node):
    _no_source(known, node)
    _other_driver(known, node)
    known.plugins["efs"].provider = "other.csi.example"
    for task in known.jobs["default", "plugin-efs-nodes"].spec["TaskGroups"][0]["Tasks"]:
        task["Config"]["image"] = "example.org/own:1"


def _stacks(known, node):
    _no_source(known, node)
    known.jobs["default", "plugin-efs-nodes"].spec["Meta"] = {"nomad-csi.owner": "shop/prod", "team": "x"}


def _places_of_its_own(known, _node):
    known.volumes["default", "logs"].spec["Topologies"] = [{"Segments": {"zone": "a"}}]


READS = {
    "all": {"namespace": "*"},
    "a namespace": {"namespace": "default"},
    "a plugin": {"namespace": "*", "plugin_id": "efs"},
    "no such plugin": {"namespace": "*", "plugin_id": "x"},
    "what files have": {"namespace": "*", "known": True},
    "what files without a namespace have": {"namespace": "*", "known": True, "are_named": False},
    "a job that may not be read": {"namespace": "*", "is_hidden": True},
}


def _live(agent, _context, _before=None):
    """What is read of a cluster, for each choice; and with one thing in it changed."""
    kept, said = agent.keep(), []
    for change in (None, _no_source, _broken_source, _no_provider, _stacks, _job_stopped, _places_of_its_own):
        for name, choice in READS.items() if change is None else [("all", READS["all"])]:
            agent.go_back(kept)
            if change:
                change(agent.cluster.state, None)
            lines = [json.dumps(each) for each in _read(agent.client(), **choice)]
            said += [f"## {name}{f', {change.__name__[1:]}' if change else ''}"]
            said += [line.partition(": ")[0] if line in said else line for line in lines]
    agent.transport.requests.clear()
    agent.messages[:] = said


def _rounds(agent, _context, _before=None):
    """Verify four times: as all is well, after each change, without an answer, and as all is well again."""
    kept, said = agent.keep(), []
    plan = storage.plan_document(yaml.safe_load(command_deeds.SPEC.format(folder="web", size=5)))
    for change in CHANGES:
        agent.go_back(kept)
        client = agent.client()
        going, sent = rounds.Rounds(verification.Verifier(client, plan)), agent.transport
        found = [going.run()]
        change(agent.cluster.state, next(iter(agent.cluster.state.nodes.values())))
        found.append(going.run())
        sent.fails = {len(sent.requests): "refused"}
        found.append(going.run())
        agent.go_back(kept)
        found.append(going.run())
        for at, each in enumerate(found):
            lines = [f"{each.number} {each.summary} {each.result} {each.exit_code}", *map(str, each.changed)]
            said += [f"{change.__name__[1:]} {line}" for line in lines if at or not said]
            assert each.as_json()["changes"] == [dataclasses.asdict(item) for item in each.changed]
    agent.messages[:] = [command_deeds.TIME.sub("TIME", line) for line in said]


OWNER = command_deeds.OWNER
PLANS = {
    "own": command_deeds.command("plan", "SPEC", "--json", *OWNER),
    "adopted": command_deeds.command("apply", "SPEC", "--dry-run", "--json", *OWNER, "--adopt"),
    "no owner": command_deeds.command("plan", "SPEC", "--json"),
}


def _plans(agent, context):
    """The plan of each owner for each cluster: what is not as where all runs."""
    said, usual = [], {}
    for cluster, before in {"": run_jobs, **PLANNED}.items():
        for who, plan in PLANS.items():
            agent.restart()
            before(agent, context)
            found = dict(deeds.flat(json.loads(agents.as_text(plan(agent, context)))))
            known = usual.setdefault(who, found)
            said += [line for line in agent.messages if line not in said]
            said += [f"{cluster}, {who}: {agents.as_text(deeds.changes(known, found))}"]
    agent.messages[:], agent.transport.requests[:] = said, []
    agent.disks.calls.clear()


def _unnamed(file):
    """Return *file* as it is where no object in it has a namespace."""
    volumes = tuple({name: value for name, value in each.items() if name != "namespace"} for each in file.volumes)
    jobs = tuple(
        dataclasses.replace(each, body=values.Map(1, ((k, v, 1) for k, v in each.body.items() if k != "namespace")))
        for each in file.jobs
    )
    return dataclasses.replace(file, jobs=jobs, volumes=volumes)


def _read(client, *, namespace, plugin_id="", known=False, are_named=True, is_hidden=False):
    """Return drivers, files and remarks."""
    document = jobs.document

    def shown(of, *key):
        if is_hidden and key[1] == "plugin-ebs-nodes":
            raise errors.NomadApiError("GET", "/v1/job", "Permission denied", status=403, kind="refused")
        return document(of, *key)

    files = live_files.read(client, "*", migration.Remarks()).files if known else ()
    files = files[::2] if are_named else tuple(map(_unnamed, files))
    remarks = migration.Remarks()
    with mock.patch.object(jobs, "document", shown):
        found = live_files.read(client, namespace, remarks, plugin_id=plugin_id, known=files)
    listed = [
        f"{each.name}: {[job.body.get('meta', '') for job in each.jobs]} {[dict(item) for item in each.volumes]}"
        for each in found.files
    ]
    return found.providers, *listed, *map(dataclasses.astuple, remarks.found)


CASES = (
    Case("verify", command_deeds.command("verify", "SPEC"), before=run_jobs),
    Case("verify --json", VERIFY, before=run_jobs, fails=True),
    *(Case(f"verify: {change.__name__[1:].replace('_', ' ')}", VERIFY, before=then(change)) for change in CHANGES),
    Case("verify, as text: unhealthy", command_deeds.command("verify", "SPEC", "--strict"), before=then(_unhealthy)),
    Case("verify --prometheus", command_deeds.command("verify", "SPEC", "--prometheus"), before=then(_unhealthy)),
    Case(
        "plan: all runs",
        command_deeds.command("plan", "SPEC", "--json", *command_deeds.OWNER),
        before=run_jobs,
        fails=True,
    ),
    Case("plan: edited", command_deeds.command("plan", "SPEC", "--json", *command_deeds.OWNER), before=then(_edited)),
    Case("plans", _plans),
    Case("plan, as text: others", command_deeds.command("plan", "SPEC", *command_deeds.OWNER), before=_others),
    Case("plan, as text, for no owner: others", command_deeds.command("plan", "SPEC"), before=_others),
    Case("rounds", _rounds, before=run_jobs),
    Case("import --cluster", IMPORT, before=run_jobs),
    Case("import --cluster: a driver of its own", IMPORT, before=then(_own_driver)),
    Case("live", _live, before=run_jobs),
)
