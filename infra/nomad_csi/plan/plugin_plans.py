"""From a plugin of the spec and its driver to all that is made of it: jobs, expectation and AWS permissions."""

from collections.abc import Iterable, Sequence

from nomad_csi.plan import expectations, iam, jobs, model
from nomad_csi.spec import model as spec


def plan_plugin(
    plugin: spec.PluginSpec, driver: spec.DriverSpec, served: Iterable[spec.VolumeSpec] = ()
) -> model.PluginPlan:
    """Return the jobs, expectation and policy of *plugin*; *served* are the volumes of the spec that it serves."""
    volumes = tuple(served)
    return model.PluginPlan(
        plugin_id=plugin.id,
        driver=driver.name,
        jobs=tuple(jobs.job(plugin, driver, name, role) for name, role in driver.roles.items()),
        expectation=expectations.expected(plugin, driver, creates=any(volume.create for volume in volumes)),
        iam_policy=_policy(plugin, driver, volumes),
        adopt=plugin.adopt,
        minimum_nomad=driver.minimum_nomad,
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
    """Return the ids of those EBS *volumes* that were made elsewhere, each once, sorted."""
    ids = {volume.existing.external_id for volume in volumes if volume.existing}
    return sorted(external_id for external_id in ids if external_id.startswith("vol-"))
