"""The storage behind volumes: zone, tag, key. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from nomad_csi.aws import records as aws_records
from nomad_csi.aws import regions
from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import machines, plugins, role_permissions
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import Finding, finding
from nomad_csi.plan import iam
from nomad_csi.plan import volumes as tags
from nomad_csi.volumes.ownership import OwnerRecord

Pairs = list[tuple[facts.ExaminedVolume, aws_records.EbsVolumeRecord]]

# Zone and tags.


_CODES = ("storage-zone-differs", "zone-not-registered", "policy-tag-missing")


@rule(*_CODES, "key-unusable", account="")
def find_unfit(cluster: facts.Facts, account: facts.Account) -> Iterator[facts.Outcome]:
    """Yield EBS volumes that conflict with Nomad or the driver."""
    wanted = [volume for volume in facts.known_or(cluster.volumes, ()) if facts.is_ebs(volume)]
    if wanted:
        check_name = f"zone, tag and key of {len(wanted)} EBS volumes"
        disks = (yield from facts.known(account.volumes, check_name)) or {}
        pairs = [(volume, disks[volume.external_id]) for volume in wanted if volume.external_id in disks]
        yield from _zones(cluster, pairs)
        yield from _tags(cluster, account, pairs)
        yield from _keys(account, pairs)


def _zones(cluster: facts.Facts, pairs: Pairs) -> Iterator[facts.Outcome]:
    loose: dict[tuple[str, str], list[str]] = defaultdict(list)
    for volume, ebs in pairs:
        named = regions.zones_of(volume.segments)
        if named and ebs.availability_zone not in named:
            evidence = (
                f"{volume.source}: topology of {' or '.join(sorted(named))}; EC2 DescribeVolumes: {ebs.external_id} is "
                f"in {ebs.availability_zone}"
            )
            yield finding("storage-zone-differs", volume.subject, found=evidence)
        elif not volume.segments:
            zones = regions.zones_of(plugins.segments_of(cluster, volume.plugin_id))
            if zones - {ebs.availability_zone}:
                loose[volume.plugin_id, facts.named([*zones])].append(f"{volume.key} (in {ebs.availability_zone})")
    for (plugin_id, zones_), keys in sorted(loose.items()):
        evidence = f"/v1/volumes: no topology of {facts.named(keys)}; /v1/plugin/csi/{plugin_id}: clients in {zones_}"
        yield finding("zone-not-registered", f"plugin {plugin_id}", found=evidence)


def _tags(cluster: facts.Facts, account: facts.Account, pairs: Pairs) -> Iterator[facts.Outcome]:
    """Yield the volumes without the tag that the controller's role needs to attach them."""
    bare: dict[str, Pairs] = defaultdict(list)
    for volume, ebs in pairs:
        if ebs.tags.get(iam.CLUSTER_TAG) != "true":
            bare[volume.plugin_id].append((volume, ebs))
    for plugin_id, untagged in sorted(bare.items()):
        roles = machines.roles_of(cluster, account, plugin_id)
        if roles is None:
            reason = "the role of the plugin's controller, or what it may do, is not known"
            keys = facts.named([volume.key for volume, _ in untagged])
            check_name = f"whether plugin {plugin_id} may attach volumes without the tag {iam.CLUSTER_TAG}: {keys}"
            yield facts.Unchecked(check=check_name, reason=reason)
            continue
        for role in roles:
            yield from _refused(role, account.region, plugin_id, untagged)


def _refused(role: aws_records.IamRole, region: str, plugin_id: str, untagged: Pairs) -> Iterator[facts.Outcome]:
    may = {
        ebs.external_id: role_permissions.may_attach(role, region, ebs.tags, external_id=ebs.external_id)
        for _, ebs in untagged
    }
    refused = sorted(key for key, answer in may.items() if answer is False)
    if refused:
        keys = facts.named([f"{item.key} ({item.external_id})" for item, _ in untagged if item.external_id in refused])
        evidence = (
            f"EC2 DescribeVolumes: no {iam.CLUSTER_TAG}=true on {keys}; {machines.how(role)}: ec2:AttachVolume is not "
            "allowed without it"
        )
        yield finding("policy-tag-missing", f"plugin {plugin_id}", found=evidence, external_ids=tuple(refused))
    unclear = [item.key for item, _ in untagged if may[item.external_id] is None]
    if unclear:
        reason = f"{machines.how(role)}: {role_permissions.NOT_EVALUATED}"
        check_name = f"whether role {role.name} may attach {facts.named(unclear)}"
        yield facts.Unchecked(check=check_name, reason=reason)


def _keys(account: facts.Account, pairs: Pairs) -> Iterator[facts.Outcome]:
    """Yield the keys of encrypted volumes that are not enabled."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for volume, ebs in pairs:
        if ebs.kms_key_arn:
            by_key[ebs.kms_key_arn].append(volume.key)
    for arn, keys in sorted(by_key.items()):
        answer, named = account.keys.get(arn) or facts.Unknown(reason="it was not read"), facts.named(keys)
        state = yield from facts.known(answer, f"key {arn} of {named}")
        if state not in {None, "Enabled"}:
            yield finding(
                "key-unusable", f"key {arn}", found=f"KMS DescribeKey: {state}; it encrypts {facts.named(keys)}"
            )


# Registrations without storage, and storage without a registration.


@rule("storage-missing", storage="instances, roles, storage and orphans in AWS", volumes="")
def find_missing(
    _cluster: facts.Facts, storage: facts.KnownStorage, volumes: tuple[facts.ExaminedVolume, ...]
) -> Iterator[facts.Outcome]:
    """Yield registered and planned volumes whose storage is gone."""
    on_ebs = [volume for volume in volumes if facts.is_ebs(volume)]
    on_efs = [(volume, parts) for volume in volumes if (parts := aws_records.parts(volume.external_id))]
    disks = (yield from facts.known(storage.volumes, f"storage of {len(on_ebs)} EBS volumes")) if on_ebs else {}
    for volume in on_ebs:
        if disks is not None and volume.external_id not in disks:
            yield _missing(storage, volume, "EC2 DescribeVolumes", "none")
    efs = (yield from facts.known(storage.file_systems, f"storage of {len(on_efs)} EFS volumes")) if on_efs else None
    if efs is None:
        return
    for volume, (system_id, point_id) in on_efs:
        system = efs.file_systems.get(system_id)
        if system is None or system.state in aws_records.LEAVING:
            yield _missing(storage, volume, "EFS DescribeFileSystems", system.state if system else "none")
        elif point_id and efs.access_points.get(point_id) != system_id:
            text = f"{point_id} does not belong to {system_id}"
            yield _missing(storage, volume, "EFS DescribeAccessPoints", text)


def _missing(storage: facts.KnownStorage, volume: facts.ExaminedVolume, call: str, state: str) -> Finding:
    evidence = f"{volume.source}: external id {volume.external_id}; {call} in {storage.region}: {state}"
    return finding("storage-missing", volume.subject, found=evidence)


_SHOWN = (tags.OWNER_TAG, tags.VOLUME_TAG, tags.FILE_SYSTEM_TAG)


@rule("storage-not-registered", volumes="")
def find_unregistered(cluster: facts.Facts, volumes: tuple[facts.ExaminedVolume, ...]) -> Iterator[facts.Outcome]:
    """Yield storage that an owner record keeps, or that has tags of this package, and that no volume has."""
    keys = {volume.key for volume in volumes if volume.is_registered}
    records = (yield from facts.known(cluster.owner_records, "owner records of volumes")) or {}
    kept = {key: owner for key, owner in sorted(records.items()) if owner.keeps_storage}
    yield from (_kept(key, owner) for key, owner in kept.items() if key not in keys)
    if not isinstance(cluster.account, facts.Account):
        return
    registered = {volume.external_id for volume in volumes}
    systems = {parts[0] for volume in volumes if (parts := aws_records.parts(volume.external_id))}
    ours = (yield from facts.known(cluster.account.ours, "unregistered EBS volumes of this package")) or {}
    for external_id in sorted(set(ours) - registered - {owner.external_id for owner in kept.values()}):
        yield _unregistered(external_id, ours[external_id].tags, "EC2 DescribeVolumes")
    efs = yield from facts.known(cluster.account.file_systems, "unregistered file systems of this package")
    for system_id, system in sorted(efs.file_systems.items()) if efs else ():
        if (tags.OWNER_TAG in system.tags or tags.VOLUME_TAG in system.tags) and system_id not in systems:
            yield _unregistered(system_id, system.tags, "EFS DescribeFileSystems")


def _unregistered(external_id: str, own_tags: Mapping[str, str], where: str) -> Finding:
    tag_text = ", ".join(f"{key}={own_tags[key]}" for key in _SHOWN if key in own_tags)
    evidence = f"{where}: {external_id} has {tag_text}; /v1/volumes: no volume with that external id"
    return finding("storage-not-registered", f"storage {external_id}", found=evidence)


def _kept(key: str, owner: OwnerRecord) -> Finding:
    evidence = (
        f"/v1/var/nomad-csi/volumes: plugin {owner.plugin_id} created {owner.external_id} as {key} for {owner}; "
        "/v1/volumes: not registered"
    )
    fix = (
        f"run `nomad-csi apply` with the spec of {owner}, which registers it again; or, where its data is not needed, "
        f"`nomad-csi remove {key} --delete-data --owner {owner}`"
    )
    return finding("storage-not-registered", f"storage {owner.external_id}", found=evidence, advice=fix)
