"""From a plugin of the spec and its driver to what must be found of it, on the clients and in Nomad."""

from nomad_csi.plan import jobs, model, probe_job, task_secrets
from nomad_csi.spec import model as spec


def expected(plugin: spec.PluginSpec, driver: spec.DriverSpec, *, creates: bool) -> model.PluginExpectation:
    """Return what *plugin* must show; *creates*: whether the spec has it make volumes."""
    monolith = driver.roles.get("monolith")
    controller = driver.roles.get("controller")
    name: spec.PluginRole = "monolith" if monolith else "node"
    task = jobs.task_driver(plugin, name)
    job = jobs.job(plugin, driver, name, driver.roles[name])
    return model.PluginExpectation(
        plugin_id=plugin.id,
        provider=jobs.filled(driver.provider, jobs.values(plugin, driver)),
        version=_answered_version(plugin, driver),
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
        on_nodes=_on_nodes(plugin),
        timeout_s=_proof_timeout_s(plugin, driver),
        stable_s=plugin.verify.stable_s,
        min_healthy_percent=plugin.verify.min_healthy_percent,
        min_healthy_per_zone=plugin.verify.min_healthy_per_zone,
        controller_supports=_controller_supports(monolith or controller, creates=creates),
        node_supports=driver.roles[name].node_supports,
        driver=driver.name,
    )


def _on_nodes(plugin: spec.PluginSpec) -> probe_job.ProbeRun | None:
    """Return how the gate asks instances on their clients; ``None``: not by a job."""
    asked = plugin.verify.on_nodes
    if asked is None:
        return None
    job = probe_job.ProbeJob(
        namespace=plugin.namespace, command=asked.command, image=asked.image or "", state_dir=asked.state_dir or ""
    )
    return probe_job.ProbeRun(job=job, wait_s=asked.timeout_s)


def _answered_version(plugin: spec.PluginSpec, driver: spec.DriverSpec) -> str:
    """Return the version that the plugin must answer; empty where that is not known."""
    known = jobs.version(plugin, driver)
    return known if driver.vendor_version is None or not known else driver.vendor_version


def _proof_timeout_s(plugin: spec.PluginSpec, driver: spec.DriverSpec) -> float:
    """Return how long to wait for the proof: what the plugin says, else longer than Nomad waits for health."""
    said = "timeout_s" in plugin.verify.model_fields_set
    least = 0.0 if said else float(jobs.health_timeout_s(plugin, driver) + jobs.SLACK_S)
    return max(plugin.verify.timeout_s, least)


def _controller_supports(role: spec.RoleSpec | None, *, creates: bool) -> tuple[str, ...]:
    """Return what the driver's controllers must be able to do, and what the spec's volumes need besides."""
    if role is None:
        return ()
    return tuple(sorted({*role.controller_supports, *(("CreateDelete",) if creates else ())}))
