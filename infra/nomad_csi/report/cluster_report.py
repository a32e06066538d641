"""
What a report is made of: what the doctor reads of the cluster, statuses, and who claims what. Only reads.

The number of calls does not grow with clients. It grows with the volumes of a spec, each of which is compared, and with
claimed volumes up to a bound. What cannot be read is said, and keeps nothing else from being told.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from nomad_csi import errors, nomad
from nomad_csi.claims import claim_model, claim_status, reading
from nomad_csi.doctor import doctor_aws, doctor_cluster, judge
from nomad_csi.doctor import model as doctor
from nomad_csi.health import explaining, plugins
from nomad_csi.nomad import plugin_jobs, volumes
from nomad_csi.nomad import plugins as nomad_plugins
from nomad_csi.ownership import cluster_identity
from nomad_csi.plan import model as plans
from nomad_csi.report import building, model
from nomad_csi.report.expecting import expectation_of
from nomad_csi.report.smoke_results import SmokeResult
from nomad_csi.verification import looking, report, verification

CLAIMED_MAX = 500
"""So many claimed volumes are read, to see who holds them: the list of volumes counts claims and names nobody."""


_NOT_ASKED = doctor.Unknown(reason="AWS was not asked: name a region with `--aws-region`", is_expected=True)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a report is to tell."""

    plan: plans.StoragePlan | None = None
    """What is expected; ``None``: plugins are compared with what their own jobs ask for."""

    spec: str = ""
    """The file that *plan* was read from."""

    external_ids: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Of storage that the plan makes, by ``namespace/volume_id``."""

    aws_region: str = ""
    """Where AWS is asked; empty: it is not."""

    claimed_max: int = CLAIMED_MAX
    smoke: tuple[SmokeResult, ...] = ()
    sandbox: str = ""


def look(client: nomad.Nomad, question: ReportOptions) -> model.ClusterReport:
    """
    Return the report.

    Raises `errors.NomadApiError` where Nomad answers nothing at all.
    """
    asks_aws = bool(question.aws_region)
    found = doctor_cluster.look(client, question.plan, question.external_ids, names_instances=asks_aws)
    complete = doctor_aws.with_account(found, question.aws_region or _NOT_ASKED, asks_aws=True)
    unchecked: list[doctor.Unchecked] = []
    verified = _verified(client, question, unchecked)
    held, unread = _claims(client, found, question, unchecked)
    return building.build(
        building.Parts(
            cluster=_cluster(client, found, question, unchecked),
            spec=question.spec,
            found=complete,
            doctor=judge.judge(complete),
            verified=verified,
            running=dict(_running(client, found, unchecked)),
            claims=held,
            claims_unread=unread,
            asked_ec2=any(item.ebs for item in held),
            unchecked=tuple(unchecked),
            smoke=question.smoke,
        )
    )


def _cluster(
    client: nomad.Nomad, found: doctor.ObservedCluster, question: ReportOptions, unchecked: list[doctor.Unchecked]
) -> model.Cluster:
    known = () if isinstance(found.servers, doctor.Unknown) else found.servers
    of_servers = {server.name.rpartition(".")[2] for server in known if "." in server.name}
    return model.Cluster(
        address=client.connection.address,
        region=client.connection.region or (of_servers.pop() if len(of_servers) == 1 else ""),
        identity=_identity(client, unchecked),
        servers=known,
        asked_ns=client.now_ns,
        sandbox=question.sandbox,
    )


def _identity(client: nomad.Nomad, unchecked: list[doctor.Unchecked]) -> str:
    """Return the cluster's identity; empty where it has none, or the token may not read it, which is no fault."""
    try:
        return cluster_identity.of(client)
    except errors.NomadApiError as error:
        unchecked.append(doctor.Unchecked(check="the cluster's identity", reason=str(error)))
        return ""


def _verified(
    client: nomad.Nomad, question: ReportOptions, unchecked: list[doctor.Unchecked]
) -> report.VerificationReport | None:
    if question.plan is None:
        return None
    try:
        return verification.verify(client, question.plan, question.external_ids)
    except errors.NomadApiError as error:
        unchecked.append(doctor.Unchecked(check="what the spec expects", reason=str(error)))
        return None


def _running(
    client: nomad.Nomad, found: doctor.ObservedCluster, unchecked: list[doctor.Unchecked]
) -> Iterator[tuple[str, plugins.PluginStatus]]:
    """Yield statuses of plugins that run and are in no spec."""
    if isinstance(found.plugins, doctor.Unknown):
        return
    planned = {item.plugin_id for item in (found.plan.plugins if found.plan else ())}
    tasks = () if isinstance(found.tasks, doctor.Unknown) else found.tasks
    wanted = [
        _wanted(plugin, [task for task in tasks if task.plugin_id == plugin_id])
        for plugin_id, plugin in sorted(found.plugins.items())
        if plugin_id not in planned
    ]
    try:
        for seen in looking.Looker(client, wanted).look():
            yield seen.wanted.expectation.plugin_id, _explained(client, seen)
    except errors.NomadApiError as error:
        check = f"plugins that are in no spec: {doctor.named([item.expectation.plugin_id for item in wanted])}"
        unchecked.append(doctor.Unchecked(check=check, reason=str(error)))


def _wanted(plugin: nomad_plugins.Plugin, tasks: Sequence[plugin_jobs.PluginTask]) -> looking.WatchedPlugin:
    expectation = expectation_of(plugin, tasks)
    own = (job_id for namespace, job_id in plugin.jobs if namespace == expectation.namespace)
    return looking.WatchedPlugin(expectation=expectation, job_ids=tuple(sorted(own)))


def _explained(client: nomad.Nomad, seen: looking.Look) -> plugins.PluginStatus:
    if seen.status.status == plugins.HEALTHY:
        return seen.status
    fetched = explaining.explain(client, seen.wanted.expectation, seen.wanted.job_ids, seen.seen, seen.status)
    return dataclasses.replace(seen.status, causes=fetched)


def _claims(
    client: nomad.Nomad, found: doctor.ObservedCluster, question: ReportOptions, unchecked: list[doctor.Unchecked]
) -> tuple[tuple[claim_model.VolumeClaims, ...], int]:
    """Return who holds volumes, and of how many claimed ones that was not read."""
    known = [found.volumes, found.clients, found.plugins]
    if isinstance(found.volumes, doctor.Unknown):
        return (), 0
    claimed = [volume.key for volume in found.volumes if volume.claims]
    reasons = [part.reason for part in known if isinstance(part, doctor.Unknown)]
    if reasons and claimed:
        unchecked.append(doctor.Unchecked(check="who claims volumes", reason=reasons[0]))
        return (), len(claimed)
    wanted = claimed[: question.claimed_max]
    try:
        seen = volumes.read_each(client, (_key(volume) for volume in wanted))
        held = seen.volumes
        told = _of_ec2(client, held, question.aws_region, unchecked) or _of_nomad(client, found, held)
    except errors.NomadApiError as error:
        unchecked.append(doctor.Unchecked(check="who claims volumes", reason=str(error)))
        return (), len(claimed)
    unchecked += (doctor.Unchecked(check=f"who claims {item.what}", reason=item.reason) for item in seen.unread)
    hidden = sum(len(item.volume_ids) for item in seen.unread)
    return claim_status.judge(told), len(claimed) - len(wanted) + hidden


def _of_ec2(
    client: nomad.Nomad, seen: Sequence[volumes.Volume], aws_region: str, unchecked: list[doctor.Unchecked]
) -> claim_model.ObservedClaims | None:
    """Return what is known of the claims of *seen*, EC2 asked too; ``None`` where it is not, or does not tell."""
    if not aws_region:
        return None
    try:
        return reading.look(client, seen, aws_region=aws_region)
    except errors.AwsError as error:
        unchecked.append(doctor.Unchecked(check="where EC2 has claimed volumes attached", reason=str(error)))
        return None


def _of_nomad(
    client: nomad.Nomad, found: doctor.ObservedCluster, seen: Sequence[volumes.Volume]
) -> claim_model.ObservedClaims:
    """Return what is known of the claims of *seen*, without asking anything again."""
    clients = () if isinstance(found.clients, doctor.Unknown) else found.clients
    return claim_model.ObservedClaims(
        volumes=tuple(seen),
        nodes={node.node_id: node for node in clients},
        plugins={} if isinstance(found.plugins, doctor.Unknown) else found.plugins,
        ec2=None,
        now_ns=client.now_ns,
    )


def _key(shown: str) -> tuple[str, str]:
    """Return namespace and id of ``namespace/volume_id``."""
    namespace, _, volume_id = shown.partition("/")
    return namespace, volume_id
