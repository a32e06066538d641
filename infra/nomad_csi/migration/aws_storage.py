"""
AWS storage and policies in a Terraform state, for the volumes that use them. Pure.

Source: the schemas of hashicorp/terraform-provider-aws, as pulumi-aws 7 has them (``ebs/volume.py``,
``efs/file_system.py``, ``efs/mount_target.py``, ``efs/access_point.py``, ``ec2/security_group.py``, ``iam/``), 2026-11.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.aws import records as aws_records
from nomad_csi.migration import model
from nomad_csi.spec import names

EBS, FILE_SYSTEM, TARGET = "aws_ebs_volume", "aws_efs_file_system", "aws_efs_mount_target"
ACCESS_POINT, GROUP = "aws_efs_access_point", "aws_security_group"
POLICY, ROLE_POLICY = "aws_iam_policy", "aws_iam_role_policy"
POLICY_ATTACHMENT = "aws_iam_role_policy_attachment"
TYPES = (EBS, FILE_SYSTEM, TARGET, ACCESS_POINT, GROUP, POLICY, ROLE_POLICY, POLICY_ATTACHMENT)

NFS_PORT = 2049
_GRANTS = {"aws-ebs": "ec2:AttachVolume", "aws-efs": "elasticfilesystem:"}
"""Action, or prefix of actions, in a policy for the driver."""

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


@dataclass(frozen=True, kw_only=True)
class AwsStorage:
    """AWS objects in a state, by type and id."""

    by_type: Mapping[str, Mapping[str, TerraformObject]] = field(default_factory=dict)

    def of(self, kind: str) -> Mapping[str, TerraformObject]:
        """Return the objects of a type, by id."""
        return self.by_type.get(kind, {})

    def find(self, external_id: str) -> TerraformObject | None:
        """Return the EBS volume or file system with a volume's external id."""
        known = aws_records.parts(external_id)
        return self.of(FILE_SYSTEM).get(known[0]) if known else self.of(EBS).get(external_id)

    def targets(self, file_system_id: str) -> tuple[TerraformObject, ...]:
        """Return the mount targets of a file system, by zone."""
        own = (item for item in self.of(TARGET).values() if item.attributes.get("file_system_id") == file_system_id)
        return tuple(sorted(own, key=_zone))

    def roles(self, driver: str) -> tuple[str, ...]:
        """Return the roles with an attached or inline policy for the *driver*."""
        granting = {
            str(item.attributes.get("arn") or key)
            for key, item in self.of(POLICY).items()
            if _grants(item.attributes, driver)
        }
        attached = (
            item for item in self.of(POLICY_ATTACHMENT).values() if item.attributes.get("policy_arn") in granting
        )
        inline = (item for item in self.of(ROLE_POLICY).values() if _grants(item.attributes, driver))
        found = {str(item.attributes.get("role", "")) for item in (*attached, *inline)}
        return tuple(sorted(found - {""}))


def collect(found: Iterable[TerraformObject]) -> AwsStorage:
    """Return the AWS objects among those of a state."""
    by_type: dict[str, dict[str, TerraformObject]] = {}
    for item in found:
        if item.type in TYPES and isinstance(item.attributes.get("id"), str):
            by_type.setdefault(item.type, {})[item.attributes["id"]] = item
    return AwsStorage(by_type=by_type)


def _region(held: TerraformObject) -> str:
    """Return the region of storage: that of its ARN, else of its zone."""
    parts = str(held.attributes.get("arn") or "").split(":")
    if len(parts) > 3:  # noqa: PLR2004  # of an ARN
        return parts[3]
    return names.region_of_zone(str(held.attributes.get("availability_zone") or ""))


def fill(
    volumes: Iterable[dict[str, Any]], storage: AwsStorage, remarks: model.Remarks, *, takes_over: bool
) -> tuple[dict[str, set[str]], dict[str, Any]]:
    """
    Complete *volumes* from *storage*; return the regions of each plugin's storage, and the shared file systems.

    A volume without a zone gets that of the EBS volume. Where *takes_over*, storage is declared under ``ebs`` and
    ``efs`` with its attributes, so that a stack can take it over, and shared file systems by name; otherwise it stays
    under ``existing``.
    """
    found = [item for item in volumes if item.get("existing", {}).get("external_id")]
    used = [_ids(item) for item in found]
    unused = (set(storage.of(EBS)) | set(storage.of(FILE_SYSTEM))) - {storage_id for storage_id, _ in used}
    if unused:
        text = f"storage that no volume uses, which stays with Terraform: {', '.join(sorted(unused))}"
        remarks.add("note", model.TERRAFORM, 0, text)
    regions: dict[str, set[str]] = {}
    systems: dict[str, tuple[str, Any]] = {}
    for volume, (storage_id, point_id) in zip(found, used, strict=True):
        external_id = volume["existing"]["external_id"]
        held = storage.find(external_id)
        if held is None:
            continue
        regions.setdefault(str(volume.get("plugin_id")), set()).add(_region(held))
        if zone := str(held.attributes.get("availability_zone") or ""):
            volume["existing"].setdefault("availability_zone", zone)
        if takes_over and point_id and [point for _, point in used].count(point_id) > 1:
            text = f"{held.address} stays under existing: several volumes use the same access point"
            remarks.add("note", held.address, 0, text)
        elif takes_over:
            shared = systems if [other for other, _ in used].count(storage_id) > 1 else None
            _declare_storage(volume, held, storage, remarks, shared)
    return regions, dict(systems.values())


def _ids(volume: Mapping[str, Any]) -> tuple[str, str]:
    """Return the id of a volume's storage, and of its access point; empty: it has none."""
    external_id = str(volume["existing"]["external_id"])
    return aws_records.parts(external_id) or (external_id, "")


def fill_roles(
    plugins: Iterable[dict[str, Any]], storage: AwsStorage, remarks: model.Remarks, *, takes_over: bool
) -> None:
    """Add a remark on the role of the clients; where *takes_over*, set it on EBS plugins that name none."""
    for plugin in plugins:
        roles = storage.roles(plugin["driver"]) if isinstance(plugin.get("driver"), str) else ()
        for role in roles:
            text = f"plugin {plugin['id']}: a policy of role {role} is in the state"
            if plugin["driver"] == "aws-efs":
                fix = f"it stays there; with efs.iam.role_name: {role} of a volume, Pulumi creates one that fits"
            elif takes_over and len(roles) == 1 and "iam" not in plugin:
                plugin["iam"] = {"role_name": role}
                fix = "`pulumi up` attaches its own policy to the role; afterwards, remove this one from Terraform"
            else:
                fix = f"it stays there; with iam.role_name: {role}, Pulumi creates one that fits"
            remarks.add("note", model.TERRAFORM, 0, f"{text}; {fix}")


def _declare_storage(
    volume: dict[str, Any],
    held: TerraformObject,
    storage: AwsStorage,
    remarks: model.Remarks,
    shared: dict[str, tuple[str, Any]] | None,
) -> None:
    """Declare the storage of *volume*; add a shared file system to *shared*, by id, with its name in the spec."""
    known = aws_records.parts(volume["existing"]["external_id"])
    if known is None:
        reason = "several volumes use it" if shared is not None else _obstacle(held.attributes)
        declared = {"ebs": _ebs(held.attributes)}
    else:
        efs, reason = _efs(volume, held, storage, shared)
        declared = {"efs": efs}
    if reason:
        text = f"{held.address} stays under existing: {reason}"
        remarks.add("note", held.address, 0, text)
        return
    rest = {name: value for name, value in volume.items() if name != "existing"}
    volume.clear()
    for name, value in rest.items():
        volume[name] = value
        if name == "plugin_id":
            volume |= declared
    text = (
        "it is declared in the spec: import it (`nomad-csi import --for-pulumi`) before the first `pulumi up`, which "
        "would create a new, empty one; then remove it from Terraform's state: terraform state rm"
    )
    parts = [held, *storage.targets(known[0])] if known else [held]
    parts += [storage.of(ACCESS_POINT)[known[1]]] if known and known[1] else []
    for item in parts:
        remarks.add("note", item.address, 0, f"{text} '{item.address}'")


def _obstacle(given: Attributes) -> str:
    """Return the attribute that a spec cannot express, so that `up` would change or replace it; empty: none."""
    if given.get("throughput_mode") == "provisioned":
        return "a spec cannot express throughput_mode provisioned"
    named = ("multi_attach_enabled", "outpost_arn", "availability_zone_name", "lifecycle_policy")
    found = next((name for name in named if given.get(name)), "")
    return f"a spec cannot express {found}" if found else ""


def _ebs(given: Attributes) -> dict[str, Any]:
    kind = str(given.get("type") or "gp2")
    found = {"availability_zone": given.get("availability_zone"), "size_gib": given.get("size")}
    found["volume_type"] = kind if kind != "gp3" else None
    if kind in _WITH_IOPS and (kind != "gp3" or given.get("iops") != _BASELINE["iops"]):
        found["iops"] = given.get("iops")
    if kind == "gp3" and given.get("throughput") != _BASELINE["throughput"]:
        found["throughput_mib_per_s"] = given.get("throughput")
    return model.filled(found) | _encryption(given) | _tags(given)


def _efs(
    volume: Mapping[str, Any],
    held: TerraformObject,
    storage: AwsStorage,
    shared: dict[str, tuple[str, Any]] | None,
) -> tuple[Any, str]:
    """Return the value for ``efs``, and why it cannot be declared; empty: it can. *shared* as above."""
    external_id = volume["existing"]["external_id"]
    system_id, point_id = aws_records.parts(external_id) or ("", "")
    given, targets = held.attributes, storage.targets(system_id)
    if reason := _obstacle(given):
        return {}, reason
    if not targets:
        return {}, "the state has no mount target of it"
    if ":" in external_id and not point_id:
        return {}, "the volume is a folder of it"
    point, reason = _access_point(point_id, storage) if point_id else (None, "")
    if shared is not None and point is None:
        reason = "several volumes use it, and this one has no access point"
    if reason:
        return {}, reason
    if shared is None:
        settings = _settings(held, targets, storage)
        return settings | model.filled({"access_point": point}), ""
    if system_id not in shared:
        name = _name(held, {used for used, _ in shared.values()})
        shared[system_id] = name, _settings(held, targets, storage)
    return {"file_system": shared[system_id][0], "access_point": point}, ""


def _name(held: TerraformObject, taken: Collection[str]) -> str:
    """Return a name for a file system: that of the Terraform resource, with its id where the name is *taken*."""
    label = re.sub(r"\[.*", "", held.address).rpartition(".")[2]
    return label if label not in taken else f"{label}-{held.attributes['id']}"


def _settings(held: TerraformObject, targets: Sequence[TerraformObject], storage: AwsStorage) -> dict[str, Any]:
    """Return the file system's own settings."""
    given = held.attributes
    places = [
        model.filled({"availability_zone": _zone(item), "subnet_id": item.attributes.get("subnet_id")})
        for item in targets
    ]
    defaults = {"performance_mode": "generalPurpose", "throughput_mode": "bursting"}
    modes = {name: given.get(name) for name, usual in defaults.items() if given.get(name) != usual}
    found = {"mount_targets": places, "clients": _clients(targets, storage)} | modes
    return model.filled(found) | _encryption(given) | _tags(given)


def _access_point(point_id: str, storage: AwsStorage) -> tuple[dict[str, Any] | None, str]:
    held = storage.of(ACCESS_POINT).get(point_id)
    if held is None:
        return None, f"the state has no access point {point_id}"
    user, folder = _first(held.attributes, "posix_user"), _first(held.attributes, "root_directory")
    owner = _first(folder, "creation_info")
    same = (owner.get("owner_uid"), owner.get("owner_gid")) == (user.get("uid"), user.get("gid"))
    if not user or not same or user.get("secondary_gids"):
        return None, f"{held.address} has not one user who owns its folder"
    found = {"path": folder.get("path"), "uid": user["uid"], "gid": user["gid"]}
    permissions = str(owner.get("permissions") or "")
    return found | ({"permissions": permissions} if permissions not in {"", "0755"} else {}), ""


def _clients(targets: Iterable[TerraformObject], storage: AwsStorage) -> dict[str, list[str]]:
    """Return the clients that may reach the mount targets, by the security group rules in the state."""
    ids = {group for item in targets for group in item.attributes.get("security_groups") or ()}
    rules = [
        rule
        for group in sorted(ids & set(storage.of(GROUP)))
        for rule in storage.of(GROUP)[group].attributes.get("ingress") or ()
        if _reaches_nfs(rule)
    ]
    found = {"cidr_blocks": _united(rules, "cidr_blocks"), "security_group_ids": _united(rules, "security_groups")}
    return model.filled(found)


def _reaches_nfs(rule: Attributes) -> bool:
    ports = rule.get("from_port"), rule.get("to_port")
    return str(rule.get("protocol")) == "-1" or (
        all(isinstance(port, int) for port in ports) and ports[0] <= NFS_PORT <= ports[1]  # type: ignore[operator]  # both are whole numbers
    )


def _united(rules: Iterable[Attributes], name: str) -> list[str]:
    return sorted({str(value) for rule in rules for value in rule.get(name) or ()})


def _grants(attributes: Attributes, driver: str) -> bool:
    return driver in _GRANTS and _GRANTS[driver] in str(attributes.get("policy"))


def _encryption(given: Attributes) -> dict[str, Any]:
    if not given.get("encrypted"):
        return {"encrypted": False}
    return model.filled({"kms_key_arn": given.get("kms_key_id")})


def _tags(given: Attributes) -> dict[str, Any]:
    found = given.get("tags")
    own = {key: value for key, value in (found if isinstance(found, Mapping) else {}).items() if value}
    return model.filled({"tags": {key: value for key, value in own.items() if not key.startswith("aws:")}})


def _zone(target: TerraformObject) -> str:
    return str(target.attributes.get("availability_zone_name") or "")


def _first(attributes: Attributes, name: str) -> Attributes:
    """Return the only block of that name, which Terraform stores as a list."""
    found = attributes.get(name)
    block = found[0] if isinstance(found, list) and found else found
    return block if isinstance(block, Mapping) else {}
