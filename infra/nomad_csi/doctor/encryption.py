"""Whether storage is encrypted, and whether the driver can use the key. Pure."""

from collections import defaultdict
from collections.abc import Iterator

from nomad_csi.aws.records import ebs_volumes, file_systems, keys
from nomad_csi.doctor import machines, model, permissions
from nomad_csi.findings import finding

Pairs = list[tuple[model.ExaminedVolume, ebs_volumes.EbsVolumeRecord]]


def check(found: model.ObservedCluster, account: model.Account, pairs: Pairs) -> Iterator[model.Outcome]:
    """Yield what is not encrypted, and keys that do not open; *pairs* are volumes with their storage."""
    yield from _plain(pairs)
    yield from _keys(found, account, pairs)
    volumes = () if isinstance(found.volumes, model.Unknown) else found.volumes
    yield from _efs(account, volumes)


def _plain(pairs: Pairs) -> Iterator[model.Outcome]:
    for is_wanted in (True, False):
        plain = [
            f"{volume.key} ({ebs.external_id})"
            for volume, ebs in pairs
            if not ebs.encrypted and volume.must_be_encrypted == is_wanted
        ]
        if plain:
            evidence = f"EC2 DescribeVolumes: Encrypted is false for {model.named(plain)}"
            told = f"{evidence}; the spec requires encryption" if is_wanted else evidence
            yield finding("not-encrypted", f"{len(plain)} volumes", found=told, severity="error" if is_wanted else None)


def _keys(found: model.ObservedCluster, account: model.Account, pairs: Pairs) -> Iterator[model.Outcome]:
    by_key: dict[str, list[model.ExaminedVolume]] = defaultdict(list)
    for volume, ebs in pairs:
        if ebs.kms_key_arn:
            by_key[ebs.kms_key_arn].append(volume)
    for arn, volumes in sorted(by_key.items()):
        told = model.named([volume.key for volume in volumes])
        key = account.keys.get(arn) or model.Unknown(reason="it was not read")
        if isinstance(key, model.Unknown):
            yield model.Unchecked(check=f"key {arn} of {told}", reason=key.reason)
            continue
        if key.state != "Enabled":
            yield finding("key-unusable", f"key {arn}", found=f"KMS DescribeKey: {key.state}; it encrypts {told}")
        if key.is_customers:
            for plugin_id in sorted({volume.plugin_id for volume in volumes}):
                yield from _grants(found, account, key, plugin_id, told)


def _grants(
    found: model.ObservedCluster, account: model.Account, key: keys.Key, plugin_id: str, told: str
) -> Iterator[model.Outcome]:
    needed = permissions.needs(account.region, account.keys)
    roles = machines.roles_of(found, account, plugin_id)
    if roles is None:
        reason = "the role of the plugin's controller, or what it may do, is not known"
        yield model.Unchecked(check=f"grants of plugin {plugin_id} on key {key.arn}", reason=reason)
    for role in roles or ():
        may = permissions.may_use_key(role, needed, key.arn, key.policy)
        if may is False:
            evidence = (
                f"{machines.how(role)}, and KMS GetKeyPolicy: no {', '.join(permissions.ON_KEYS)}; it encrypts {told}"
            )
            yield finding("key-not-granted", f"key {key.arn}", found=evidence)
        elif may is None:
            reason = f"{machines.how(role)}: it has conditions that cannot be evaluated here"
            yield model.Unchecked(check=f"grants of role {role.name} on key {key.arn}", reason=reason)


def _efs(account: model.Account, volumes: tuple[model.ExaminedVolume, ...]) -> Iterator[model.Outcome]:
    if isinstance(account.file_systems, model.Unknown):
        return  # said where what is left over is checked
    plain = []
    for volume in volumes:
        found = file_systems.parts(volume.external_id)
        system = account.file_systems.file_systems.get(found[0]) if found else None
        if system is not None and not system.encrypted:
            plain.append(f"{volume.key} ({system.file_system_id})")
    if plain:
        evidence = f"EFS DescribeFileSystems: Encrypted is false for {model.named(plain)}"
        fix = "copy the data to a new, encrypted file system"
        yield finding("not-encrypted", f"{len(plain)} volumes", found=evidence, advice=fix)
