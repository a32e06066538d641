"""Compare registered volumes with their owner records and plugins. Pure."""

from collections.abc import Iterator, Mapping

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import Finding, causes, finding
from nomad_csi.nomad import plugins as plugin_records

Volumes = tuple[facts.ExaminedVolume, ...]


@rule("volume-unschedulable", volumes="volumes and their claims")
def find_unschedulable(_found: facts.Facts, volumes: Volumes) -> Iterator[facts.Outcome]:
    """Yield volumes that Nomad places no allocations for."""
    for volume in volumes:
        if volume.is_registered and not volume.schedulable:
            yield finding(
                "volume-unschedulable",
                volume.subject,
                expected="a volume that Nomad places allocations for",
                found=f"plugin {volume.plugin_id} without enough healthy instances",
                names={"PLUGIN": volume.plugin_id},
                links=(volume.subject, *causes.of_plugin(volume.plugin_id)),
            )


@rule("claim-without-controller", plugins="plugins of the volumes, and their controllers", volumes="")
def find_without_controller(
    _found: facts.Facts, plugins: Mapping[str, plugin_records.Plugin], volumes: Volumes
) -> Iterator[facts.Outcome]:
    """Yield claimed volumes that need a controller, and whose plugin has no healthy one."""
    for volume in volumes:
        if volume.claims:
            yield from without_controller(volume, plugins.get(volume.plugin_id))


def without_controller(volume: facts.ExaminedVolume, plugin: plugin_records.Plugin | None) -> Iterator[Finding]:
    """Yield the finding on a claimed *volume* if *plugin* has no healthy controller for it."""
    controllers = plugin.controllers if plugin else ()
    is_required = volume.controller_required or (plugin is not None and plugin.controller_required)
    if is_required and not any(item.healthy for item in controllers):
        yield finding(
            "claim-without-controller",
            volume.subject,
            expected=f"a healthy controller of plugin {volume.plugin_id}, to detach the volume when it is released",
            found=f"{len(controllers)} controllers, none healthy" if plugin else "no such plugin",
            names={"PLUGIN": volume.plugin_id},
            links=(causes.of_role(volume.plugin_id, "controller"),),
        )
