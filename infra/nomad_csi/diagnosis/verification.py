"""Verify a whole plan: its facts, and the rounds of one verifier. Does not wait, except with a watch interval."""

from collections.abc import Mapping

from nomad_csi import nomad
from nomad_csi.aws import regions
from nomad_csi.clock import Clock
from nomad_csi.diagnosis import facts, judge, read_account, verification_report
from nomad_csi.health import gather, observation, probe_run
from nomad_csi.nomad import nodes
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.nomad import volumes as nomad_volumes
from nomad_csi.plan import model

_NONE: Mapping[str, str] = {}


def watched(plan: model.StoragePlan | None) -> list[observation.WatchedPlugin]:
    """Return the plugins of *plan*, with their jobs."""
    return [
        observation.WatchedPlugin(expectation=item.expectation, job_ids=tuple(job.job_id for job in item.jobs))
        for item in (plan.plugins if plan else ())
    ]


class PlanFacts(facts.Facts):
    """
    The facts of a plan's plugins and volumes. No list is read whose size is that of the cluster, but the clients.

    Args:
        client: the cluster.
        plan: the desired state.
        external_ids: external ids of storage that the plan creates, by ``namespace/volume_id``.
        aws: the region in which AWS is queried; ``None``: AWS is not part of the checks.
        observer: observes the plugins of the plan.
        before: an earlier check: an instance that restarted since then is not healthy.

    """

    needs_answers = True

    def __init__(
        self,
        client: nomad.Nomad,
        plan: model.StoragePlan,
        external_ids: Mapping[str, str],
        *,
        aws: regions.Choice | None,
        observer: observation.Observer,
        before: tuple[observation.Observation, ...],
    ) -> None:
        super().__init__(client, plan, external_ids, aws=aws)
        self._observer = observer
        self._before = before

    @facts.part
    def servers(self) -> tuple[nodes.Server, ...]:
        """The servers; none where no driver of the plan needs a version of Nomad."""
        if not any(item.minimum_nomad for item in self.planned_plugins):
            return ()
        return facts.permitted(lambda: nodes.list_servers(self.client))

    @facts.part
    def clients(self) -> tuple[nodes.Node, ...]:
        """The clients, as they were listed after the instances of the plugins."""
        if observed := facts.value(self.observed):
            return observed[0].clients
        return nodes.list_nodes(self.client) if facts.value(self.claimed) else ()

    @facts.part
    def plugins(self) -> Mapping[str, plugin_records.Plugin]:
        """The plugins of the plan, and of its volumes as they are registered."""
        records = {observed.status.plugin_id: observed.plugin.plugin for observed in facts.value(self.observed)}
        others = {item.plugin_id for item in facts.value(self.registered).values() if item} - set(records)
        existing = {plugin_id: record for plugin_id, record in records.items() if record is not None}
        return existing | facts.read_plugins(self.client, sorted(others))

    @facts.part
    def plugin_jobs(self) -> facts.ObservedPluginJobs:
        """None: jobs are compared with the plan as far as they concern the health of its plugins."""
        return facts.ObservedPluginJobs()

    @facts.part
    def volumes(self) -> tuple[facts.ExaminedVolume, ...]:
        """The volumes of the plan, registered or not."""
        registered = facts.value(self.registered)
        return tuple(
            facts.examined(actual, item) if (actual := registered[item.key]) else self.unregistered(item)
            for item in self.planned_volumes
        )

    @facts.part
    def claims_read(self) -> nomad_volumes.Read:
        """The claimed volumes of the plan."""
        claimed = tuple(item for item in facts.value(self.registered).values() if item and item.claims)
        return nomad_volumes.Read(volumes=claimed)

    @facts.part
    def observed(self) -> tuple[observation.Observation, ...]:
        """The plugins of the plan with their health."""
        return self._observer.observe(self._before)

    @facts.part
    def storage(self) -> facts.KnownStorage | None:
        """The storage of the volumes; ``None``: not part of this check."""
        if self.aws is None:
            return None
        examined = facts.value(self.volumes)
        region = self.aws.region(each for item in examined for each in item.segments)
        return read_account.read_storage([item.external_id for item in examined], region)


class Verifier:
    """
    Verifies one plan repeatedly. An instance that restarted since the last run is not healthy in this run.

    Not thread-safe.

    Args:
        client: the cluster.
        plan: the desired state.
        external_ids: external ids of storage that the plan creates, by ``namespace/volume_id``. Those in
            neither are not compared.
        probe_timeout_s: timeout of the probe of one plugin instance.
        on_nodes: how a job probes instances on their clients; ``None``: probe only those with sockets on this machine.
        aws: the region in which AWS is asked whether the volumes' storage exists; ``None``: not part of this check.

    """

    def __init__(
        self,
        client: nomad.Nomad,
        plan: model.StoragePlan,
        external_ids: Mapping[str, str] = _NONE,
        *,
        probe_timeout_s: float = gather.PROBE_TIMEOUT_S,
        on_nodes: probe_run.OnNodes | None = None,
        aws: regions.Choice | None = None,
    ) -> None:
        self._client = client
        self._plan = plan
        self._external_ids = external_ids
        self._aws = aws
        self._observer = observation.Observer(client, watched(plan), probe_timeout_s=probe_timeout_s, on_nodes=on_nodes)
        self._before: tuple[observation.Observation, ...] = ()

    def verify(self, *, watch_s: float = 0.0) -> verification_report.VerificationReport:
        """
        Return the report on the plan; a run that ends with an error does not count.

        *watch_s*: seconds between a first and a second check of the plugins, to detect restarts; 0: one check.

        Raises:
            errors.NomadApiError: Nomad did not respond, or the token lacks a capability.
            errors.NomadCsiError: the job on the clients could not be removed; with the command that does.

        """
        before = self._before
        if watch_s:
            before = self._observer.observe(is_first=True)
            self.clock.sleep(watch_s)
        cluster = PlanFacts(
            self._client, self._plan, self._external_ids, aws=self._aws, observer=self._observer, before=before
        )
        report = verification_report.of(cluster, judge.outcomes(cluster, "verify"))
        self._before = facts.value(cluster.observed)
        return report

    @property
    def clock(self) -> Clock:
        """The clock of the connection, for the waits between rounds."""
        return self._client.clock
