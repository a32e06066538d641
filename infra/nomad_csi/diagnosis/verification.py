"""Verify a whole plan: observe, compare, report. Does not wait, except with a watch interval."""

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from nomad_csi import findings, nomad
from nomad_csi.aws import regions
from nomad_csi.clock import Clock
from nomad_csi.diagnosis import facts, read_account, read_claims, verification_report
from nomad_csi.diagnosis.rules import claim_status, drains, storage, volume_status
from nomad_csi.health import (
    explaining,
    gather,
    observation,
    plugins,
    probe_run,
)
from nomad_csi.nomad import events, nodes, version_gates, volumes
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.plan import dependents, model, registration
from nomad_csi.plan import volumes as planned
from nomad_csi.volumes import secret_safety

_NONE: Mapping[str, str] = {}


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
        wanted = [
            observation.WatchedPlugin(expectation=item.expectation, job_ids=tuple(job.job_id for job in item.jobs))
            for item in plan.plugins
        ]
        self._client = client
        self._plan = plan
        self._external_ids = external_ids
        self._aws = aws
        self._observer = observation.Observer(client, wanted, probe_timeout_s=probe_timeout_s, on_nodes=on_nodes)
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
        there = self._there()
        checks = self._observer.observe(before, needs=self._needs(there))
        statuses = tuple(_explained(self._client, seen) for seen in checks)
        deep = [item for seen in checks for item in seen.deep]
        records = {seen.status.plugin_id: seen.seen.plugin for seen in checks}
        records |= self._others(there, records)
        on_storage = tuple(self._storage(there))
        deep += [item for item in on_storage if isinstance(item, findings.Finding)]
        statuses_on_volumes = self._volumes(there, records, statuses, deep)
        own = {f"volume {item.key}" for item in statuses_on_volumes}
        found = verification_report.VerificationReport(
            plugins=statuses,
            volumes=statuses_on_volumes,
            extra=(
                *(item for item in deep if item.subject not in own),
                *self._clients_of_claims(there, records, checks),
                *read_claims.failing_mounts(
                    self._client, {volumes.key_of(volume): volume.plugin_id for volume in there if volume is not None}
                ),
                *version_gates.findings_of(self._client, self._plan.plugins),
            ),
            unchecked=tuple(item for item in on_storage if isinstance(item, facts.Unchecked)),
        )
        self._before = checks
        return found

    @property
    def clock(self) -> Clock:
        """The clock of the connection, for the waits between rounds."""
        return self._client.clock

    def events(self, tell: Callable[[str], None]) -> events.Events:
        """Return change events of the plan's objects; *tell* logs once if there is no event stream."""
        return events.Events(self._client, self._topics, tell)

    def _topics(self) -> tuple[str, ...]:
        """
        Return the topics for `events.Events`: plugins, the allocations of their jobs, clients, volumes.

        Volumes only if every server is known to be new enough: on an older one this can erase their secrets.
        """
        is_harmless = bool(self._plan.volumes) and secret_safety.is_excluded(self._client)
        return (
            *sorted({f"CSIPlugin:{item.plugin_id}" for item in self._plan.plugins}),
            *sorted({f"Allocation:{job.job_id}" for item in self._plan.plugins for job in item.jobs}),
            "Node",
            *sorted({f"CSIVolume:{item.registration.volume_id}" for item in self._plan.volumes if is_harmless}),
        )

    def _there(self) -> list[volumes.Volume | None]:
        """Return the registered volume for each volume of the plan."""
        return list(volumes.get_many(self._client, [volumes.key_of(item.registration) for item in self._plan.volumes]))

    def _storage(self, there: Sequence[volumes.Volume | None]) -> Iterator[facts.Outcome]:
        """Yield volumes whose storage is gone by AWS, or that this is not known."""
        if self._aws is None:
            return
        examined = [
            facts.ExaminedVolume(
                key=item.key,
                external_id=held.external_id if held else _external_id(item, self._external_ids),
                plugin_id=item.registration.plugin_id,
                segments=held.topologies if held else item.registration.required_topologies,
                is_registered=held is not None,
            )
            for item, held in zip(self._plan.volumes, there, strict=True)
        ]
        region = self._aws.region(place for item in examined for place in item.segments)
        yield from storage.missing(read_account.read_storage([item.external_id for item in examined], region), examined)

    def _needs(self, there: Iterable[volumes.Volume | None]) -> probe_run.ProbedVolumes:
        """Return the volumes that controllers may validate; only the plan knows which ones have secrets."""
        wanted = [item.registration for item in self._plan.volumes]
        return probe_run.ProbedVolumes(
            registered=tuple(item for item in there if item is not None),
            with_secrets=frozenset((item.namespace, item.volume_id) for item in wanted if item.secrets),
        )

    def _volumes(
        self,
        there: Sequence[volumes.Volume | None],
        records: Mapping[str, plugin_records.Plugin | None],
        statuses: Iterable[plugins.PluginStatus],
        deep: Iterable[findings.Finding],
    ) -> tuple[volume_status.VolumeStatus, ...]:
        wanted = [planned.desired_document(item, self._external_ids) for item in self._plan.volumes]
        served_by = {item.plugin_id: item for item in statuses}
        other_findings: dict[str, list[findings.Finding]] = defaultdict(list)
        for item in deep:
            other_findings[item.subject].append(item)
        for dependent in dependents.find(self._plan.volumes, _made(self._plan.volumes, wanted, there)):
            other_findings[f"volume {dependent.key}"].append(volume_status.dependent(dependent))
        for held in there:
            if held is not None and held.plugin_id in records:
                record = records[held.plugin_id]
                healthy = sum(item.healthy for item in record.controllers) if record else 0
                other_findings[f"volume {held.key}"] += claim_status.find_missing_controller(
                    held, record, healthy=healthy
                )
        return tuple(
            volume_status.judge_volume(
                document,
                held,
                served_by.get(document.plugin_id),
                made_by_plugin=planned_volume.made_by_plugin,
                others=other_findings[f"volume {document.key}"],
            )
            for planned_volume, document, held in zip(self._plan.volumes, wanted, there, strict=True)
        )

    def _clients_of_claims(
        self,
        there: Iterable[volumes.Volume | None],
        records: Mapping[str, plugin_records.Plugin | None],
        checks: Sequence[observation.Observation],
    ) -> Iterator[findings.Finding]:
        """Yield findings on clients that drain or are down with claims on the plan's volumes; may list the clients."""
        claimed = [volume for volume in there if volume is not None and volume.claims]
        if claimed:
            clients = checks[0].clients if checks else nodes.list_nodes(self._client)
            yield from drains.check(claimed, records, clients)
            known = {node.node_id: node for node in clients}
            seen = claim_status.ObservedClaims(volumes=tuple(claimed), nodes=known, plugins={}, ec2=None, now_ns=0)
            yield from claim_status.find_lost_clients(claim_status.judge(seen))

    def _others(
        self, there: Iterable[volumes.Volume | None], served: Collection[str]
    ) -> dict[str, plugin_records.Plugin | None]:
        """Return Nomad's records of plugins of claimed volumes that are not in the plan: one call for each."""
        ids = sorted({volume.plugin_id for volume in there if volume is not None and volume.claims}.difference(served))
        records = gather.run_in_parallel(functools.partial(plugin_records.get, self._client, item) for item in ids)
        return dict(zip(ids, records, strict=True))


def _external_id(item: model.VolumePlan, external_ids: Mapping[str, str]) -> str:
    return item.registration.external_id or external_ids.get(item.key, "")


def _explained(client: nomad.Nomad, seen: observation.Observation) -> plugins.PluginStatus:
    """Return the status, with its causes if it is not healthy."""
    if seen.status.status == plugins.HEALTHY:
        return seen.status
    wanted = seen.wanted
    fetched = explaining.explain(client, wanted.expectation, wanted.job_ids, seen.seen, seen.status)
    return dataclasses.replace(seen.status, causes=(*explaining.recorded(seen.status), *fetched))


def _made(
    planned: Iterable[model.VolumePlan],
    wanted: Iterable[registration.VolumeRegistration],
    there: Iterable[volumes.Volume | None],
) -> dict[str, str]:
    """Return the external ids of storage that the plan creates, by key: from the stack's output, else from Nomad."""
    return {
        item.key: document.external_id or (volume.external_id if volume else "")
        for item, document, volume in zip(planned, wanted, there, strict=True)
        if not item.made_by_plugin and item.source
    }
