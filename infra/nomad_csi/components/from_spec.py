"""From a plugin or volume of a spec, as it was written, to the arguments of its component: the fields are the same."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from nomad_csi.components import ebs, efs, existing, plugin
from nomad_csi.plan import jobs
from nomad_csi.spec import model as spec


def component_name(namespace: str, name: str) -> str:
    """Return a name that is unique in the stack: ``mysql`` in the default namespace, ``prod/mysql`` in ``prod``."""
    return name if namespace == "default" else f"{namespace}/{name}"


def plugin_args(
    written: Mapping[str, Any], served: Iterable[spec.VolumeSpec], *, render_to: str
) -> plugin.CsiPluginArgs:
    """Return the arguments of the plugin *written*, whose policy must also do for the volumes *served*."""
    args = {key: value for key, value in written.items() if key != "id"}
    if args.get("iam"):
        served = tuple(served)
        args["iam"] = dict(args["iam"]) | {
            "kms_key_arns": [*args["iam"].get("kms_key_arns", ()), *jobs.kms_key_arns(served)],
            "volume_ids": [*args["iam"].get("volume_ids", ()), *jobs.existing_volume_ids(served)],
        }
    return cast("plugin.CsiPluginArgs", args | {"render_to": render_to})


VolumeArgs = ebs.EbsVolumeArgs | efs.EfsVolumeArgs | existing.ExistingVolumeArgs
VolumeComponent = ebs.EbsVolume | efs.EfsVolume | existing.ExistingVolume


def volume_component(
    written: Mapping[str, Any], driver: str, *, plugin_id: Any, protect: bool, render_to: str
) -> tuple[type[VolumeComponent], VolumeArgs]:
    """Return the component of the volume *written*, and its arguments."""
    sources: dict[str, type[VolumeComponent]] = {
        "ebs": ebs.EbsVolume,
        "efs": efs.EfsVolume,
        "existing": existing.ExistingVolume,
    }
    source = next(name for name in sources if written.get(name) is not None)
    args = {key: value for key, value in written.items() if key not in ("id", *sources)} | written[source]
    args |= {"volume_id": written["id"], "plugin_id": plugin_id, "render_to": render_to}
    if source == "existing":
        args.pop("protect", None)
        args["driver"] = driver
    else:
        args.setdefault("protect", protect)
    return sources[source], cast("VolumeArgs", args)
