"""From a plugin of the spec and its driver to the Nomad jobs that run it and what must be found of them."""

from collections.abc import Iterable, Mapping, Sequence

from nomad_csi.plan import iam, images, model, secrets
from nomad_csi.spec import model as spec

CONTAINERS = frozenset({"docker", "podman"})
"""Task drivers that run images."""

ZONE_ATTRIBUTE = "${attr.platform.aws.placement.availability-zone}"
"""Source: hashicorp/nomad, ``client/fingerprint/env_aws.go``, 2026-08-21."""

REGISTRY_USER, REGISTRY_PASSWORD = "REGISTRY_USERNAME", "REGISTRY_PASSWORD"  # names of variables
TOKEN_FILE = "nomad_aws.jwt"  # noqa: S105  # its name
"""File of the identity named ``aws``. Source: hashicorp/nomad, ``client/allocrunner/taskrunner/identity_hook.go``."""


def plan_plugin(
    plugin: spec.PluginSpec, driver: spec.DriverSpec, volumes: Iterable[spec.VolumeSpec] = ()
) -> model.PluginPlan:
    """Return the jobs, expectation and policy of *plugin*; *volumes* are those of the spec that it serves."""
    return model.PluginPlan(
        plugin_id=plugin.id,
        driver=driver.name,
        jobs=tuple(_job(plugin, driver, name, role) for name, role in driver.roles.items()),
        expectation=_expectation(plugin, driver),
        iam_policy=_policy(plugin, driver, tuple(volumes)),
        adopt=plugin.adopt,
    )


def job_id(plugin_id: str, role: spec.PluginRole) -> str:
    """Return the id of a plugin's job: ``job_id("aws-ebs0", "node")`` is ``"plugin-aws-ebs0-nodes"``."""
    return f"plugin-{plugin_id}-{'nodes' if role == 'node' else role}"


def task_driver(plugin: spec.PluginSpec, role: spec.PluginRole) -> spec.TaskDriverSpec:
    """Return how the tasks of *role* are run."""
    return (plugin.controller.task_driver if role == "controller" else None) or plugin.task_driver


def count(plugin: spec.PluginSpec, name: spec.PluginRole, role: spec.RoleSpec) -> int | None:
    """Return the instances of a service job, ``None`` of a system job."""
    if role.job_type == "system":
        return None
    given = {"controller": plugin.controller.count, "monolith": plugin.monolith.count}.get(name)
    return given or role.default_count


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return *text* with ``{name}`` filled in from *values*; ``${...}`` stays."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def values(plugin: spec.PluginSpec, driver: spec.DriverSpec) -> dict[str, str]:
    """Return what is filled into the texts of *driver*, by name."""
    known = {name: str(plugin.config.get(name, setting.default)) for name, setting in driver.settings.items()}
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
        "metrics_port": str(plugin.metrics_port or ""),
    }


def _job(
    plugin: spec.PluginSpec, driver: spec.DriverSpec, name: spec.PluginRole, role: spec.RoleSpec
) -> model.PluginJob:
    task = task_driver(plugin, name)
    container = task.name in CONTAINERS
    network = _network_mode(plugin, role) if container else ""
    resources = getattr(plugin, name).resources or plugin.resources or role.resources
    templates = _templates(plugin, driver, role, container=container)
    registry = plugin.registry_credentials is not None and container
    return model.PluginJob(
        job_id=job_id(plugin.id, name),
        region=plugin.nomad_region or "",
        namespace=plugin.namespace,
        role=name,
        plugin_id=plugin.id,
        job_type=role.job_type,
        datacenters=plugin.datacenters,
        node_pool=plugin.node_pool,
        priority=plugin.priority,
        constraints=_constraints(plugin),
        group="nodes" if name == "node" else name,
        count=count(plugin, name, role),
        restart=model.Restart(**plugin.restart.model_dump()),
        update=model.Update(**plugin.update.model_dump()) if plugin.update else None,
        task_driver=task.name,
        image=images.image(plugin, driver) if container else "",
        registry_user=f"${{{REGISTRY_USER}}}" if registry else "",
        registry_password=f"${{{REGISTRY_PASSWORD}}}" if registry else "",
        command=task.command or "",
        arguments=_arguments(plugin, driver, name, role),
        privileged=container and role.privileged,
        network_mode=network,
        ipc_mode=role.ipc_mode if container else "",
        binds=role.binds if container else (),
        metrics_port=plugin.metrics_port if "metrics_port" in role.optional_arguments else None,
        environment=_environment(plugin, driver, role),
        templates=templates,
        secret_variables=_secret_variables(plugin, role, registry=registry),
        vault_role=_vault_role(plugin),
        identity_audience=_audience(plugin, role),
        mount_dir=role.mount_dir,
        stage_publish_base_dir=role.stage_publish_base_dir if container else _stage_dir(task, plugin.id, name),
        health_timeout_s=plugin.health_timeout_s or driver.health_timeout_s,
        kill_timeout_s=role.kill_timeout_s,
        cpu_mhz=resources.cpu_mhz,
        memory_mib=resources.memory_mib,
        memory_max_mib=resources.memory_max_mib,
        title=f"{driver.called} CSI driver {_version(plugin, driver) or plugin.image or 'of your own'}",
        needs=_needs(role, network) if container else (),
    )


def _arguments(
    plugin: spec.PluginSpec, driver: spec.DriverSpec, name: spec.PluginRole, role: spec.RoleSpec
) -> tuple[str, ...]:
    known = values(plugin, driver)
    optional = [text for setting, text in role.optional_arguments.items() if getattr(plugin, setting)]
    own = tuple(filled(argument, known) for argument in (*role.arguments, *optional))
    return (*task_driver(plugin, name).arguments, *own, *getattr(plugin.extra_arguments, name))


def _environment(plugin: spec.PluginSpec, driver: spec.DriverSpec, role: spec.RoleSpec) -> dict[str, str]:
    known = values(plugin, driver)
    own = {key: filled(value, known) for key, value in role.environment.items()}
    identity = plugin.credentials.workload_identity if plugin.credentials else None
    if identity and role.secret_environment:
        own |= {
            "AWS_ROLE_ARN": identity.role_arn,
            "AWS_WEB_IDENTITY_TOKEN_FILE": f"${{NOMAD_SECRETS_DIR}}/{TOKEN_FILE}",
        }
    return own | plugin.environment


def _network_mode(plugin: spec.PluginSpec, role: spec.RoleSpec) -> str:
    if plugin.host_network is None:
        return role.network_mode
    return "host" if plugin.host_network else ""


def _needs(role: spec.RoleSpec, network: str) -> tuple[str, ...]:
    return (*role.needs, *(() if network == "host" else role.bridge_needs))


def _constraints(plugin: spec.PluginSpec) -> tuple[model.Constraint, ...]:
    own = tuple(model.Constraint(**constraint.model_dump()) for constraint in plugin.constraints)
    if plugin.availability_zone is None:
        return own
    return (model.Constraint(attribute=ZONE_ATTRIBUTE, operator="=", value=plugin.availability_zone), *own)


def _templates(
    plugin: spec.PluginSpec, driver: spec.DriverSpec, role: spec.RoleSpec, *, container: bool
) -> tuple[model.SecretTemplate, ...]:
    found = []
    credentials = plugin.credentials
    if driver.config_file and plugin.config:
        data = secrets.config_file(credentials, plugin.config)
        found.append(model.SecretTemplate(file_name=driver.config_file.name, data=data))
    if credentials and not credentials.workload_identity:
        if role.secret_environment:
            data = secrets.from_items(credentials, role.secret_environment)
            found.append(model.SecretTemplate(file_name=secrets.ENVIRONMENT_FILE, data=data, is_environment=True))
        for file_name, item in sorted(role.secret_files.items()):
            found.append(model.SecretTemplate(file_name=file_name, data=secrets.one_item(credentials, item)))
    if plugin.registry_credentials and container:
        items = {REGISTRY_USER: "username", REGISTRY_PASSWORD: "password"}
        data = secrets.from_items(plugin.registry_credentials, items)
        found.append(model.SecretTemplate(file_name="registry.env", data=data, is_environment=True))
    return tuple(found)


def _secret_variables(plugin: spec.PluginSpec, role: spec.RoleSpec, *, registry: bool) -> tuple[str, ...]:
    given = plugin.credentials is not None and plugin.credentials.workload_identity is None
    own = sorted(role.secret_environment) if given else []
    return (*own, *((REGISTRY_USER, REGISTRY_PASSWORD) if registry else ()))


def _vault_role(plugin: spec.PluginSpec) -> str | None:
    sources = (plugin.credentials, plugin.registry_credentials)
    return next((source.vault.role for source in sources if source and source.vault), None)


def _audience(plugin: spec.PluginSpec, role: spec.RoleSpec) -> str:
    identity = plugin.credentials.workload_identity if plugin.credentials else None
    return identity.audience if identity and role.secret_environment else ""


def _stage_dir(task: spec.TaskDriverSpec, plugin_id: str, role: spec.PluginRole) -> str:
    """
    Return the folder on the host where Nomad and the plugin meet; empty for controllers, which stage nothing.

    A process without file system isolation sees the host's paths, so the folder that Nomad checks is named to it.
    Source: tried on Nomad 2.0.6-dev with csi-driver-host-path v1.18.0, 2026-08.
    """
    return f"{task.client_data_dir}/client/csi/{role}/{plugin_id}" if task.name == "raw_exec" else ""


def _version(plugin: spec.PluginSpec, driver: spec.DriverSpec) -> str:
    """Return the version that is known to be run; empty where the operator brings image or binary."""
    own = plugin.image is not None or any(task_driver(plugin, name).name not in CONTAINERS for name in driver.roles)
    return "" if own else driver.version


def _expectation(plugin: spec.PluginSpec, driver: spec.DriverSpec) -> model.PluginExpectation:
    monolith = driver.roles.get("monolith")
    controller = driver.roles.get("controller")
    task = task_driver(plugin, "monolith" if monolith else "node")
    return model.PluginExpectation(
        plugin_id=plugin.id,
        provider=filled(driver.provider, values(plugin, driver)),
        version=_version(plugin, driver),
        namespace=plugin.namespace,
        controllers=(count(plugin, "controller", controller) or 0) if controller else 0,
        monolith=monolith is not None,
        nodes=count(plugin, "monolith", monolith) if monolith else None,
        datacenters=plugin.datacenters,
        node_pool=plugin.node_pool,
        constraints=_constraints(plugin),
        task_driver=task.name,
        client_data_dir=task.client_data_dir or "",
        proof=plugin.verify.proof,
        timeout_s=plugin.verify.timeout_s,
        stable_s=plugin.verify.stable_s,
    )


def _policy(
    plugin: spec.PluginSpec, driver: spec.DriverSpec, volumes: Sequence[spec.VolumeSpec]
) -> model.IamPolicy | None:
    if plugin.iam is None or plugin.aws_region is None or driver.storage != "ebs":
        return None
    document = iam.ebs_policy(
        plugin.aws_region,
        volume_ids=[*plugin.iam.volume_ids, *existing_volume_ids(volumes)],
        kms_key_arns=[*plugin.iam.kms_key_arns, *kms_key_arns(volumes)],
        create_volumes=plugin.iam.create_volumes or any(volume.create for volume in volumes),
    )
    return model.IamPolicy(
        name=f"nomad-csi-{plugin.id}",
        role_name=plugin.iam.role_name,
        description=f"What the {driver.called} CSI controller of the Nomad plugin {plugin.id} calls",
        document=document,
    )


def kms_key_arns(volumes: Iterable[spec.VolumeSpec]) -> list[str]:
    """Return the customer keys of *volumes*, each once, sorted."""
    return sorted({volume.ebs.kms_key_arn for volume in volumes if volume.ebs and volume.ebs.kms_key_arn})


def existing_volume_ids(volumes: Iterable[spec.VolumeSpec]) -> list[str]:
    """Return the external ids of those *volumes* that were made elsewhere, each once, sorted."""
    return sorted({volume.existing.external_id for volume in volumes if volume.existing})
