"""Read the claims of volumes from Nomad, and from EC2 where a region is known. Changes nothing."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus

from nomad_csi import errors, findings, nomad
from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.diagnosis import claims_report
from nomad_csi.diagnosis.rules import claim_status, drains
from nomad_csi.health import gather, probe_deep
from nomad_csi.nomad import jobs, namespaces, nodes, plugins, volumes
from nomad_csi.spec import names


def report(
    client: nomad.Nomad,
    namespace: str,
    *,
    plugin_id: str = "",
    volume: volumes.Key | None = None,
    aws: regions.Choice = regions.LEFT_OUT,
) -> claims_report.ClaimsReport:
    """
    Return the claims on the volumes of *namespace* (``*``: all that the token may read), and which are stuck.

    Args:
        client: the cluster.
        namespace: the namespace to read.
        plugin_id: only volumes of this plugin; empty: all plugins.
        volume: only this volume; ``None``: all.
        aws: the region in which EC2 is queried for EBS volumes, claimed or not.

    Raises:
        errors.SpecError: the namespace or plugin does not exist.
        errors.RefusedError: the volume is not registered.
        errors.NomadApiError: Nomad did not answer, or denied access.
    """
    listed = [
        item
        for item in volumes.list_volumes(client, volume[0] if volume else namespace)
        if plugin_id in {"", item.plugin_id} and volume in {None, (item.namespace, item.volume_id)}
    ]
    if volume and not listed:
        raise errors.RefusedError(f"volume {'/'.join(volume)} is not registered: nothing can claim it")
    if not listed:
        _check(client, namespace, plugin_id)
    ec2 = aws.region_of_volumes(listed)
    wanted = [
        item for item in listed if item.readers or item.writers or (ec2.name and ebs_volumes.is_ebs(item.external_id))
    ]
    found = volumes.read_each(client, ((item.namespace, item.volume_id) for item in wanted))
    try:
        seen = read_claims(client, found.volumes, aws_region=ec2.name)
    except errors.AwsError as error:
        ec2 = regions.Region(reason=f"EC2 could not be queried: {error}; --no-aws leaves it out")
        seen = read_claims(client, found.volumes)
    return claims_report.ClaimsReport(
        volumes=claim_status.judge(seen),
        others=(
            *drains.check(seen.volumes, seen.plugins, seen.nodes.values()),
            *failing_mounts(client, {(item.namespace, item.volume_id): item.plugin_id for item in listed}),
        ),
        ec2=ec2,
        unread=found.unread,
    )


def _check(client: nomad.Nomad, namespace: str, plugin_id: str) -> None:
    """Raise `errors.SpecError` if no volume was found because the namespace or plugin does not exist."""
    if namespace != names.EVERYWHERE:
        namespaces.check(client, namespace)
    if plugin_id:
        probe_deep.plugin_of(client, plugin_id)


def read_claims(
    client: nomad.Nomad, found: Iterable[volumes.Volume], *, aws_region: str = ""
) -> claim_status.ObservedClaims:
    """
    Return the claims of *found* with their nodes, plugins and EC2 attachments.

    Raises what `report` raises, and `errors.AwsError` if EC2 did not answer, or denied access.
    """
    seen = tuple(found)
    claimed = [volume for volume in seen if volume.claims]
    plugin_ids = sorted({volume.plugin_id for volume in claimed})
    clients = {node.node_id: node for node in nodes.list_nodes(client)} if claimed else {}
    if aws_region:
        clients |= _described(client, [clients[item] for item in _holders(claimed) if item in clients])
    reads = (functools.partial(plugins.get, client, plugin_id) for plugin_id in plugin_ids)
    return claim_status.ObservedClaims(
        volumes=seen,
        nodes=clients,
        plugins=dict(zip(plugin_ids, gather.run_in_parallel(reads), strict=True)),
        ec2=_ec2(seen, clients, aws_region) if aws_region else None,
        now_ns=client.now_ns,
    )


def read_volume_claims(
    client: nomad.Nomad, volume: volumes.Volume, *, aws_region: str = ""
) -> claim_status.VolumeClaims:
    """Return the claim status of *volume*. Raises what `read_claims` raises."""
    [judged] = claim_status.judge(read_claims(client, (volume,), aws_region=aws_region))
    return judged


JOBS_MAX = 50
"""Limit of jobs that are read for the volumes of their failed allocations."""


def failing_mounts(client: nomad.Nomad, plugins_of: Mapping[tuple[str, str], str]) -> Iterator[findings.Finding]:
    """
    Yield findings on allocations that fail to get one of the volumes *plugins_of* (plugin's id by namespace and id).

    One request for each namespace, and one for each job with such allocations. Raises what `report` raises; where the
    token may not list allocations, that is a finding.
    """
    for namespace in sorted({namespace for namespace, _ in plugins_of}):
        try:
            failed = jobs.failed_mounts(client, namespace)
            documents = {
                job_id: jobs.document(client, namespace, job_id)
                for job_id in list(dict.fromkeys(item.job_id for item in failed))[:JOBS_MAX]
            }
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            yield findings.finding("mounts-unread", f"namespace {namespace}", found=str(error))
            continue
        wanted = {
            item.alloc_id: jobs.volumes_of(job, item.group, item.index)
            for item in failed
            if (job := documents.get(item.job_id)) is not None
        }
        yield from claim_status.failing(failed, wanted, plugins_of)


def _holders(found: Iterable[volumes.Volume]) -> list[str]:
    return sorted({claim.node_id for volume in found for claim in volume.claims if claim.node_id})


def _described(client: nomad.Nomad, found: Iterable[nodes.Node]) -> dict[str, nodes.Node]:
    """Return clients with their attributes, such as the EC2 instance; Nomad's list of clients omits them."""
    described = gather.run_in_parallel(functools.partial(nodes.described, client, node) for node in found)
    return {node.node_id: node for node in described}


def _ec2(
    seen: Iterable[volumes.Volume], clients: dict[str, nodes.Node], aws_region: str
) -> ebs_volumes.ObservedAttachments:
    instance_ids = {claim_status.instance_of(node) for node in clients.values()} - {""}
    return ebs_volumes.read_attachments((volume.external_id for volume in seen), aws_region, instance_ids=instance_ids)
