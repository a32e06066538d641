"""From a plugin or volume of a spec, as it was written, to the arguments of its component: the fields are the same."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from nomad_csi.components import argument_classes as args_of
from nomad_csi.components import created, ebs, efs, existing
from nomad_csi.plan import plugin_plans
from nomad_csi.spec import model as spec


def component_name(namespace: str, name: str) -> str:
    """Return a name that is unique in the stack: ``mysql`` in the default namespace, ``prod/mysql`` in ``prod``."""
    return name if namespace == "default" else f"{namespace}/{name}"


Files = Mapping[str, str]
"""Arguments of a component that say where rendered files go, and what they are rendered from."""


def plugin_args(
    written: Mapping[str, Any], served: Iterable[spec.VolumeSpec], *, files: Files
) -> args_of.CsiPluginArgs:
    """Return the arguments of the plugin *written*, whose policy must also do for the volumes *served*."""
    args = {key: value for key, value in written.items() if key != "id"}
    if args.get("iam"):
        served = tuple(served)
        args["iam"] = dict(args["iam"]) | {
            "kms_key_arns": [*args["iam"].get("kms_key_arns", ()), *plugin_plans.kms_key_arns(served)],
            "volume_ids": [*args["iam"].get("volume_ids", ()), *plugin_plans.existing_volume_ids(served)],
        }
    return cast("args_of.CsiPluginArgs", args | dict(files))


VolumeArgs = args_of.CsiVolumeArgs | args_of.EbsVolumeArgs | args_of.EfsVolumeArgs | args_of.ExistingVolumeArgs
VolumeComponent = created.CsiVolume | ebs.EbsVolume | efs.EfsVolume | existing.ExistingVolume


def file_system_args(written: Mapping[str, Any], *, protect: bool) -> args_of.EfsFileSystemArgs:
    """Return the arguments of the file system *written*, which is protected as it says, or as *protect* does."""
    args = {key: value for key, value in written.items() if key not in {"snapshots", "moved_from"}}
    return cast("args_of.EfsFileSystemArgs", {"protect": protect} | args)


def volume_component(
    written: Mapping[str, Any],
    driver: Any,
    *,
    plugin_id: Any,
    protect: bool,
    files: Files,
    file_system_id: Any = None,
) -> tuple[type[VolumeComponent], VolumeArgs]:
    """Return the component of the volume *written*, and its arguments; *file_system_id* is that of the one it names."""
    sources: dict[str, type[VolumeComponent]] = {
        "ebs": ebs.EbsVolume,
        "efs": efs.EfsVolume,
        "existing": existing.ExistingVolume,
        "create": created.CsiVolume,
    }
    source = next(name for name in sources if written.get(name) is not None)
    own = ("id", "moved_from", *sources)
    args = {key: value for key, value in written.items() if key not in own} | written[source]
    args |= {"volume_id": written["id"], "plugin_id": plugin_id} | dict(files)
    if source in ("existing", "create"):
        args["driver"] = driver
    if args.pop("file_system", None):
        args["file_system_id"] = file_system_id
    if source != "ebs":
        args.pop("snapshots", None)  # the schedule of a file system names it, not the other way round
    args.setdefault("protect", protect)
    return sources[source], cast("VolumeArgs", args)
