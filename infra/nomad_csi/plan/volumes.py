"""From a volume of the spec and its driver to its registration and the storage to create."""

import dataclasses
import hashlib
from collections.abc import Mapping

from nomad_csi.plan import iam, model, registration, snapshot_schedules
from nomad_csi.spec import model as spec

OWNER_TAG = "nomad-csi:owner"
"""AWS tag that names the Pulumi project and stack: ``project/stack``."""

STACK_ID_TAG = "nomad-csi:stack-id"
"""AWS tag with the random id of the stack (`frame.stack_identity`), which outlives a rename of the stack."""

VOLUME_TAG = "nomad-csi:volume"
"""AWS tag that names the volume: ``namespace/volume_id``."""

FILE_SYSTEM_TAG = "nomad-csi:file-system"
"""AWS tag that names a file system of a stack, shared by several volumes."""

CLUSTER_ID_TAG = "nomad-csi:cluster"
"""AWS tag with this package's id of the storage's cluster (`nomad.cluster_identity`)."""


def plan_volume(
    volume: spec.VolumeSpec, driver: spec.DriverSpec, *, protect: bool = True, owner: str = ""
) -> model.VolumePlan:
    """Return the plan of *volume*. *protect* is the default for the volume's own; *owner* goes into tags."""
    keys = context_keys(volume, driver)
    return model.VolumePlan(
        registration=_registration(volume, driver),
        source=_source(volume, owner),
        protect=protect if volume.protect is None else volume.protect,
        adopt=volume.adopt,
        context_settings=tuple(key for key in sorted(volume.context) if keys.is_setting(key)),
        former_key=volume.former_key,
    )


def desired_document(plan: model.VolumePlan, external_ids: Mapping[str, str]) -> registration.VolumeRegistration:
    """
    Return the desired registration of *plan*.

    *external_ids* are those of storage that the plan creates, by ``namespace/volume_id``; an unknown one stays empty.
    """
    document = plan.registration
    if document.external_id or plan.key not in external_ids:
        return document
    return dataclasses.replace(document, external_id=external_ids[plan.key])


def efs_external_id(file_system_id: str, access_point_id: str | None) -> str:
    """Return EFS's external id: ``fs-1::fsap-2``, or ``fs-1`` for the root of the file system."""
    return f"{file_system_id}::{access_point_id}" if access_point_id else file_system_id


def efs_location(file_system_id: str, path: str | None) -> str:
    """Return the location of a volume's data in a file system: ``fs-1:/shared``; ``fs-1:/`` for all of it."""
    return f"{file_system_id}:{path or '/'}"


def context_keys(volume: spec.VolumeSpec, driver: spec.DriverSpec) -> spec.KeysSpec:
    """Return the context keys that *driver* accepts for *volume*; they may depend on the form of its external id."""
    form = driver.external_id.form(volume.existing.external_id) if volume.existing else None
    return form.context if form and form.context else driver.context


def _registration(volume: spec.VolumeSpec, driver: spec.DriverSpec) -> registration.VolumeRegistration:
    create = volume.create
    options = volume.mount_options
    return registration.VolumeRegistration(
        volume_id=volume.id,
        namespace=volume.namespace,
        name=volume.name or volume.id,
        external_id=volume.existing.external_id if volume.existing else "",
        plugin_id=volume.plugin_id,
        capabilities=tuple(
            registration.Capability(access_mode=mode.access_mode, attachment_mode=mode.attachment_mode)
            for mode in volume.capabilities or driver.capabilities[:1]
        ),
        mount_options=registration.MountOptions(fs_type=options.fs_type, mount_flags=options.mount_flags),
        required_topologies=volume.topologies or _topologies(volume, driver),
        parameters=volume.parameters,
        shares_storage=volume.shares_storage,
        context=volume.context,
        secrets={key: secret.get_secret_value() for key, secret in volume.secrets.items()},
        clone_id=(create and create.clone_id) or "",
        snapshot_id=(create and create.snapshot_id) or "",
        capacity_min_bytes=create.least_bytes if create else 0,
        capacity_max_bytes=(create and create.most_bytes) or 0,
    )


def _topologies(volume: spec.VolumeSpec, driver: spec.DriverSpec) -> tuple[Mapping[str, str], ...]:
    placed = volume.ebs or volume.existing or volume.create
    zone = placed.availability_zone if placed else None
    return ({driver.topology_key: zone},) if driver.topology_key and zone else ()


def _source(volume: spec.VolumeSpec, owner: str) -> spec.EbsSpec | spec.EfsSpec | spec.CreateSpec | None:
    marks = {"Name": volume.id, VOLUME_TAG: f"{volume.namespace}/{volume.id}"} | ({OWNER_TAG: owner} if owner else {})
    if ebs := volume.ebs:
        tags = ebs.tags | snapshot_schedules.tags(volume.snapshots, owner) | {iam.CLUSTER_TAG: "true"}
        return ebs.model_copy(update={"tags": marks | tags})
    if efs := volume.efs:
        return efs.model_copy(update={"tags": marks | efs.tags})
    if volume.create and volume.topologies:
        return volume.create.model_copy(update={"availability_zone": None})
    return volume.create


def maker(tags: Mapping[str, str]) -> str:
    """Return what storage with *tags* was created for: ``namespace/volume_id``, or the name of a file system."""
    return tags.get(VOLUME_TAG, "") or tags.get(FILE_SYSTEM_TAG, "")


def tagged_file_system(name: str, system: spec.FileSystemSpec, owner: str) -> spec.FileSystemSpec:
    """Return the shared file system *name* with all its tags: its own, and *owner* where there is one."""
    marks = {"Name": name, FILE_SYSTEM_TAG: name, **({OWNER_TAG: owner} if owner else {})}
    return system.model_copy(update={"tags": {**marks, **system.tags}})


def creation_token(stack_id: str, key: str) -> str:
    """
    Return the EFS creation token for *key* in a stack: at most 64 characters.

    *key* is that of a volume (``namespace/volume_id``), or the name of a file system, which has no slash.

    EFS uses the token only at creation, where it makes a repeated request idempotent. It is never compared later: a
    changed token would replace the file system.
    """
    digest = hashlib.sha256(f"{stack_id}\n{key}".encode()).hexdigest()
    return f"nomad-csi-{digest[:40]}"
