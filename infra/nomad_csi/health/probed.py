"""
Join the probe results of plugin instances on their clients with Nomad's records. Pure.

An instance without a probe result never counts as healthy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nomad_csi import findings
from nomad_csi.csi import records
from nomad_csi.health import instances, observed_plugin
from nomad_csi.nomad import plugins, volumes
from nomad_csi.text import foreign, table

NO_ANSWER = observed_plugin.NO_ANSWER
"""Status of an instance that could not be probed."""

WIDTH = 120


@dataclass(frozen=True, kw_only=True)
class ClientAnswer:
    """Probe results of one client."""

    problem: str = ""
    """Why there is no result, or only a part; empty: it is complete."""

    advice: str = ""
    """Next step; empty: part of the problem."""

    reports: Mapping[str, records.ProbeReport] = field(default_factory=dict)
    """By allocation id."""


@dataclass(frozen=True, kw_only=True)
class ProbedInstance:
    """One instance in one role."""

    role: str
    node_id: str
    node_name: str
    alloc_id: str
    status: str
    """A `report.Status`, or `NO_ANSWER`."""

    detail: str
    report: records.ProbeReport | None

    @property
    def ready(self) -> bool:
        """Whether its probe status is ready."""
        return self.status == "ready"


@dataclass(frozen=True, kw_only=True)
class ProbedPlugin:
    """All instances of a plugin."""

    plugin_id: str
    rows: tuple[ProbedInstance, ...]

    @property
    def ok(self) -> bool:
        """Whether there are instances, and all of them are ready by their probes."""
        return bool(self.rows) and all(row.ready for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """Return the result as data."""
        names = ("role", "node_id", "node_name", "alloc_id", "status", "detail")
        shown = [
            {name: getattr(row, name) for name in names} | {"report": row.report.as_json() if row.report else None}
            for row in self.rows
        ]
        return {"plugin_id": self.plugin_id, "ok": self.ok, "instances": shown}

    def as_table(self, width: int = WIDTH) -> str:
        """Return the result as text: a line for each instance, and the sum."""
        rows = [
            (row.role, row.node_name or row.node_id, row.alloc_id[:8], row.status, row.detail or "-")
            for row in self.rows
        ]
        ready = sum(row.ready for row in self.rows)
        total = f"plugin {self.plugin_id}: {ready} of {len(self.rows)} instances are ready"
        parts = [table.columns([("role", "client", "allocation", "status", "detail"), *rows], width)] if rows else []
        return "\n".join([*parts, total])


def judge(
    plugin: plugins.Plugin, names: Mapping[str, str], answers: Mapping[str, ClientAnswer]
) -> tuple[ProbedInstance, ...]:
    """
    Return a row for each instance in Nomad's record of *plugin*, controllers first.

    *names* are the clients' names, and *answers* their probe results, both by node id.
    """
    rows: list[ProbedInstance] = []
    for item in instances.all_of(plugin):
        answer = answers.get(item.node_id)
        reported = answer.reports.get(item.alloc_id) if answer else None
        status, detail = _status(item.role, answer, reported)
        row = ProbedInstance(
            role=item.role,
            node_id=item.node_id,
            node_name=names.get(item.node_id, ""),
            alloc_id=item.alloc_id,
            status=status,
            detail=foreign.clean(detail),
            report=reported,
        )
        rows.append(row)
    return tuple(rows)


def merged(
    provider: str, role: observed_plugin.Role, alloc_id: str, answer: ClientAnswer | None
) -> observed_plugin.Probed:
    """
    Return the probe result of an instance from its client's answer, for a health status.

    *provider* is the name that it must report.
    """
    reported = answer.reports.get(alloc_id) if answer else None
    status, detail = _status(role, answer, reported)
    if status == NO_ANSWER:
        return observed_plugin.Probed(
            reached=False, status=NO_ANSWER, detail=detail, advice=answer.advice if answer else ""
        )
    name = reported.name if reported else ""
    if status == "ready" and name != provider:
        status, detail = "wrong-name", f"name: expected {provider}, got {name}"
    return observed_plugin.Probed(
        reached=True,
        healthy=status == "ready",
        status=status,
        provider=name,
        version=reported.vendor_version if reported else "",
        detail=f"{status}: {detail}" if detail else "",
    )


def _status(role: str, answer: ClientAnswer | None, report: records.ProbeReport | None) -> tuple[str, str]:
    if report is None:
        if answer is None or answer.problem:
            return NO_ANSWER, answer.problem if answer else "the client was not asked"
        return "missing", "its client was asked, and the allocation has no folder with a socket there"
    serves: Sequence[str] | None = report.controller_capabilities
    if role == "node":
        serves = report.node_capabilities
    if report.ready and serves is None:
        return "wrong-role", f"Nomad knows it as a {role}, and it serves no such part of CSI"
    return report.status, "" if report.ready else report.detail


# Controllers' responses on registered volumes (``ValidateVolumeCapabilities``).


def judge_volumes(
    needs: Sequence[volumes.Volume], answers: Mapping[records.Key, records.Validated]
) -> tuple[findings.Finding, ...]:
    """Return findings from a controller's responses on the registered volumes *needs*."""
    return tuple(
        _finding(item, answer)
        for item in needs
        if (answer := answers.get(volumes.key_of(item))) and not answer.confirmed
    )


def _finding(volume: volumes.Volume, answer: records.Validated) -> findings.Finding:
    uses = ", ".join(f"{item.access_mode} {item.attachment_mode}" for item in volume.capabilities)
    missing = answer.code == "NOT_FOUND"
    is_refused = answer.code and not missing
    return findings.finding(
        "volume-unknown" if missing else "volume-unconfirmed",
        f"volume {volume.key}",
        expected=f"a plugin that knows {volume.external_id} and confirms {uses}",
        found=foreign.clean(f"{answer.code or 'not confirmed'}: {answer.message or 'without output'}"),
        advice="check the controller's log; if it needs secrets, name them with --secrets" if is_refused else "",
    )
