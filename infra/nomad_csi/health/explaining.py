"""
Causes of an unhealthy plugin: the last lines of its logs, and matching known issues of its driver.

Fetched only for an unhealthy plugin, for a few instances: the number of calls does not grow with the cluster.
"""

from nomad_csi import errors, nomad
from nomad_csi.drivers import catalogue
from nomad_csi.health import events, observed_plugin, plugins
from nomad_csi.nomad import jobs
from nomad_csi.plan import model

LOGS = 3
"""Instances whose events are shown and whose logs are read."""

TIMEOUT_S = 10.0
"""For one log: the client serves it, and may be down."""


def explain(
    client: nomad.Nomad,
    expectation: model.PluginExpectation,
    observed: observed_plugin.ObservedPlugin,
    status: plugins.PluginStatus,
) -> tuple[events.Cause, ...]:
    """Return the causes of *status*. What cannot be read becomes a note."""
    known = [observed.find_allocation(row.alloc_id) for row in status.instances if row.code]
    sick = [item.allocation for item in known if item]
    shown = list({item.alloc_id: item for item in (*sick, *status.unserved)}.values())[:LOGS]
    causes = [cause for item in shown for cause in _log(client, expectation.namespace, item)]
    evidence = [event.message for item in shown for event in item.task_events]
    evidence += [cause.text for cause in causes]
    evidence += [row.detail for row in status.instances]
    driver = catalogue.DRIVERS.get(expectation.driver)
    return (*events.cause_of_known_issues(driver, evidence), *causes)


def recorded(status: plugins.PluginStatus) -> tuple[events.Cause, ...]:
    """Return the events of the tasks without a healthy instance, such as a refused image: of a few allocations."""
    return events.explain([item for item in status.unserved if events.explain([item])][:LOGS])


def _log(client: nomad.Nomad, namespace: str, allocation: jobs.Allocation) -> tuple[events.Cause, ...]:
    """Return the last lines of a task's stderr, else of its stdout; or why they cannot be read."""
    where = events.on_client(allocation)
    task = next((event.task for event in reversed(allocation.task_events)), "")
    if not task:
        return ()
    try:
        for stream in ("stderr", "stdout"):
            text = jobs.tail_log(client, namespace, allocation.alloc_id, task, stream=stream, timeout_s=TIMEOUT_S)
            if lines := events.cause_of_log(where, text):
                return lines
    except errors.NomadApiError as error:
        why = f"{error.message}; {error.advice}" if error.advice else error.message
        return (events.Cause(kind="note", where=where, text=f"its log cannot be read: {why}"),)
    return (events.Cause(kind="note", where=where, text="its log is empty"),)
