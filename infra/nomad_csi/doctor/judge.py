"""All checks, in the order of the documentation. Pure."""

from collections.abc import Iterator

from nomad_csi.doctor import (
    clients,
    left_over,
    machines,
    marks,
    model,
    places,
    plugin_state,
    report,
    storage,
    token,
    versions,
)
from nomad_csi.findings import Finding


def judge(found: model.ObservedCluster) -> report.DoctorReport:
    """Return findings, and what could not be checked, each once."""
    outcomes = tuple(dict.fromkeys(_outcomes(found)))
    return report.DoctorReport(
        findings=tuple(item for item in outcomes if isinstance(item, Finding)),
        unchecked=tuple(item for item in outcomes if isinstance(item, model.Unchecked)),
    )


def _outcomes(found: model.ObservedCluster) -> Iterator[model.Outcome]:
    for check in (versions.check, clients.check, token.check, plugin_state.check, marks.check, places.check):
        yield from check(found)
    for job, reason in sorted(found.hidden_jobs.items()):
        yield model.Unchecked(check=f"how plugins are run by job {job}", reason=reason)
    if found.account is None:
        return
    if isinstance(found.account, model.Unknown):
        reason = found.account.reason
        yield model.Unchecked(
            check="instances, roles, storage and orphans in AWS",
            reason=reason,
            is_expected=found.account.is_expected,
        )
        return
    for ask in (machines.check, storage.check, left_over.check):
        yield from ask(found, found.account)
