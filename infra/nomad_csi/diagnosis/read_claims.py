"""The claims of volumes in Nomad, and their attachments in EC2 where a region is known. Changes nothing."""

from collections.abc import Iterable, Mapping, Sequence

from nomad_csi import errors, nomad
from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import claim_status, claims_report, facts, judge
from nomad_csi.findings import Finding
from nomad_csi.health import clients as client_cache
from nomad_csi.health import probe_deep
from nomad_csi.nomad import namespaces, nodes
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.nomad import volumes as nomad_volumes
from nomad_csi.spec import names


class ClaimFacts(facts.Facts):
    """
    The facts of claimed volumes; of all EBS volumes, if EC2 is asked.

    Args:
        client: the cluster.
        only: the volumes, from Nomad's list.
        region: the region in which EC2 is asked.

    """

    needs_answers = True

    def __init__(self, client: nomad.Nomad, only: Iterable[nomad_volumes.ListedVolume], region: regions.Region) -> None:
        super().__init__(client)
        self._only = tuple(only)
        self._region = region

    @facts.part
    def listed(self) -> tuple[nomad_volumes.ListedVolume, ...]:
        """The volumes to examine."""
        return self._only

    @facts.part
    def volumes(self) -> tuple[facts.ExaminedVolume, ...]:
        """The volumes to examine, without those that the token may not read."""
        unread = {(item.namespace, each) for item in facts.value(self.claims_read).unread for each in item.volume_ids}
        return tuple(
            facts.examined(item, None) for item in self._only if (item.namespace, item.volume_id) not in unread
        )

    @facts.part
    def claims_read(self) -> nomad_volumes.Read:
        """Those that are claimed, or that EC2 may have attached."""
        wanted = [item for item in self._only if item.readers or item.writers or self._is_asked(item.external_id)]
        return nomad_volumes.read_each(self.client, ((item.namespace, item.volume_id) for item in wanted))

    def _is_asked(self, external_id: str) -> bool:
        return bool(self._region.name) and aws_records.is_ebs(external_id)

    @facts.part
    def clients(self) -> tuple[nodes.Node, ...]:
        """The clients, if there are claims; with the EC2 instances of those that have claims, if EC2 is asked."""
        node_ids = {claim.node_id for volume in facts.value(self.claimed) for claim in volume.claims}
        listed = facts.value(self.listed_clients) if node_ids else ()
        return self.cache.add_attributes(listed, (), node_ids if self._region.name else ())

    @facts.part
    def plugins(self) -> Mapping[str, plugin_records.Plugin]:
        """The plugins of claimed volumes."""
        claimed = {volume.plugin_id for volume in facts.value(self.claimed) if volume.claims}
        return facts.read_plugins(self.client, sorted(claimed))

    @facts.part
    def attachments(self) -> aws_records.ObservedAttachments | None:
        """Where EC2 has the EBS volumes attached."""
        if not self._region.name:
            return None
        return read_attachments(facts.value(self.claimed), facts.value(self.clients), self._region.name)

    @facts.part
    def storage(self) -> facts.KnownStorage | None:
        """The EBS volumes that EC2 knows."""
        attachments = facts.value(self.attachments)
        if attachments is None:
            return None
        existing = {key: item for key, item in attachments.volumes.items() if item.state != aws_records.MISSING}
        left_out = facts.Unknown(reason="`nomad-csi doctor` asks EFS", is_expected=True)
        return facts.KnownStorage(region=self._region.name, volumes=existing, file_systems=left_out)


def read_volume_claims(
    client: nomad.Nomad, volume: nomad_volumes.Volume, *, aws_region: str = ""
) -> claim_status.VolumeClaims:
    """Return the claims of one volume. Raises `errors.NomadApiError` and `errors.AwsError`."""
    node_ids = {claim.node_id for claim in volume.claims}
    listed = nodes.list_nodes(client) if node_ids else ()
    cache = client_cache.ClientCache(client)
    clients = cache.add_attributes(listed, (), node_ids if aws_region else ())
    ec2 = read_attachments([volume], clients, aws_region) if aws_region else None
    [judged] = claim_status.judge([volume], clients, ec2)
    return judged


def read_attachments(
    claimed: Sequence[nomad_volumes.Volume], clients: Iterable[nodes.Node], region: str
) -> aws_records.ObservedAttachments:
    """Return where EC2 has the *claimed* volumes attached, and the instances of those *clients* that claim them."""
    holders = {claim.node_id for volume in claimed for claim in volume.claims}
    instance_ids = {claim_status.instance_of(node) for node in clients if node.node_id in holders} - {""}
    return ebs_volumes.read_attachments((item.external_id for item in claimed), region, instance_ids=instance_ids)


def report(
    client: nomad.Nomad,
    namespace: str,
    *,
    plugin_id: str = "",
    volume: nomad_volumes.Key | None = None,
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
        for item in nomad_volumes.list_volumes(client, volume[0] if volume else namespace)
        if plugin_id in {"", item.plugin_id} and volume in {None, (item.namespace, item.volume_id)}
    ]
    if volume and not listed:
        raise errors.RefusedError(f"volume {'/'.join(volume)} is not registered: nothing can claim it")
    if not listed:
        _check(client, namespace, plugin_id)
    ec2 = aws.region_of_volumes(listed)
    cluster = ClaimFacts(client, listed, ec2)
    if isinstance(cluster.attachments, facts.Unknown):
        reason = f"EC2 could not be queried: {cluster.attachments.reason}; --no-aws leaves it out"
        ec2 = regions.Region(reason=reason)
    return claims_report.ClaimsReport(
        volumes=facts.value(cluster.claims),
        raw_findings=tuple(item for item in judge.outcomes(cluster, "claims") if isinstance(item, Finding)),
        ec2=ec2,
        unread=facts.value(cluster.claims_read).unread,
    )


def _check(client: nomad.Nomad, namespace: str, plugin_id: str) -> None:
    """Raise `errors.SpecError` if no volume was found because the namespace or plugin does not exist."""
    if namespace != names.EVERYWHERE:
        namespaces.check(client, [namespace])
    if plugin_id:
        probe_deep.plugin_of(client, plugin_id)
