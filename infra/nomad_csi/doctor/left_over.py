"""What is on one side only: registrations without storage, storage of ours without a registration. Pure."""

from collections.abc import Iterator, Mapping

from nomad_csi.aws.records import file_systems
from nomad_csi.doctor import model
from nomad_csi.findings import Finding, finding
from nomad_csi.plan import volumes as tags

_SHOWN = (tags.OWNER_TAG, tags.VOLUME_TAG, tags.FILE_SYSTEM_TAG)


def check(found: model.ObservedCluster, account: model.Account) -> Iterator[model.Outcome]:
    """Yield orphans on either side."""
    volumes = () if isinstance(found.volumes, model.Unknown) else found.volumes
    yield from _ebs(account, volumes)
    yield from _efs(account, volumes)
    if isinstance(found.volumes, model.Unknown):
        return  # said where volumes are checked; nothing can be called unregistered
    registered = {volume.external_id for volume in volumes}
    systems = {parts[0] for volume in volumes if (parts := file_systems.parts(volume.external_id))}
    if isinstance(account.ours, model.Unknown):
        yield model.Unchecked(check="unregistered EBS volumes of this package", reason=account.ours.reason)
    else:
        for external_id in sorted(set(account.ours) - registered):
            yield _unregistered(external_id, account.ours[external_id].tags, "EC2 DescribeVolumes")
    if isinstance(account.file_systems, model.Unknown):
        yield model.Unchecked(check="unregistered file systems of this package", reason=account.file_systems.reason)
    else:
        for system_id, system in sorted(account.file_systems.file_systems.items()):
            if (tags.OWNER_TAG in system.tags or tags.VOLUME_TAG in system.tags) and system_id not in systems:
                yield _unregistered(system_id, system.tags, "EFS DescribeFileSystems")


def _unregistered(external_id: str, found: Mapping[str, str], where: str) -> Finding:
    told = ", ".join(f"{key}={found[key]}" for key in _SHOWN if key in found)
    evidence = f"{where}: {external_id} has {told}; /v1/volumes: no volume with that external id"
    return finding("storage-not-registered", f"storage {external_id}", found=evidence)


def _ebs(account: model.Account, volumes: tuple[model.ExaminedVolume, ...]) -> Iterator[model.Outcome]:
    if isinstance(account.volumes, model.Unknown):
        return  # said where storage is checked
    for volume in volumes:
        if model.is_ebs(volume) and volume.external_id not in account.volumes:
            evidence = (
                f"{volume.place}: external id {volume.external_id}; EC2 DescribeVolumes in {account.region}: none"
            )
            yield finding("storage-missing", volume.subject, found=evidence)


def _efs(account: model.Account, volumes: tuple[model.ExaminedVolume, ...]) -> Iterator[model.Outcome]:
    wanted = [(volume, parts) for volume in volumes if (parts := file_systems.parts(volume.external_id))]
    if isinstance(account.file_systems, model.Unknown):
        if wanted:
            yield model.Unchecked(check=f"storage of {len(wanted)} EFS volumes", reason=account.file_systems.reason)
        return
    seen = account.file_systems
    for volume, (system_id, point_id) in wanted:
        system = seen.file_systems.get(system_id)
        if system is None or system.state in {"deleting", "deleted"}:
            state = system.state if system else "none"
            where = f"EFS DescribeFileSystems in {account.region}"
            evidence = f"{volume.place}: external id {volume.external_id}; {where}: {state}"
            yield finding("storage-missing", volume.subject, found=evidence)
        elif point_id and seen.access_points.get(point_id) != system_id:
            evidence = (
                f"{volume.place}: external id {volume.external_id}; EFS DescribeAccessPoints in {account.region}: "
                f"{point_id} does not belong to {system_id}"
            )
            yield finding("storage-missing", volume.subject, found=evidence)
