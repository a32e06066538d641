"""From a plugin of the spec and its driver to the Nomad jobs that run it and what must be found of them."""

from collections.abc import Iterable, Sequence

from nomad_csi.drivers import model as drivers
from nomad_csi.plan import iam, model
from nomad_csi.spec import model as spec


def plan_plugin(
    plugin: spec.PluginSpec, driver: drivers.Driver, volumes: Iterable[spec.VolumeSpec] = ()
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


def _job(
    plugin: spec.PluginSpec, driver: drivers.Driver, name: drivers.RoleName, role: drivers.Role
) -> model.PluginJob:
    docker = plugin.task_driver.name == "docker"
    filled = {"aws_region": plugin.aws_region, "log_verbosity": str(plugin.log_verbosity)}
    own = tuple(_fill(argument, filled) for argument in role.arguments)
    arguments = (*plugin.task_driver.arguments, *own, *getattr(plugin.extra_arguments, name))
    environment = {key: _fill(value, filled) for key, value in role.environment.items()} | plugin.environment
    return model.PluginJob(
        job_id=job_id(plugin.id, name),
        namespace=plugin.namespace,
        role=name,
        plugin_id=plugin.id,
        job_type=role.job_type,
        datacenters=plugin.datacenters,
        node_pool=plugin.node_pool,
        priority=plugin.priority,
        group="controller" if name == "controller" else "nodes",
        count=plugin.controller.count if role.job_type == "service" else None,
        task_driver=plugin.task_driver.name,
        image=(plugin.image or driver.image) if docker else "",
        command=plugin.task_driver.command or "",
        arguments=arguments,
        privileged=docker and role.privileged,
        network_mode=role.network_mode if docker else "",
        host_folders=role.host_folders if docker else (),
        environment=environment,
        stage_publish_base_dir="" if docker else _stage_dir(plugin, name),
        health_timeout_s=plugin.health_timeout_s or driver.health_timeout_s,
        cpu_mhz=plugin.resources.cpu_mhz,
        memory_mib=plugin.resources.memory_mib,
        title=f"{driver.title} CSI driver {_version(plugin, driver) or plugin.image or 'of your own'}",
        needs=role.needs if docker else (),
    )


def job_id(plugin_id: str, role: drivers.RoleName) -> str:
    """Return the id of a plugin's job: ``job_id("aws-ebs0", "node")`` is ``"plugin-aws-ebs0-nodes"``."""
    return f"plugin-{plugin_id}-{'nodes' if role == 'node' else role}"


def _stage_dir(plugin: spec.PluginSpec, role: drivers.RoleName) -> str:
    """
    Return the folder on the host where Nomad and the plugin meet.

    A process without file system isolation sees the host's paths, so the folder that Nomad checks is named to it.
    Source: tried on Nomad 2.0.6-dev with csi-driver-host-path v1.18.0, 2026-08.
    """
    return f"{plugin.task_driver.client_data_dir}/client/csi/{role}/{plugin.id}"


def _fill(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _version(plugin: spec.PluginSpec, driver: drivers.Driver) -> str:
    """Return the version that is known to be run; empty where the operator brings image or binary."""
    return driver.version if plugin.image is None and plugin.task_driver.name == "docker" else ""


def _expectation(plugin: spec.PluginSpec, driver: drivers.Driver) -> model.PluginExpectation:
    return model.PluginExpectation(
        plugin_id=plugin.id,
        provider=driver.provider,
        version=_version(plugin, driver),
        namespace=plugin.namespace,
        controllers=plugin.controller.count if "controller" in driver.roles else 0,
        datacenters=plugin.datacenters,
        node_pool=plugin.node_pool,
        task_driver=plugin.task_driver.name,
        client_data_dir=plugin.task_driver.client_data_dir or "",
        proof=plugin.verify.proof,
        timeout_s=plugin.verify.timeout_s,
        stable_s=plugin.verify.stable_s,
    )


def _policy(
    plugin: spec.PluginSpec, driver: drivers.Driver, volumes: Sequence[spec.VolumeSpec]
) -> model.IamPolicy | None:
    if plugin.iam is None or driver.storage != "ebs":
        return None
    document = iam.ebs_policy(
        plugin.aws_region,
        volume_ids=[*plugin.iam.volume_ids, *existing_volume_ids(volumes)],
        kms_key_arns=[*plugin.iam.kms_key_arns, *kms_key_arns(volumes)],
        create_volumes=plugin.iam.create_volumes,
    )
    return model.IamPolicy(
        name=f"nomad-csi-{plugin.id}",
        role_name=plugin.iam.role_name,
        description=f"What the {driver.title} CSI controller of the Nomad plugin {plugin.id} calls",
        document=document,
    )


def kms_key_arns(volumes: Iterable[spec.VolumeSpec]) -> list[str]:
    """Return the customer keys of *volumes*, each once, sorted."""
    return sorted({volume.ebs.kms_key_arn for volume in volumes if volume.ebs and volume.ebs.kms_key_arn})


def existing_volume_ids(volumes: Iterable[spec.VolumeSpec]) -> list[str]:
    """Return the external ids of those *volumes* that were made elsewhere, each once, sorted."""
    return sorted({volume.existing.external_id for volume in volumes if volume.existing})
