"""
What Nomad says of instances against what their sockets said, and which sockets said nothing. Pure.

A status takes the graver word. That the two differ is told besides: Nomad asks every 30 s, so its word is an old one.
Source: hashicorp/nomad, ``client/pluginmanager/csimanager/instance.go`` (``managerFingerprintInterval``), 2026-08-21.
"""

from collections.abc import Iterator

from nomad_csi import findings
from nomad_csi.health import found, instances, policy
from nomad_csi.plan import model
from nomad_csi.text import foreign, listing

DISAGREES = "nomad-disagrees"
NOT_ASKED = "socket-not-asked"

_Rows = tuple[instances.InstanceRow, ...]
_SICK = frozenset({"not-ready", "missing", "silent", "error"})
"""Answers that Nomad would call unhealthy; another name or role it does not check."""

_SINCE = (
    "it became unhealthy after Nomad's last check (every 30 s): check its logs, then restart its allocation with "
    "`nomad alloc restart {alloc}`"
)
_BACK = "Nomad reports it up to 35 s later: check again in a minute, then the log of that client's agent"
_UNKNOWN = "Nomad counts it after its first answer: check again in a minute, then the log of that client's agent"


def check(
    expectation: model.PluginExpectation, plugin_found: found.PluginFound, rows: _Rows, expected: int
) -> Iterator[findings.Finding]:
    """Yield where both words differ, and, by reason, the instances whose clients gave no answer."""
    for row in rows:
        yield from _differing(row)
    yield from _unknown(expectation, plugin_found, rows)
    yield from _silent(expectation, rows, expected)


def _differing(row: instances.InstanceRow) -> Iterator[findings.Finding]:
    said = foreign.clean(row.csi.detail)
    if row.nomad == "healthy" and row.csi.reached and row.csi.status in _SICK:
        yield _disagreement(row.subject, f"Nomad: healthy; its socket: {said}", _SINCE.format(alloc=row.alloc_id[:8]))
    elif row.nomad == "unhealthy" and row.csi.healthy:
        yield _disagreement(row.subject, "Nomad: unhealthy; its socket: ready", _BACK)
    elif row.nomad == "none" and row.csi.healthy:
        yield _disagreement(row.subject, "Nomad: no instance; its socket: ready", _UNKNOWN)


def _unknown(
    expectation: model.PluginExpectation, plugin_found: found.PluginFound, rows: _Rows
) -> Iterator[findings.Finding]:
    """Yield controllers that answer and that Nomad does not count: they have no row."""
    shown = {(row.alloc_id, row.role) for row in rows}
    for (alloc_id, role), said in plugin_found.probed.items():
        if (alloc_id, role) not in shown and said.healthy:
            ran = plugin_found.of_allocation(alloc_id)
            where = ran.allocation.node_name if ran else alloc_id[:8]
            kind = "controller" if role == "controller" else "node instance"
            subject = f"{kind} of plugin {expectation.plugin_id} on {where}"
            yield _disagreement(subject, "Nomad: no instance; its socket: ready", _UNKNOWN)


def _disagreement(subject: str, shown: str, advice: str) -> findings.Finding:
    return findings.finding(
        DISAGREES,
        subject,
        severity="warning",
        expected="the same status from Nomad and from its socket",
        found=shown,
        advice=advice,
    )


def _silent(expectation: model.PluginExpectation, rows: _Rows, expected: int) -> Iterator[findings.Finding]:
    """Yield one finding for each reason: of a large cluster they would be hundreds."""
    groups: dict[tuple[findings.Severity, str, str], list[instances.InstanceRow]] = {}
    lenient = {role: _is_verified(expectation, rows, expected, role) for role in ("node", "controller")}
    for row in rows:
        if row.csi.status == found.NO_ANSWER:
            severity: findings.Severity = "warning" if row.is_extra or lenient[row.role] else "error"
            groups.setdefault((severity, row.csi.detail, row.csi.advice), []).append(row)
    asked = sum(row.csi.status != "" for row in rows)
    for (severity, why, advice), silent in groups.items():
        yield findings.finding(
            NOT_ASKED,
            f"plugin {expectation.plugin_id}",
            severity=severity,
            expected="an answer over the socket of every instance",
            found=f"none from {len(silent)} of {asked}, on {_named(silent)}: {foreign.clean(why)}",
            advice=advice,
        )


def _is_verified(expectation: model.PluginExpectation, rows: _Rows, expected: int, role: str) -> bool:
    """Return whether those of *role* that answered themselves are enough; nothing less than all, unless a policy is."""
    well = tuple(row for row in rows if row.role == role and not row.code and not row.is_extra and row.csi.healthy)
    if role == "controller":
        return bool(well) and len(well) >= expectation.controllers
    return not policy.is_strict(expectation) and not any(
        policy.check(expectation, policy.counted(rows), well, expected)
    )


def _named(rows: list[instances.InstanceRow]) -> str:
    return listing.shortened(list(dict.fromkeys(row.node_name for row in rows)))
