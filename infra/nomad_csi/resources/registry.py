"""All custom resources by their Pulumi type token. A new one is added here, and nowhere else."""

from collections.abc import Mapping

from nomad_csi.resources import plugin_health, rendered_file, stack_identity, volume_registration
from nomad_csi.resources.created import created_volume
from nomad_csi.resources.frame import resource
from nomad_csi.resources.plugin_jobs import plugin_job

RESOURCES: Mapping[str, resource.Resource] = {
    item.declared.token: item
    for item in (
        stack_identity.StackIdentityResource(),
        plugin_job.PluginJobResource(),
        plugin_health.PluginHealthResource(),
        volume_registration.VolumeRegistrationResource(),
        created_volume.CreatedVolumeResource(),
        rendered_file.RenderedFileResource(),
    )
}
