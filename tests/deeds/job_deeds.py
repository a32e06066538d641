"""The cases of `PluginJob`."""

import dataclasses
import itertools
from unittest import mock

from nomad_csi import errors
from nomad_csi.health import plugin_health
from nomad_csi.jobs import apply as applied
from nomad_csi.jobs import owner as job_owner
from nomad_csi.jobs import plugin_job, wanted_job
from nomad_csi.plan import storage
from nomad_csi.render import documents
from nomad_csi.volumes import owner_records
from tests.deeds.deeds import Case, checked_inputs

JOB = plugin_job.PluginJobResource()
HCL = """job "ebs-nodes" {{
  namespace = "storage"
  type      = "{kind}"
  group "nodes" {{
    task "plugin" {{
      driver = "docker"
      config {{
        image = "ebs:{version}"
      }}
      csi_plugin {{
        id   = "ebs"
        type = "node"
      }}
    }}
  }}
}}
"""
GIVEN = {
    "jobId": "ebs-nodes",
    "namespace": "storage",
    "hcl": HCL.format(kind="system", version="v1"),
    "owner": "shop/prod",
    "ownerId": "00112233aabbccdd",
    "minimumNomad": "1.3.0",
    "pluginJobs": ["ebs-nodes"],
}
NEWER = {"hcl": HCL.format(kind="system", version="v2")}
OTHER_TYPE = {"hcl": HCL.format(kind="service", version="v1")}


def checked(**changes):
    """Return checked inputs."""
    return checked_inputs(JOB, GIVEN | changes)


def create(_agent, context, _before=None, **changes):
    """Run the job."""
    return JOB.create(context, checked(**changes))


def created(agent, context):
    """Run the job, and return its outputs."""
    return create(agent, context)[1]


def _stopped(agent, context):
    outputs = created(agent, context)
    agent.cluster.state.jobs["storage", "ebs-nodes"].spec["Stop"] = True
    return outputs


def _gone(agent, context):
    outputs = created(agent, context)
    agent.cluster.state.jobs.clear()
    return outputs


def _edited(agent, context):
    outputs = created(agent, context)
    create(agent, context, **NEWER)
    return outputs


def _of_other(agent, context):
    return create(agent, context, owner="web/prod", ownerId="9999999999999999", **NEWER)[1]


def _update(**change):
    return lambda _agent, context, outputs: JOB.update(context, "storage/ebs-nodes", outputs, checked(**change))


def _diff(**change):
    return lambda _agent, _context, outputs: JOB.diff("storage/ebs-nodes", checked(), outputs, checked(**change))


def _taken(agent, context):
    outputs = created(agent, context)
    create(agent, context, owner="web/prod", ownerId="9999999999999999", adopt=True)
    return outputs


def _read(_agent, context, outputs):
    return JOB.read(context, "storage/ebs-nodes", checked(), outputs)


def _delete(_agent, context, outputs):
    return JOB.delete(context, "storage/ebs-nodes", outputs)


OWNERS = {
    "none": None,
    "own": owner_records.OwnerRecord(owner="shop/prod", stack_id="1", nonce="n"),
    "own, another resource": owner_records.OwnerRecord(owner="shop/prod", stack_id="1", nonce="other"),
    "own, without id": owner_records.OwnerRecord(owner="shop/prod"),
    "another": owner_records.OwnerRecord(owner="web/prod", stack_id="2", nonce="other"),
    "another of the label": owner_records.OwnerRecord(owner="shop/prod", stack_id="2", nonce="other"),
    "another with the nonce": owner_records.OwnerRecord(owner="web/prod", stack_id="2", nonce="n"),
}
NEWS = {
    "no owner": {},
    "owner": {"owner": "shop/prod", "ownerId": "1"},
    "another owner": {"owner": "shop/test", "ownerId": "3"},
    "adopts": {"owner": "shop/test", "ownerId": "3", "adopt": True},
}
RECORDED = {"nothing": {}, "without owner": {"nonce": "n"}, "owner": {"owner": "shop/prod", "nonce": "n"}}


def _owners(agent, context, _before=None):
    """Who may change or remove the running job: each owner of it, each owner that wants it, each one that is recorded."""
    job = {name: GIVEN[name] for name in ("jobId", "namespace", "hcl")}
    for (owner, record), (recorded, outputs) in itertools.product(OWNERS.items(), RECORDED.items()):
        said = []
        for wanted, news in NEWS.items():
            with mock.patch.object(job_owner, "owner_of", return_value=record):
                refusal = wanted_job.WantedJob(context, job | news, outputs).refusal()
            said.append(f"{wanted} {refusal}" if refusal else wanted)
        agent.messages.append(f"of {owner}, recorded {recorded}: {', '.join(said)}")
    agent.transport.requests.clear()


RUN_BY = {
    "no owner": {"owner": "", "ownerId": ""},
    "the owner": {"owner": "shop/prod", "ownerId": ""},
    "its stack": {},
    "another owner": {"owner": "web/prod", "ownerId": ""},
    "another stack": {"owner": "web/prod", "ownerId": "9999999999999999"},
}


def _started(agent, context, _before=None):
    """Run the job by the command line, for each owner of it: what is refused, and what is left of job and record."""
    plan = storage.plan_document({"plugins": [{"id": "ebs", "driver": "csi-hostpath"}]})
    [job] = plan.plugins[0].jobs
    kept, said = agent.keep(), []
    for owner, is_equal, adopts in itertools.product((*RUN_BY, "nothing"), (True, False), (False, True)):
        agent.go_back(kept)
        if owner != "nothing":
            hcl = documents.job_file(job if is_equal else dataclasses.replace(job, priority=20))
            given = {"jobId": job.job_id, "namespace": job.namespace, "hcl": hcl, "pluginJobs": [job.job_id]}
            create(agent, context, **given | RUN_BY[owner])
        who = owner_records.Requester(owner="shop/prod", adopts=adopts)
        try:
            with mock.patch.object(plugin_health.PluginHealthResource, "create"):
                applied.start(agent.client(), plan.plugins, who)
            outcome = "done"
        except errors.RefusedError as error:
            outcome = str(error)
        labels = _recorded_owners(agent, job.job_id)
        version = agent.cluster.state.jobs[job.namespace, job.job_id].spec["Version"]
        said.append(
            f"of {owner}, {'equal' if is_equal else 'another'}{', adopts' if adopts else ''}: {outcome}; "
            f"left: version {version}, {', '.join(labels) or 'no record'}"
        )
    agent.go_back(kept)
    agent.messages[:] = said


def _recorded_owners(agent, job_id):
    """Return owner and stack id in the record of a job."""
    records = [found["Items"] for found in agent.cluster.state.variables.values() if found["Items"].get("id") == job_id]
    return [f"{items['owner']}#{items.get('stack_id', '')}" for items in records]


def _removed(agent, context, _before=None):
    """Stop the job by the command line, for each owner of it: what is refused, and what is left of job and record."""
    kept, said = agent.keep(), []
    choices = itertools.product(RUN_BY, ("runs", "stopped", "gone"), (False, True), (False, True))
    for owner, state, adopts, is_dry_run in choices:
        if state != "runs" and (adopts or is_dry_run):
            continue
        agent.go_back(kept)
        create(agent, context, **RUN_BY[owner])
        known = agent.cluster.state
        if state == "gone":
            del known.jobs["storage", "ebs-nodes"]
        elif state == "stopped":
            known.jobs["storage", "ebs-nodes"].spec["Stop"] = True
        who = owner_records.Requester(owner="shop/prod", adopts=adopts)
        name = f"of {owner}, {state}{', adopts' if adopts else ''}{', dry run' if is_dry_run else ''}"
        try:
            applied.stop(agent.client(), ("storage", "ebs-nodes"), who, is_dry_run=is_dry_run)
            outcome = "done"
        except errors.RefusedError as error:
            outcome = str(error)
        left = ["job"] * len(known.jobs) + _recorded_owners(agent, "ebs-nodes")
        said.append(f"{name}: {outcome}; left: {', '.join(left) or 'nothing'}")
    agent.go_back(kept)
    agent.messages[:] = said


CASES = (
    Case("create", create, fails=True),
    Case("create: runs already", create, before=created, fails=True),
    Case("create: stopped", create, before=_stopped),
    Case("create: of another stack", create, before=_of_other),
    Case(
        "create with adopt: of another stack",
        lambda agent, context, _: create(agent, context, adopt=True),
        before=_of_other,
    ),
    Case(
        "create: another job runs the plugin",
        lambda a, c, _: create(a, c, jobId="two", hcl=GIVEN["hcl"].replace("ebs-nodes", "two"), pluginJobs=["two"]),
        before=created,
    ),
    Case("create: other id in the file", lambda agent, context: create(agent, context, jobId="two")),
    Case("create: servers too old", lambda agent, context: create(agent, context, minimumNomad="99.0.0")),
    Case("diff: newer", _diff(**NEWER), before=created),
    Case("diff: other type", _diff(**OTHER_TYPE), before=created),
    Case("diff: other type, which may replace it", _diff(**OTHER_TYPE, replaceForType=True), before=created),
    Case("diff: other id", _diff(jobId="two"), before=created),
    Case("update: unchanged", _update(), before=created),
    Case("update: newer", _update(**NEWER), before=created, fails=True),
    Case("update: other type", _update(**OTHER_TYPE), before=created),
    Case("update: owner", _update(owner="shop/test", ownerId="ffeeddccbbaa9988"), before=created),
    Case("update: stopped", _update(), before=_stopped),
    Case(
        "update: of another stack", lambda _a, c, _: JOB.update(c, "storage/ebs-nodes", {}, checked()), before=_of_other
    ),
    Case("owners", _owners, before=created),
    Case("preview: new", lambda _agent, context: JOB.preflight(context, {}, checked())),
    Case("preview: runs already, newer", lambda _a, c, _: JOB.preflight(c, {}, checked()), before=_edited),
    Case("preview: other type", lambda _a, c, o: JOB.preflight(c, o, checked(**OTHER_TYPE)), before=created),
    Case("read", _read, before=created),
    Case("read: edited", _read, before=_edited),
    Case("read: stopped", _read, before=_stopped),
    Case("read: gone", _read, before=_gone),
    Case("import", lambda _a, c, _: JOB.read(c, "storage/ebs-nodes", {}, {}), before=created),
    Case("delete", _delete, before=created, fails=True),
    Case("delete: stopped", _delete, before=_stopped),
    Case("delete: gone", _delete, before=_gone),
    Case("delete: of another stack by now", _delete, before=_taken),
    Case("run by the command line", _started),
    Case("removed by the command line", _removed),
)
