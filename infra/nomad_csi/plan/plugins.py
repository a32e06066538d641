"""From a plugin of the spec and its driver to its plan: the Nomad jobs that run it, expectation, AWS permissions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nomad_csi.drivers import catalogue, recognise
from nomad_csi.plan import iam, model, task_secrets
from nomad_csi.spec import model as spec

# The image of a plugin (the catalogue's or its own, from a mirror, with a digest) and its version.


def driver(plugin: spec.PluginSpec) -> spec.DriverSpec | None:
    """
    Return the driver of *plugin* in the version of its image; ``None``: it is not in the catalogue.

    For a version with unknown arguments, return the catalogue's version.
    """
    row = catalogue.find(plugin.driver)
    return row if row is None else image_version(plugin, row) or row


def image_version(plugin: spec.PluginSpec, row: spec.DriverSpec) -> spec.DriverSpec | None:
    """Return the driver *row* in the version of the plugin's image; ``None``: its arguments are unknown."""
    if plugin.image is None or not isinstance(row, catalogue.Driver):
        return row
    return catalogue.select_version(row, recognise.tag(plugin.image))


def is_image_unpinned(plugin: spec.PluginSpec) -> bool:
    """Return whether the plugin's own image is not pinned: neither a digest nor a tag other than ``latest``."""
    named = plugin.image or ""
    return bool(named) and not plugin.image_digest and recognise.is_unpinned(named)


def image(plugin: spec.PluginSpec, driver: spec.DriverSpec) -> str:
    """Return the image of *plugin*: ``registry/path/name:tag[@digest]``."""
    named = plugin.image or driver.image
    if plugin.image_registry:
        named = f"{plugin.image_registry}/{_strip_registry(named)}"
    digest = plugin.image_digest or (driver.image_digest if plugin.image is None else None)
    return f"{named}@{digest}" if digest else named


def _strip_registry(named: str) -> str:
    """Return *named* without its registry: a first part with a dot or a colon in it, or ``localhost``."""
    first, slash, rest = named.partition("/")
    return rest if slash and ("." in first or ":" in first or first == "localhost") else named


# The jobs.


HEALTHY_DEADLINE_S = 300
"""Nomad's own ``healthy_deadline``. Source: hashicorp/nomad, ``api/jobs.go`` (``DefaultUpdateStrategy``), 2026-08."""

SLACK_S = 60
"""Seconds between a plugin's own health deadline and the deadlines that wait for it."""


ZONE_ATTRIBUTE = "${attr.platform.aws.placement.availability-zone}"
"""Source: hashicorp/nomad, ``client/fingerprint/env_aws.go``, 2026-08-21."""


_NAME = re.compile(r"(?<!\$)\{(\w+)\}")


def usual_job_id(plugin_id: str, role: spec.PluginRole) -> str:
    """Return the default job id: ``plugin-aws-ebs0-nodes`` for the role ``node`` of ``aws-ebs0``."""
    return f"plugin-{plugin_id}-{'nodes' if role == 'node' else role}"


def job_id(plugin: spec.PluginSpec, role: spec.PluginRole) -> str:
    """Return the id of the job that runs *role* of *plugin*."""
    given: str | None = getattr(plugin.job_ids, role)
    return given or usual_job_id(plugin.id, role)


def task_driver(plugin: spec.PluginSpec, role: spec.PluginRole) -> spec.TaskDriverSpec:
    """Return the settings of the task driver of *role*."""
    return (plugin.controller.task_driver if role == "controller" else None) or plugin.task_driver


def runs_image(plugin: spec.PluginSpec, driver: spec.DriverSpec) -> bool:
    """Return whether any task of the plugin runs an image."""
    return any(task_driver(plugin, name).name in spec.CONTAINERS for name in driver.roles)


def job_type(plugin: spec.PluginSpec, name: spec.PluginRole, role: spec.RoleSpec) -> spec.JobType:
    """Return the type of the job that runs *role*, named *name* by the driver."""
    return (plugin.monolith.job_type if name == "monolith" else None) or role.job_type


def count(plugin: spec.PluginSpec, name: spec.PluginRole, role: spec.RoleSpec) -> int | None:
    """Return the count of a service job; ``None`` for a system job."""
    if job_type(plugin, name, role) == "system":
        return None
    given = {"controller": plugin.controller.count, "monolith": plugin.monolith.count}.get(name)
    return given or role.default_count


def health_timeout_s(plugin: spec.PluginSpec, driver: spec.DriverSpec) -> int:
    """Return Nomad's timeout for the plugin's first healthy response, in seconds."""
    return plugin.health_timeout_s or driver.health_timeout_s


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return *text* with each ``{name}`` replaced from *values*, once; ``${...}`` and unknown names stay."""
    return _NAME.sub(lambda match: values.get(match[1], match[0]), text)


def without_placeholders(text: str) -> str:
    """Return *text* without what `filled` may replace: what it says itself."""
    return _NAME.sub("", text)


def metrics_port(plugin: spec.PluginSpec, name: spec.PluginRole) -> int | None:
    """Return the port of the metrics of role *name*; a controller's is the next one, as both may share a client."""
    return plugin.metrics_port and plugin.metrics_port + (name == "controller")


def values(plugin: spec.PluginSpec, driver: spec.DriverSpec, name: spec.PluginRole = "node") -> dict[str, str]:
    """Return the placeholder values of *driver* for its role *name*, by placeholder."""
    known = {key: _plain(plugin.config.get(key, setting.default)) for key, setting in driver.settings.items()}
    tags = driver.tag_format
    return known | {
        "aws_region": plugin.aws_region or "",
        "plugin_id": plugin.id,
        "log_verbosity": str(plugin.log_verbosity),
        "log_level": plugin.log_level or driver.default_log_level,
        "config_file": f"${{NOMAD_SECRETS_DIR}}/{driver.config_file.name}" if driver.config_file else "",
        "extra_tags": tags.separator.join(
            f"{key}{tags.pair}{plugin.extra_tags[key]}" for key in sorted(plugin.extra_tags)
        ),
        "metrics_port": str(metrics_port(plugin, name) or ""),
    }


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def job(plugin: spec.PluginSpec, driver: spec.DriverSpec, name: spec.PluginRole) -> model.PluginJob:
    """Return the job that runs the processes of the driver's role *name*."""
    role, task = driver.roles[name], task_driver(plugin, name)
    container = task.name in spec.CONTAINERS
    network = _network_mode(plugin, role) if container else ""
    resources = getattr(plugin, name).resources or plugin.resources or role.resources
    registry = plugin.registry_credentials if container else None
    identity = task_secrets.identity(plugin, role)
    variables = sorted(role.secret_environment) if plugin.secret else []
    registry_variables = (task_secrets.REGISTRY_USER, task_secrets.REGISTRY_PASSWORD) if registry else ()
    known = values(plugin, driver, name)
    return model.PluginJob(
        job_id=job_id(plugin, name),
        region=plugin.nomad_region or "",
        namespace=plugin.namespace,
        role=name,
        plugin_id=plugin.id,
        job_type=job_type(plugin, name, role),
        says_type=name == "monolith" and plugin.monolith.job_type is not None,
        datacenters=plugin.datacenters,
        node_pool=plugin.node_pool,
        priority=plugin.priority,
        constraints=_constraints(plugin),
        group="nodes" if name == "node" else name,
        count=count(plugin, name, role),
        restart=plugin.restart,
        update=_update(plugin, driver, job_type(plugin, name, role)),
        task_driver=task.name,
        image=image(plugin, driver) if container else "",
        registry_user=f"${{{task_secrets.REGISTRY_USER}}}" if registry else "",
        registry_password=f"${{{task_secrets.REGISTRY_PASSWORD}}}" if registry else "",
        command=task.command or "",
        arguments=_arguments(plugin, driver, name),
        privileged=container and role.privileged,
        network_mode=network,
        ipc_mode=role.ipc_mode if container else "",
        binds=tuple(filled(bind, known) for bind in role.binds) if container else (),
        metrics_port=metrics_port(plugin, name) if "metrics_port" in role.optional_arguments else None,
        environment={
            **{key: filled(value, known) for key, value in _environment(plugin, role).items()},
            **task_secrets.identity_environment(identity),
            **plugin.environment,
        },
        templates=tuple(task_secrets.templates(plugin, driver, role, registry, job_id(plugin, name))),
        secret_variables=(*variables, *registry_variables),
        vault_role=task_secrets.vault_role(plugin, driver, role, registry),
        identity_audience=identity.audience if identity else "",
        mount_dir=role.mount_dir,
        stage_publish_base_dir=role.stage_publish_base_dir if container else _stage_dir(task, plugin.id, name),
        health_timeout_s=health_timeout_s(plugin, driver),
        kill_timeout_s=role.kill_timeout_s,
        cpu_mhz=resources.cpu_mhz,
        memory_mib=resources.memory_mib,
        memory_max_mib=resources.memory_max_mib,
        title=f"{driver.called} CSI driver {version(plugin, driver) or plugin.image or '(a binary of your own)'}",
        needs=tuple(filled(need, known) for need in _needs(task, role, network)),
    )


def _arguments(plugin: spec.PluginSpec, driver: spec.DriverSpec, name: spec.PluginRole) -> tuple[str, ...]:
    role, known = driver.roles[name], values(plugin, driver, name)
    optional = [text for setting, text in sorted(role.optional_arguments.items()) if getattr(plugin, setting)]
    own = tuple(filled(argument, known) for argument in (*role.arguments, *optional))
    return (*task_driver(plugin, name).arguments, *own, *getattr(plugin.extra_arguments, name))


def _update(plugin: spec.PluginSpec, driver: spec.DriverSpec, kind: spec.JobType) -> spec.UpdateSpec | None:
    """Return the plugin's own ``update``; else one that a slow service needs so that its deployment does not fail."""
    if plugin.update:
        return plugin.update
    slow = health_timeout_s(plugin, driver)
    if kind == "system" or slow < HEALTHY_DEADLINE_S:
        return None
    return spec.UpdateSpec(healthy_deadline_s=slow + SLACK_S)


def _environment(plugin: spec.PluginSpec, role: spec.RoleSpec) -> Mapping[str, str]:
    return role.environment | (role.credentials_environment if plugin.secret else {})


def _network_mode(plugin: spec.PluginSpec, role: spec.RoleSpec) -> str:
    if plugin.host_network is None:
        return role.network_mode
    return "host" if plugin.host_network else ""


def _needs(task: spec.TaskDriverSpec, role: spec.RoleSpec, network: str) -> tuple[str, ...]:
    """
    Return the client's requirements for a container. Podman's task driver needs less than Docker's.

    Source: hashicorp/nomad-driver-podman 0.6.5, ``config.go`` (volumes are enabled, privileges need no leave) and
    ``CHANGELOG.md`` (``ipc_mode``).
    """
    if task.name not in spec.CONTAINERS:
        return ()
    bridge = () if network == "host" else role.bridge_needs
    if task.name == "docker":
        return (*role.needs, *bridge)
    own = ("Podman's task driver, 0.6.5 or newer for ipc_mode",) if role.ipc_mode else ("Podman's task driver",)
    return (*own, *(need for need in role.needs if not need.startswith("docker ")), *bridge)


def _constraints(plugin: spec.PluginSpec) -> tuple[model.Constraint, ...]:
    own = tuple(model.Constraint(**constraint.model_dump()) for constraint in plugin.constraints)
    if plugin.availability_zone is None:
        return own
    return (model.Constraint(attribute=ZONE_ATTRIBUTE, operator="=", value=plugin.availability_zone), *own)


def _stage_dir(task: spec.TaskDriverSpec, plugin_id: str, role: spec.PluginRole) -> str:
    """
    Return the staging folder on the host; empty for task drivers that isolate the file system.

    A process without file system isolation sees the host's paths, so it needs the path that Nomad checks.
    Source: tried on Nomad 2.0.6-dev with csi-driver-host-path v1.18.0, 2026-08.
    """
    return f"{task.client_data_dir}/client/csi/{role}/{plugin_id}" if task.name == "raw_exec" else ""


def version(plugin: spec.PluginSpec, driver: spec.DriverSpec) -> str:
    """Return the version that the job runs; empty where the operator supplies the image or binary."""
    own = plugin.image is not None or any(
        task_driver(plugin, name).name not in spec.CONTAINERS for name in driver.roles
    )
    return "" if own else driver.version


# From a plugin of the spec and its driver to its desired state on the clients and in Nomad.


def expected(plugin: spec.PluginSpec, driver: spec.DriverSpec, *, creates: bool) -> model.PluginExpectation:
    """Return the expectation of *plugin*; *creates*: whether it creates volumes for the spec."""
    monolith = driver.roles.get("monolith")
    controller = driver.roles.get("controller")
    name: spec.PluginRole = "monolith" if monolith else "node"
    task = task_driver(plugin, name)
    placed = job(plugin, driver, name)
    own_version = version(plugin, driver)
    # Its own timeout, else one that is longer than Nomad's health timeout.
    is_given = "timeout_s" in plugin.verify.model_fields_set
    least_s = 0.0 if is_given else float(health_timeout_s(plugin, driver) + SLACK_S)
    return model.PluginExpectation(
        plugin_id=plugin.id,
        provider=filled(driver.provider, values(plugin, driver)),
        version=own_version if driver.vendor_version is None or not own_version else driver.vendor_version,
        namespace=plugin.namespace,
        controllers=(count(plugin, "controller", controller) or 0) if controller else 0,
        monolith=monolith is not None,
        nodes=count(plugin, "monolith", monolith) if monolith else None,
        datacenters=plugin.datacenters,
        node_pool=plugin.node_pool,
        constraints=(*placed.constraints, *(() if placed.vault_role is None else (task_secrets.VAULT_CONSTRAINT,))),
        task_driver=task.name,
        client_data_dir=task.client_data_dir or "",
        evidence=plugin.verify.evidence,
        on_nodes=plugin.verify.on_nodes,
        timeout_s=max(plugin.verify.timeout_s, least_s),
        stable_s=plugin.verify.stable_s,
        min_healthy_percent=plugin.verify.min_healthy_percent,
        min_healthy_per_zone=plugin.verify.min_healthy_per_zone,
        controller_supports=_controller_supports(monolith or controller, creates=creates),
        node_supports=driver.roles[name].node_supports,
        driver=driver.name,
    )


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
        jobs=tuple(job(plugin, driver, name) for name in driver.roles),
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
