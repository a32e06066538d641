"""All checks, in the order of the documentation. Pure."""

from collections.abc import Iterator

from nomad_csi.diagnosis import doctor_report, facts
from nomad_csi.diagnosis.rules import clients, machines, registrations, storage, token, topology, versions
from nomad_csi.findings import Finding, causes


def judge(found: facts.ObservedCluster) -> doctor_report.DoctorReport:
    """Return findings, and checks that could not be made, each once."""
    outcomes = tuple(dict.fromkeys(_outcomes(found)))
    return doctor_report.DoctorReport(
        findings=causes.assign(item for item in outcomes if isinstance(item, Finding)),
        unchecked=tuple(item for item in outcomes if isinstance(item, facts.Unchecked)),
    )


def _outcomes(found: facts.ObservedCluster) -> Iterator[facts.Outcome]:
    for check in (
        versions.check,
        clients.check,
        token.check,
        registrations.check_plugins,
        registrations.check_owner_records,
        topology.check,
    ):
        yield from check(found)
    for job, reason in sorted(found.hidden_jobs.items()):
        yield facts.Unchecked(check=f"how plugins are run by job {job}", reason=reason)
    if found.account is None:
        return
    account = yield from facts.known(found.account, "instances, roles, storage and orphans in AWS")
    if account is not None:
        for ask in (machines.check, storage.check, registrations.check_left_over):
            yield from ask(found, account)
