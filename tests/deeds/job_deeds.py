"""The cases of `PluginJob`."""

from nomad_csi.resources.plugin_jobs import plugin_job
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
)
