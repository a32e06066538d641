"""Verify a whole plan: gather what there is, compare, report. Waits for nothing unless told to watch."""

import dataclasses
import functools
import threading
from collections.abc import Mapping

from nomad_csi import errors, nomad
from nomad_csi.deploy import explaining, gather, looking, minimum_version
from nomad_csi.nomad import volumes
from nomad_csi.plan import model, registration
from nomad_csi.verify import plugins, report
from nomad_csi.verify import volumes as volume_verdicts

_NONE: Mapping[str, str] = {}


def verify(
    client: nomad.Nomad,
    plan: model.StoragePlan,
    external_ids: Mapping[str, str] = _NONE,
    *,
    watch_s: float = 0.0,
    probe_timeout_s: float = gather.PROBE_TIMEOUT_S,
    cancelled: threading.Event | None = None,
) -> report.Report:
    """
    Return what is as planned and what is not.

    Args:
        client: the cluster.
        plan: what is expected.
        external_ids: external ids of storage that the plan makes, by ``namespace/volume_id``. Those that are in
            neither are not compared.
        watch_s: seconds between a first and a second look at the plugins, to see restarts; 0: one look.
        probe_timeout_s: deadline of the questions to one plugin instance.
        cancelled: ends the verification with `errors.CancelledError`.

    Raises:
        errors.NomadApiError: Nomad did not answer, or may not tell.
        errors.CancelledError: *cancelled* was set.

    """
    event = cancelled or threading.Event()
    wanted = [
        looking.Wanted(expectation=item.expectation, job_ids=tuple(job.job_id for job in item.jobs))
        for item in plan.plugins
    ]
    looker = looking.Looker(client, wanted, probe_timeout_s=probe_timeout_s, cancelled=event)
    first = looker.look() if watch_s else ()
    if watch_s and event.wait(watch_s):
        raise errors.CancelledError("cancelled while plugins were watched; nothing was changed")
    verdicts = tuple(_explained(client, seen) for seen in looker.look(first))
    return report.Report(
        plugins=verdicts,
        volumes=_volumes(client, plan, external_ids, {verdict.plugin_id: verdict for verdict in verdicts}),
        extra=minimum_version.findings_of(client, plan.plugins),
    )


def _explained(client: nomad.Nomad, seen: looking.Look) -> plugins.PluginVerdict:
    """Return the verdict with what explains it, where not everything is well."""
    if seen.verdict.verdict == plugins.HEALTHY:
        return seen.verdict
    wanted = seen.wanted
    fetched = explaining.explain(client, wanted.expectation, wanted.job_ids, seen.seen, seen.verdict)
    return dataclasses.replace(seen.verdict, causes=fetched)


def _volumes(
    client: nomad.Nomad,
    plan: model.StoragePlan,
    external_ids: Mapping[str, str],
    served_by: Mapping[str, plugins.PluginVerdict],
) -> tuple[volume_verdicts.VolumeVerdict, ...]:
    wanted = [_with_external_id(item, external_ids) for item in plan.volumes]
    there = gather.in_parallel(
        functools.partial(volumes.get, client, document.namespace, document.volume_id) for document in wanted
    )
    return tuple(
        volume_verdicts.compare_volume(
            document,
            volume,
            served_by.get(document.plugin_id),
            created=item.source if isinstance(item.source, model.CreatedVolume) else None,
        )
        for item, document, volume in zip(plan.volumes, wanted, there, strict=True)
    )


def _with_external_id(item: model.VolumePlan, external_ids: Mapping[str, str]) -> registration.VolumeRegistration:
    known = item.registration.external_id or external_ids.get(item.key, "")
    return dataclasses.replace(item.registration, external_id=known)
