"""All custom resources by their Pulumi type token. A new one is added here, and nowhere else."""

from collections.abc import Mapping

from nomad_csi.deploy import (
    created_volume,
    plugin_health,
    plugin_job,
    rendered_file,
    resource,
    stack_identity,
    volume_registration,
)

RESOURCES: Mapping[str, resource.Resource] = {
    item.token: item
    for item in (
        stack_identity.StackIdentity(),
        plugin_job.PluginJob(),
        plugin_health.PluginHealth(),
        volume_registration.VolumeRegistration(),
        created_volume.CreatedVolume(),
        rendered_file.RenderedFile(),
    )
}
