"""The file text of a plugin job or a volume. Deterministic: no clock, no random value, sorted maps."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import layout, read, task_drivers, values, volume
from nomad_csi.plan import model, probe_job, registration, smoke, verify_job, volume_forms
from nomad_csi.plan import snippet as plan_snippet
from nomad_csi.render import disk, environment, own

# The required content of a file from a user's own templates: what the plan, the other files or the verification rely
# on.
#
# A template may add to a file, and change what Nomad reserves or how it updates. It may not omit what the plugin needs
# (its id, its role, its privileges, its arguments), nor change where it runs.


FIX = "take it over from our template"
_RENDERED = "rendered with templates of your own"


def check_job(text: str, wanted: model.PluginJob) -> None:
    """Raise `errors.SpecError` with every part of *wanted* that the job file *text* lacks or contradicts."""
    source = f"{wanted.file_name}, {_RENDERED}"
    _refuse(tuple(_job(jobs.jobs(read.read_job(text, source)), wanted)), source)


def check_volume(text: str, wanted: registration.VolumeRegistration, *, made_by_plugin: bool, path: str) -> None:
    """Raise `errors.SpecError` for the volume file *text* at *path* in the same way."""
    source = f"{path}, {_RENDERED}"
    _refuse(tuple(_volume(read.read_volume(text, source), wanted, made_by_plugin=made_by_plugin)), source)


def _refuse(problems: tuple[errors.Problem, ...], source: str) -> None:
    if problems:
        raise errors.SpecError(problems, source)


def _differs(path: str, found: Any, wanted: Any) -> Iterator[errors.Problem]:
    if found != wanted:
        yield errors.Problem(
            path=path, got="nothing" if found in _NOTHING else _shown(found), allowed=_shown(wanted), fix=FIX
        )


_NOTHING: tuple[Any, ...] = (None, "", [], ())


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(list(value)) if isinstance(value, tuple) else repr(value)


def _job(found: Sequence[jobs.JobFile], wanted: model.PluginJob) -> Iterator[errors.Problem]:
    if len(found) != 1:
        yield errors.Problem(path="job", got=str(len(found)), allowed="one job", fix=FIX)
        return
    job = found[0]
    yield from _differs("job", job.id, wanted.job_id)
    yield from _differs("type", job.type, wanted.job_type)
    yield from _differs("namespace", job.namespace or "default", wanted.namespace)
    yield from _differs("region", jobs.text(job.body, "region"), wanted.region)
    yield from _differs("datacenters", job.body.get("datacenters", ["*"]), list(wanted.datacenters))
    yield from _differs("node_pool", jobs.text(job.body, "node_pool") or "default", wanted.node_pool)
    yield from _constraints(job, wanted)
    plugins = list(job.plugins())
    if len(plugins) != 1:
        yield errors.Problem(path="csi_plugin", got=str(len(plugins) or "none"), allowed="one", fix=FIX)
        return
    group, task, plugin = plugins[0]
    yield from _differs("group.count", group.count, wanted.count)
    [restart] = values.blocks(group.body, "restart")[:1] or [values.Map()]
    yield from _differs("group.restart.mode", jobs.text(restart, "mode"), "delay")
    yield from _plugin(plugin, wanted)
    yield from _task(task, wanted)


def _constraints(job: jobs.JobFile, wanted: model.PluginJob) -> Iterator[errors.Problem]:
    """Yield constraints that were omitted, and ones that the spec does not have: the plan counts clients by its own."""
    blocks = [*values.blocks(job.body, "constraint")]
    for group in job.groups:
        blocks += values.blocks(group.body, "constraint")
        for task in group.tasks:
            blocks += values.blocks(task.body, "constraint")
    placing = [block for block in blocks if block.get("operator") != "distinct_hosts"]
    found = {
        (jobs.text(block, "attribute"), block.get("operator", "="), jobs.text(block, "value")) for block in placing
    }
    own = {(item.attribute, item.operator, item.value) for item in wanted.constraints}
    for item in sorted(own - found):
        yield errors.Problem(path="constraint", got="nothing", allowed=" ".join(item).strip(), fix=FIX)
    for item in sorted(found - own):
        yield errors.Problem(
            path="constraint", got=" ".join(item).strip(), allowed="the constraints of the spec", fix="put it there"
        )
    if wanted.count is not None and len(placing) == len(blocks):
        yield errors.Problem(path="constraint", got="nothing", allowed="distinct_hosts", fix=FIX)


def _plugin(plugin: jobs.CsiPluginBlock, wanted: model.PluginJob) -> Iterator[errors.Problem]:
    yield from _differs("csi_plugin.id", plugin.id, wanted.plugin_id)
    yield from _differs("csi_plugin.type", plugin.type, wanted.role)
    yield from _differs("csi_plugin.mount_dir", plugin.mount_dir or "/csi", wanted.mount_dir)
    yield from _differs(
        "csi_plugin.stage_publish_base_dir", plugin.stage_publish_base_dir, wanted.stage_publish_base_dir
    )


def _task(task: jobs.TaskBlock, wanted: model.PluginJob) -> Iterator[errors.Problem]:
    yield from _differs("task.driver", task.driver, wanted.task_driver)
    yield from _config(task)
    texts = {"image": wanted.image, "command": wanted.command}
    asked = {"network_mode": wanted.network_mode, "ipc_mode": wanted.ipc_mode}
    for key, value in (texts | {key: value for key, value in asked.items() if value}).items():
        yield from _differs(f"config.{key}", jobs.text(task.config, key), value)
    if wanted.privileged:
        yield from _differs("config.privileged", task.config.get("privileged", False), True)
    yield from _listed("config.args", task.arguments, wanted.arguments)
    binds = task.config.get("volumes", [])
    yield from _listed("config.volumes", binds if isinstance(binds, list) else [], wanted.binds)
    if wanted.registry_user:
        [auth] = values.blocks(task.config, "auth")[:1] or [values.Map()]
        yield from _differs("config.auth.username", jobs.text(auth, "username"), wanted.registry_user)
        yield from _differs("config.auth.password", jobs.text(auth, "password"), wanted.registry_password)
    for key, value in wanted.environment.items():
        yield from _differs(f"env.{key}", task.env.get(key), value)
    yield from _secrets(task, wanted)


def _config(task: jobs.TaskBlock) -> Iterator[errors.Problem]:
    """Yield what the task driver would refuse: Nomad's own validation does not check its config."""
    for key, fix in task_drivers.unknown_keys(task.driver, task.config):
        allowed = f"a key of the task driver {task.driver}"
        yield errors.Problem(path=f"config.{key}", got="an unknown key", allowed=allowed, fix=fix or "remove it")


def _listed(path: str, found: Sequence[Any], wanted: Sequence[str]) -> Iterator[errors.Problem]:
    """Yield what of *wanted* is missing in *found*, or that the order differs."""
    missing = [item for item in wanted if item not in found]
    for item in missing:
        yield errors.Problem(path=path, got="nothing", allowed=repr(item), fix=FIX)
    if not missing and [item for item in found if item in wanted] != list(wanted):
        yield errors.Problem(path=path, got="another order", allowed=f"the order {_shown(tuple(wanted))}", fix=FIX)


def _secrets(task: jobs.TaskBlock, wanted: model.PluginJob) -> Iterator[errors.Problem]:
    templates = values.blocks(task.body, "template")
    for item in wanted.templates:
        path = f"template {item.file_name}"
        named = [block for block in templates if jobs.text(block, "destination").endswith(f"/{item.file_name}")]
        [template] = named[:1] or [values.Map()]
        if not named:
            yield errors.Problem(path=path, got="nothing", allowed="it, because it holds the secrets", fix=FIX)
        elif jobs.text(template, "data").rstrip("\n") != item.data or template.get("env", False) != item.is_environment:
            yield errors.Problem(path=path, got="something else", allowed="its data and env as in the plan", fix=FIX)
    vaults = values.blocks(task.body, "vault")
    if wanted.vault_role is not None and not vaults:
        yield errors.Problem(path="vault", got="nothing", allowed="the block", fix=FIX)
    elif wanted.vault_role is not None:
        yield from _differs("vault.role", jobs.text(vaults[0], "role"), wanted.vault_role)
    if wanted.identity_audience:
        audiences = [block.get("aud") for block in values.blocks(task.body, "identity") if block.get("name") == "aws"]
        yield from _differs("identity aws", next(iter(audiences), None), [wanted.identity_audience])


def _volume(
    found: values.Map, wanted: registration.VolumeRegistration, *, made_by_plugin: bool
) -> Iterator[errors.Problem]:
    payload = volume.volume_payload(found)
    yield from _differs("type", jobs.text(found, "type"), "csi")
    sent = volume_forms.write(wanted, "api")
    for key in ("ID", "Namespace", "PluginID", *(() if made_by_plugin else ("ExternalID",))):
        yield from _differs(_NAMES[key], payload.get(key), sent.get(key, ""))
    yield from _differs("capability", payload.get("RequestedCapabilities"), sent.get("RequestedCapabilities", []))
    required = (each.get("RequestedTopologies", {}).get("Required", []) for each in (payload, sent))
    yield from _differs("topology_request.required", *required)
    for key, kept in (("Context", wanted.context), ("Parameters", wanted.parameters)):
        for name, value in kept.items():
            yield from _differs(f"{key.lower()}.{name}", payload.get(key, {}).get(name), value)
    if payload.get("Secrets"):
        allowed = "no secrets: they are sent with the registration and stand in no file"
        yield errors.Problem(path="secrets", got="[secret]", allowed=allowed, fix="remove them")
    if "mount_options" not in found:
        allowed = "the block, even an empty one: Nomad refuses a file without it while the volume is in use"
        yield errors.Problem(path="mount_options", got="nothing", allowed=allowed, fix=FIX)


_NAMES = volume_forms.names("api", "file", "text")


# The text of a file.


def job_file(job: model.PluginJob, *, templates: str | Path | None = None) -> str:
    """
    Return the job file of *job*: HCL2, formatted as by ``nomad fmt``. Templates in *templates* override ours.

    Raises `own.TemplateError` if such a template cannot be rendered, and `errors.SpecError` if one omits a part that
    the plugin needs.
    """
    text = _render("job.nomad.hcl.j2", templates, job=job)
    if templates is not None:
        check_job(text, job)
    return text


def probe_job_file(job: probe_job.ProbeJob) -> str:
    """Return the job file of *job*: HCL2, formatted as by ``nomad fmt``."""
    return _render("probe.nomad.hcl.j2", None, job=job)


def smoke_job_file(job: smoke.SmokeJob) -> str:
    """Return the job file of *job*: HCL2, formatted as by ``nomad fmt``."""
    return _render("smoke.nomad.hcl.j2", None, job=job)


def verify_job_file(job: verify_job.VerifyJob) -> str:
    """Return the job file of *job*: HCL2, formatted as by ``nomad fmt``. Raises `errors.SpecError` as quoting does."""
    return _render("verify.nomad.hcl.j2", None, job=job)


def snippet(found: plan_snippet.Snippet) -> str:
    """Return the blocks of a job that uses a volume: HCL2, formatted as by ``nomad fmt``. Not a file: not signed."""
    return layout.layout(environment.environment().get_template("snippet.nomad.hcl.j2").render(snippet=found))


def volume_file(
    document: registration.VolumeRegistration,
    *,
    made_by_plugin: bool = False,
    templates: str | Path | None = None,
) -> str:
    """
    Return the volume file of *document*, in syntax that HCL1 and HCL2 parse alike.

    The file names secrets and counts encrypted mount flags; no template receives either.

    It is for ``nomad volume register``; that of a volume *made_by_plugin* is for ``nomad volume create``. Raises what
    `job_file` raises.
    """
    public = _drop_secrets(document)
    hidden = len(document.mount_options.mount_flags) - len(public.mount_options.mount_flags)
    created = public if made_by_plugin else None
    text = _render("volume.volume.hcl.j2", templates, registration=public, created=created, hidden_flags=hidden)
    if templates is not None:
        check_volume(
            text, public, made_by_plugin=made_by_plugin, path=f"volume {document.namespace}/{document.volume_id}"
        )
    return text


def _drop_secrets(document: registration.VolumeRegistration) -> registration.VolumeRegistration:
    options = document.mount_options
    if len(options.clear_flags) != len(options.mount_flags):
        options = dataclasses.replace(options, mount_flags=options.clear_flags)
    elif not document.secrets:
        return document
    return dataclasses.replace(document, mount_options=options, secrets=dict.fromkeys(document.secrets, ""))


def _render(template: str, templates: str | Path | None, **values: Any) -> str:
    given = {"header": disk.HEADER, **values}
    if templates is None:
        text = environment.environment().get_template(template).render(given)
    else:
        text = own.render(Path(templates), template, given)
    return disk.signed(layout.layout(text))
