"""From a plugin of the spec and its driver to its plan: jobs, expectation and AWS permissions."""

from collections.abc import Iterable, Sequence

from nomad_csi.plan import iam, jobs, model, probe_job, task_secrets
from nomad_csi.spec import model as spec

# From a plugin of the spec and its driver to its desired state on the clients and in Nomad.


def expected(plugin: spec.PluginSpec, driver: spec.DriverSpec, *, creates: bool) -> model.PluginExpectation:
    """Return the expectation of *plugin*; *creates*: whether it creates volumes for the spec."""
    monolith = driver.roles.get("monolith")
    controller = driver.roles.get("controller")
    name: spec.PluginRole = "monolith" if monolith else "node"
    task = jobs.task_driver(plugin, name)
    job = jobs.job(plugin, driver, name)
    version = jobs.version(plugin, driver)
    asked = plugin.verify.on_nodes
    # Its own timeout, else one that is longer than Nomad's health timeout.
    is_given = "timeout_s" in plugin.verify.model_fields_set
    least_s = 0.0 if is_given else float(jobs.health_timeout_s(plugin, driver) + jobs.SLACK_S)
    return model.PluginExpectation(
        plugin_id=plugin.id,
        provider=jobs.filled(driver.provider, jobs.values(plugin, driver)),
        version=version if driver.vendor_version is None or not version else driver.vendor_version,
        namespace=plugin.namespace,
        controllers=(jobs.count(plugin, "controller", controller) or 0) if controller else 0,
        monolith=monolith is not None,
        nodes=jobs.count(plugin, "monolith", monolith) if monolith else None,
        datacenters=plugin.datacenters,
        node_pool=plugin.node_pool,
        constraints=(*job.constraints, *(() if job.vault_role is None else (task_secrets.VAULT_CONSTRAINT,))),
        task_driver=task.name,
        client_data_dir=task.client_data_dir or "",
        evidence=plugin.verify.evidence,
        on_nodes=_probe_run(asked, plugin.namespace) if asked else None,
        timeout_s=max(plugin.verify.timeout_s, least_s),
        stable_s=plugin.verify.stable_s,
        min_healthy_percent=plugin.verify.min_healthy_percent,
        min_healthy_per_zone=plugin.verify.min_healthy_per_zone,
        controller_supports=_controller_supports(monolith or controller, creates=creates),
        node_supports=driver.roles[name].node_supports,
        driver=driver.name,
    )


def _probe_run(asked: spec.OnNodesSpec, namespace: str) -> probe_job.ProbeRun:
    job = probe_job.ProbeJob(
        namespace=namespace, command=asked.command, image=asked.image or "", state_dir=asked.state_dir or ""
    )
    return probe_job.ProbeRun(job=job, wait_s=asked.timeout_s)


def _controller_supports(role: spec.RoleSpec | None, *, creates: bool) -> tuple[str, ...]:
    """Return the capabilities that the controllers need: the driver's, and those for the spec's volumes."""
    if role is None:
        return ()
    return tuple(sorted({*role.controller_supports, *(("CreateDelete",) if creates else ())}))


# The whole plan of a plugin.


def plan_plugin(
    plugin: spec.PluginSpec, driver: spec.DriverSpec, served: Iterable[spec.VolumeSpec] = ()
) -> model.PluginPlan:
    """Return the jobs, expectation and policy of *plugin*; *served* are its volumes in the spec."""
    volumes = tuple(served)
    return model.PluginPlan(
        plugin_id=plugin.id,
        driver=driver.name,
        jobs=tuple(jobs.job(plugin, driver, name) for name in driver.roles),
        expectation=expected(plugin, driver, creates=any(volume.create for volume in volumes)),
        iam_policy=_policy(plugin, driver, volumes),
        adopt=plugin.adopt,
        minimum_nomad=driver.minimum_nomad,
    )


def _policy(
    plugin: spec.PluginSpec, driver: spec.DriverSpec, volumes: Sequence[spec.VolumeSpec]
) -> model.IamPolicy | None:
    if plugin.iam is None or plugin.aws_region is None or driver.storage != "ebs":
        return None
    key_arns = (*plugin.iam.kms_key_arns, *kms_key_arns(volumes))
    existing = [volume.existing.external_id for volume in volumes if volume.existing]
    document = iam.ebs_policy(
        plugin.aws_region,
        volume_ids=[*plugin.iam.volume_ids, *(name for name in existing if name.startswith("vol-"))],
        kms_key_arns=key_arns,
        create_volumes=plugin.iam.create_volumes,
    )
    return model.IamPolicy(
        name=f"nomad-csi-{plugin.id}",
        role_name=plugin.iam.role_name,
        description=f"What the {driver.called} CSI controller of the Nomad plugin {plugin.id} calls",
        document=document,
        kms_key_arns=key_arns,
    )


def kms_key_arns(volumes: Iterable[spec.VolumeSpec]) -> list[str]:
    """Return the customer keys of *volumes*, each once, sorted."""
    return sorted({volume.ebs.kms_key_arn for volume in volumes if volume.ebs and volume.ebs.kms_key_arn})
