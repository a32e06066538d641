"""
AWS storage in a Terraform state, for the volumes that use them. Pure.

Source: the schemas of hashicorp/terraform-provider-aws, as pulumi-aws 7 has them (``ebs/volume.py``,
``efs/file_system.py``, ``efs/mount_target.py``, ``efs/access_point.py``), 2026-11.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.aws import records as aws_records
from nomad_csi.migration import model

EBS, FILE_SYSTEM, TARGET = "aws_ebs_volume", "aws_efs_file_system", "aws_efs_mount_target"
ACCESS_POINT = "aws_efs_access_point"
TYPES = (EBS, FILE_SYSTEM, TARGET, ACCESS_POINT)

_BASELINE = {"iops": 3000, "throughput": 125}
"""AWS's defaults for gp3."""

_WITH_IOPS = frozenset({"gp3", "io1", "io2"})

Attributes = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class TerraformObject:
    """One object in a Terraform state."""

    address: str
    """Such as ``module.storage.nomad_csi_volume.data["a"]``."""

    type: str
    attributes: Attributes


AwsStorage = Mapping[tuple[str, str], TerraformObject]
"""AWS objects in a state, by type and id."""


def collect(objects: Iterable[TerraformObject]) -> AwsStorage:
    """Return the AWS objects among those of a state."""
    known = (item for item in objects if item.type in TYPES and isinstance(item.attributes.get("id"), str))
    return {(item.type, item.attributes["id"]): item for item in known}


def targets(storage: AwsStorage, file_system_id: str) -> list[TerraformObject]:
    """Return the mount targets of a file system, by zone."""
    of_type = (item for (kind, _), item in storage.items() if kind == TARGET)
    return sorted((item for item in of_type if item.attributes.get("file_system_id") == file_system_id), key=_zone)


def fill(volumes: Iterable[dict[str, Any]], storage: AwsStorage, remarks: model.Remarks, *, takes_over: bool) -> None:
    """
    Complete *volumes* from *storage*: a volume without a zone gets that of the EBS volume.

    Where *takes_over*, storage that one volume uses alone is declared under ``ebs`` and ``efs`` with its attributes, so
    that a stack can take it over; otherwise it stays under ``existing``.
    """
    existing = [item for item in volumes if item.get("existing", {}).get("external_id")]
    external_ids = [str(item["existing"]["external_id"]) for item in existing]
    used = [(aws_records.parts(item) or (item, ""))[0] for item in external_ids]
    for volume, storage_id in zip(existing, used, strict=True):
        entry = storage.get((EBS, storage_id)) or storage.get((FILE_SYSTEM, storage_id))
        if entry is None:
            continue
        if zone := str(entry.attributes.get("availability_zone") or ""):
            volume["existing"].setdefault("availability_zone", zone)
        if takes_over and used.count(storage_id) > 1:
            remarks.add("note", entry.address, 0, f"{entry.address} stays under existing: several volumes use it")
        elif takes_over:
            _declare_storage(volume, entry, storage, remarks)


def _declare_storage(
    volume: dict[str, Any], entry: TerraformObject, storage: AwsStorage, remarks: model.Remarks
) -> None:
    """Declare the storage of *volume*, which stays under ``existing`` where that would change it."""
    external_id = volume["existing"]["external_id"]
    system_id, point_id = aws_records.parts(external_id) or ("", "")
    own, point = targets(storage, system_id), storage.get((ACCESS_POINT, point_id))
    unusual = next((name for name in _NOT_IN_SPEC if entry.attributes.get(name)), "")
    reason = f"a spec cannot express {unusual}" if unusual else ""
    declared = {"ebs": _ebs(entry.attributes)}
    if system_id:
        access_point = _access_point(point) if point else {}
        declared = {"efs": _efs(entry.attributes, own) | model.filled({"access_point": access_point})}
        if not own or (point is None and ":" in external_id):
            reason = "the state has no mount target of it, or not the access point of the volume"
        elif access_point is None:
            reason = "its access point has not one user who owns the folder"
    if reason:
        remarks.add("note", entry.address, 0, f"{entry.address} stays under existing: {reason}")
        return
    del volume["existing"]
    volume |= declared
    for item in filter(None, (entry, *own, point)):
        text = (
            "it is declared in the spec: import it (`nomad-csi import --for-pulumi`) before the first `pulumi up`, "
            "which would create a new, empty one; then remove it from Terraform's state: terraform state rm "
            f"'{item.address}'"
        )
        remarks.add("note", item.address, 0, text)


_NOT_IN_SPEC = (
    "multi_attach_enabled", "outpost_arn", "availability_zone_name", "lifecycle_policy",
    "provisioned_throughput_in_mibps",
)  # fmt: skip
"""Attributes that `up` would change or drop."""


def _ebs(given: Attributes) -> dict[str, Any]:
    kind = str(given.get("type") or "gp2")
    fields = {"availability_zone": given.get("availability_zone"), "size_gib": given.get("size"), "volume_type": kind}
    if kind in _WITH_IOPS and (kind != "gp3" or given.get("iops") != _BASELINE["iops"]):
        fields["iops"] = given.get("iops")
    if kind == "gp3" and given.get("throughput") != _BASELINE["throughput"]:
        fields["throughput_mib_per_s"] = given.get("throughput")
    return model.filled(fields) | _encryption_and_tags(given)


def _efs(given: Attributes, own: Iterable[TerraformObject]) -> dict[str, Any]:
    """Return the file system's own settings, and its mount targets."""
    zones = [{"availability_zone": _zone(item), "subnet_id": item.attributes.get("subnet_id")} for item in own]
    modes = {name: given.get(name) for name in ("performance_mode", "throughput_mode")}
    return model.filled({"mount_targets": list(map(model.filled, zones))} | modes) | _encryption_and_tags(given)


def _access_point(point: TerraformObject) -> dict[str, Any] | None:
    """Return an access point of a spec; ``None``: a spec has one user, who owns the folder."""
    user, folder = _first(point.attributes, "posix_user"), _first(point.attributes, "root_directory")
    owner = _first(folder, "creation_info")
    fields = {"path": folder.get("path"), "uid": user.get("uid"), "gid": user.get("gid")}
    is_one = (owner.get("owner_uid"), owner.get("owner_gid")) == (fields["uid"], fields["gid"])
    if not user or not is_one or user.get("secondary_gids"):
        return None
    return model.filled(fields | {"permissions": owner.get("permissions")})


def _first(attributes: Attributes, name: str) -> Attributes:
    """Return the only block or the map of that name; Terraform stores a block as a list."""
    value = attributes.get(name)
    block = value[0] if isinstance(value, list) and value else value
    return block if isinstance(block, Mapping) else {}


def _encryption_and_tags(given: Attributes) -> dict[str, Any]:
    tags = {key: value for key, value in _first(given, "tags").items() if value and not key.startswith("aws:")}
    return model.filled(
        {"encrypted": bool(given.get("encrypted")), "kms_key_arn": given.get("kms_key_id"), "tags": tags}
    )


def _zone(target: TerraformObject) -> str:
    return str(target.attributes.get("availability_zone_name") or "")
