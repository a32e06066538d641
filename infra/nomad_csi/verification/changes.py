"""What is otherwise in a report than in the one before: statuses that changed, findings that came and went. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nomad_csi import findings
from nomad_csi.health import instances, states
from nomad_csi.verification import report, volumes

NOTHING = "-"
"""In place of a status: it was not there, or is not there any more."""

_Key = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class StatusChange:
    """One thing that is otherwise than it was."""

    subject: str
    """Such as ``plugin aws-ebs0``, ``node instance of plugin aws-ebs0 on client-2`` or ``volume default/mysql``."""

    before: str
    """A status, the code of a finding, or `NOTHING`."""

    after: str
    detail: str = ""
    """How many instances are healthy, or what was found; empty where there is nothing to add."""

    def __str__(self) -> str:
        """Return ``plugin aws-ebs0: healthy -> partial (1/2 nodes)``."""
        return f"{self.subject}: {self.before} -> {self.after}{f' ({self.detail})' if self.detail else ''}"

    def as_json(self) -> dict[str, str]:
        """Return ``subject``, ``before``, ``after`` and ``detail``."""
        return {"subject": self.subject, "before": self.before, "after": self.after, "detail": self.detail}


def between(before: report.VerificationReport, after: report.VerificationReport) -> tuple[StatusChange, ...]:
    """Return what changed, plugins first, then their instances, volumes and findings."""
    statuses = (*_plugins(before, after), *_instances(before, after), *_volumes(before, after))
    told = {change.subject for change in statuses}
    return (*statuses, *(change for change in _findings(before, after) if change.subject not in told))


def _plugins(before: report.VerificationReport, after: report.VerificationReport) -> Iterator[StatusChange]:
    old = {item.plugin_id: item for item in before.plugins}
    for item in after.plugins:
        then = old.get(item.plugin_id)
        if then is not None and (then.status, then.counts) != (item.status, item.counts):
            subject = f"plugin {item.plugin_id}"
            yield StatusChange(subject=subject, before=then.status, after=item.status, detail=item.counts)


def _instances(before: report.VerificationReport, after: report.VerificationReport) -> Iterator[StatusChange]:
    """Yield changes of instances by their place: a task that was replaced there is told by its status."""
    old, new = _rows(before), _rows(after)
    for key in dict.fromkeys((*old, *new)):
        was, now = (rows[key].status if key in rows else NOTHING for rows in (old, new))
        if was != now:
            yield StatusChange(subject=key[0], before=was, after=now, detail=new[key].detail if key in new else "")


def _rows(found: report.VerificationReport) -> Mapping[_Key, instances.InstanceRow]:
    """Return rows by subject and client; of several in one place, the one that is worse off."""
    rows: dict[_Key, instances.InstanceRow] = {}
    for row in (row for item in found.plugins for row in item.instances):
        key = (row.subject, row.node_id)
        if key not in rows or rows[key].status == states.HEALTHY:
            rows[key] = row
    return rows


def _volumes(before: report.VerificationReport, after: report.VerificationReport) -> Iterator[StatusChange]:
    old = {item.key: item for item in before.volumes}
    for item in after.volumes:
        then = old.get(item.key)
        if then is not None and then.status != item.status:
            yield StatusChange(subject=f"volume {item.key}", before=then.status, after=item.status, detail=_found(item))


def _found(item: volumes.VolumeStatus) -> str:
    return "; ".join(f"{finding.code}: {finding.found}" for finding in findings.errors_of(item.findings))


def _findings(before: report.VerificationReport, after: report.VerificationReport) -> Iterator[StatusChange]:
    """Yield findings that came and went, but for those that a status tells."""
    old, new = _by_code(before), _by_code(after)
    for key in (key for key in old if key not in new):
        yield StatusChange(subject=key[1], before=key[0], after=NOTHING)
    for key, finding in new.items():
        if key not in old:
            yield StatusChange(subject=key[1], before=NOTHING, after=key[0], detail=finding.found)


def _by_code(found: report.VerificationReport) -> Mapping[_Key, findings.Finding]:
    return {(item.code, item.subject): item for item in found.findings if item.code not in states.OF_CODE}
