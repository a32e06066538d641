"""Plugins that wait at the gate, asked on their clients together: one job for all whose job would be the same."""

import dataclasses
import threading
import weakref
from collections.abc import Callable, Sequence

from nomad_csi import errors, nomad
from nomad_csi.plan import model, probe_job
from nomad_csi.probing import probe_job_plugins, probe_job_run
from nomad_csi.resources import question_batches
from nomad_csi.verification import looking

GATHER_S = 1.0
"""How long one waits for others, in seconds: plugins that are waited for are checked twice in that time."""

LEAVE_S = probe_job_run.REMOVE_S + 10.0
"""How long an interrupted job may take to be removed, with the calls to Nomad, in seconds."""

Batches = question_batches.Batches[probe_job.ProbeRun, looking.WatchedPlugin, looking.Look]
Ticket = question_batches.Ticket[probe_job.ProbeRun, looking.WatchedPlugin, looking.Look]

_LOCK = threading.Lock()
_BATCHES: weakref.WeakKeyDictionary[nomad.Nomad, Batches] = weakref.WeakKeyDictionary()


def join(client: nomad.Nomad, expectation: model.PluginExpectation, job_ids: tuple[str, ...]) -> Ticket:
    """Have the plugin asked by the job of ``expectation.on_nodes``, in the connection's region, with others."""
    run = expectation.on_nodes
    assert run is not None  # noqa: S101  # the caller has looked
    run = dataclasses.replace(run, job=dataclasses.replace(run.job, region=client.connection.region))
    return _of(client).join(run, looking.WatchedPlugin(expectation=expectation, job_ids=job_ids))


def _of(client: nomad.Nomad) -> Batches:
    """Return the batches of *client*: the same ones for every thread."""
    held = weakref.ref(client)

    def ask(
        run: probe_job.ProbeRun,
        wanted: Sequence[looking.WatchedPlugin],
        stop: threading.Event,
        tell: Callable[[str], None],
    ) -> Sequence[looking.Look]:
        there = held()
        if there is None:
            raise errors.CancelledError("the connection to Nomad is closed")
        how = probe_job_plugins.OnNodes(job=run.job, timeout_s=run.wait_s, is_strict=True, tell=tell)
        return looking.Looker(there, wanted, cancelled=stop, on_nodes=how).look()

    with _LOCK:
        return _BATCHES.setdefault(client, question_batches.Batches(ask, leave_s=LEAVE_S, gather_s=GATHER_S))
