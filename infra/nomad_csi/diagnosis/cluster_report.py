"""
Read what a report needs: the doctor's observations, statuses and claims. Changes nothing.

The number of requests does not grow with clients. It grows with the volumes of a spec, each of which is compared, and
with claimed volumes up to a limit. What cannot be read is reported, and does not prevent the rest of the report.
"""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from nomad_csi import errors, findings, nomad
from nomad_csi.aws import regions
from nomad_csi.diagnosis import (
    claims_report,
    doctor,
    facts,
    page_data,
    read_account,
    read_claims,
    read_cluster,
    verification,
    verification_report,
)
from nomad_csi.diagnosis.rules import claim_status
from nomad_csi.health import explaining, observation, plugins
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.nomad import plugins as nomad_plugins
from nomad_csi.plan import model as plans

CLAIMED_MAX = 500
"""Limit of claimed volumes that are read for their claims: the list of volumes has counts, but no allocations."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """The options of a report."""

    plan: plans.StoragePlan | None = None
    """The desired state; ``None``: plugins are compared with their own jobs."""

    spec: str = ""
    """The file that *plan* was read from."""

    external_ids: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """External ids of storage that the plan creates, by ``namespace/volume_id``."""

    aws: regions.Choice = regions.LEFT_OUT
    """The region in which AWS is queried."""

    claimed_max: int = CLAIMED_MAX
    smoke: tuple[page_data.SmokeResult, ...] = ()
    sandbox: str = ""
    title: str = ""


def build_report(client: nomad.Nomad, question: ReportOptions) -> page_data.ClusterReport:
    """
    Read the cluster and return the report.

    Raises `errors.NomadApiError` if Nomad does not answer at all.
    """
    has_aws = not question.aws.is_left_out
    found = read_cluster.read_cluster(client, question.plan, question.external_ids, names_instances=has_aws)
    complete = read_account.add_account(found, read_account.region_of(found, question.aws))
    account = complete.account if isinstance(complete.account, facts.Account) else None
    reader = _Reader(client=client, question=question, found=found, aws_region=account.region if account else "")
    verified = reader.verified()
    held, unread = reader.claims()
    cluster = reader.cluster()
    examined = doctor.examined(complete)
    parts = page_data.Parts(
        found=complete,
        doctor=examined.findings,
        verified=verified,
        running=dict(reader.running()),
        claims=held,
        mounts=reader.mounts(),
        smoke=question.smoke,
    )
    of_plugins = tuple(page_data.plugins_of(parts))
    clients = tuple(page_data.clients_of(parts, of_plugins))
    of_volumes = tuple(page_data.volumes_of(parts))
    return page_data.ClusterReport(
        cluster=cluster,
        title=question.title,
        spec=question.spec,
        clients=clients,
        plugins=of_plugins,
        volumes=of_volumes,
        claims=held,
        claims_unread=unread,
        findings=page_data.findings_of(parts),
        unchecked=(*reader.unchecked, *examined.unchecked),
        smoke=question.smoke,
        zones=page_data.zones_of(clients, of_plugins, of_volumes),
        evidence=page_data.evidence_of(of_plugins, of_volumes),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Reader:
    """Reads what the doctor's observations *found* lack, and records which checks failed."""

    client: nomad.Nomad
    question: ReportOptions
    found: facts.ObservedCluster
    aws_region: str
    unchecked: list[facts.Unchecked] = dataclasses.field(default_factory=list)

    @contextlib.contextmanager
    def _noting(self, check: str, kind: type[errors.NomadCsiError] = errors.NomadApiError) -> Iterator[None]:
        """Record that *check* failed if the block raises an error of *kind*."""
        try:
            yield
        except kind as error:
            self.unchecked.append(facts.Unchecked(check=check, reason=str(error)))

    def cluster(self) -> page_data.Cluster:
        """Return the cluster: without its identity if it has none, or the token may not read it."""
        known = () if isinstance(self.found.servers, facts.Unknown) else self.found.servers
        of_servers = {server.name.rpartition(".")[2] for server in known if "." in server.name}
        identity = ""
        with self._noting("the cluster's identity"):
            identity = cluster_identity.cluster_id(self.client)
        return page_data.Cluster(
            address=self.client.connection.address,
            region=self.client.connection.region or (of_servers.pop() if len(of_servers) == 1 else ""),
            identity=identity,
            servers=known,
            asked_at=claims_report.time_text(self.client.now_ns),
            sandbox=self.question.sandbox,
        )

    def verified(self) -> verification_report.VerificationReport | None:
        """Return the verification of the spec, if there is one."""
        if self.question.plan is not None:
            with self._noting("what the spec expects"):
                return verification.Verifier(self.client, self.question.plan, self.question.external_ids).verify()
        return None

    def running(self) -> Iterator[tuple[str, plugins.PluginStatus]]:
        """Yield statuses of running plugins that are in no spec."""
        planned = {item.plugin_id for item in (self.found.plan.plugins if self.found.plan else ())}
        wanted = [
            self._wanted(plugin)
            for plugin_id, plugin in sorted(self.found.known_plugins.items())
            if plugin_id not in planned
        ]
        named = facts.named([item.expectation.plugin_id for item in wanted])
        with self._noting(f"plugins that are in no spec: {named}"):
            for seen in observation.Observer(self.client, wanted).observe():
                yield seen.wanted.expectation.plugin_id, self._explained(seen)

    def _wanted(self, plugin: nomad_plugins.Plugin) -> observation.WatchedPlugin:
        tasks = [task for task in self.found.known_tasks if task.plugin_id == plugin.plugin_id]
        expectation = page_data.expectation_of(plugin, tasks)
        is_one_namespace = {namespace for namespace, _ in plugin.jobs} == {expectation.namespace}
        own = sorted(job_id for _, job_id in plugin.jobs) if is_one_namespace else ()  # else any job's instances count
        return observation.WatchedPlugin(expectation=expectation, job_ids=tuple(own))

    def _explained(self, seen: observation.Observation) -> plugins.PluginStatus:
        if seen.status.status == plugins.HEALTHY:
            return seen.status
        fetched = explaining.explain(self.client, seen.wanted.expectation, seen.wanted.job_ids, seen.seen, seen.status)
        return dataclasses.replace(seen.status, causes=fetched)

    def claims(self) -> tuple[tuple[claim_status.VolumeClaims, ...], int]:
        """Return the volumes' claims, and the number of claimed volumes that were not read."""
        claimed = [volume.key for volume in self.found.known_volumes if volume.claims]
        unknown = [part for part in (self.found.clients, self.found.plugins) if isinstance(part, facts.Unknown)]
        if unknown and claimed:
            self.unchecked.append(facts.Unchecked(check="who claims volumes", reason=unknown[0].reason))
            return (), len(claimed)
        wanted = claimed[: self.question.claimed_max]
        judged: tuple[claim_status.VolumeClaims, ...] = ()
        unread = len(claimed)
        with self._noting("who claims volumes"):
            seen = volumes.read_each(self.client, (_key(volume) for volume in wanted))
            judged = claim_status.judge(self._read_with_ec2(seen.volumes) or self._read_without_ec2(seen.volumes))
            unread -= len(wanted) - sum(len(item.volume_ids) for item in seen.unread)
            for item in seen.unread:
                self.unchecked.append(facts.Unchecked(check=f"who claims {item.what}", reason=item.reason))
        return judged, unread

    def mounts(self) -> tuple[findings.Finding, ...]:
        """Return the allocations that fail to get a volume."""
        known = {_key(volume.key): volume.plugin_id for volume in self.found.known_volumes if volume.is_registered}
        found: list[findings.Finding] = []
        with self._noting("allocations that fail to get a volume"):
            found += read_claims.failing_mounts(self.client, known)
        return tuple(found)

    def _read_with_ec2(self, seen: Sequence[volumes.Volume]) -> claim_status.ObservedClaims | None:
        """Return the claims of *seen* with EC2's attachments; ``None`` if EC2 is not asked, or fails."""
        if self.aws_region:
            with self._noting("where EC2 has claimed volumes attached", errors.AwsError):
                return read_claims.read_claims(self.client, seen, aws_region=self.aws_region)
        return None

    def _read_without_ec2(self, seen: Sequence[volumes.Volume]) -> claim_status.ObservedClaims:
        """Return the claims of *seen*, without further requests."""
        return claim_status.ObservedClaims(
            volumes=tuple(seen),
            nodes={node.node_id: node for node in self.found.known_clients},
            plugins=self.found.known_plugins,
            ec2=None,
            now_ns=self.client.now_ns,
        )


def _key(shown: str) -> tuple[str, str]:
    """Return namespace and id of ``namespace/volume_id``."""
    namespace, _, volume_id = shown.partition("/")
    return namespace, volume_id
