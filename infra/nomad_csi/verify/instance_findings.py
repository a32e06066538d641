"""What is wrong with one instance, as findings with what to do."""

from collections.abc import Iterator, Mapping

from nomad_csi.plan import model
from nomad_csi.verify import findings, instances

ADVICE: Mapping[str, str] = {
    "capability-missing": "compare image and arguments with the type of the csi_plugin block",
    "csi-failed": "look at the instance's logs with `nomad alloc logs -stderr`",
    "csi-unproven": "run the verification with --on-nodes, or as root on that client; or set verify.proof to nomad",
    "instance-duplicate": "stop one of the two jobs: one plugin id runs once on a client",
    "instance-extra": "nothing to do, if it is known to run there",
    "instance-flapping": "look why its task ends, with `nomad alloc status` and `nomad alloc logs -stderr`",
    "instance-hung": "look at its logs, then restart its allocation with `nomad alloc restart`",
    "instance-outdated": "wait for the rolling update, or look at the job's deployment",
    "instance-restarted": "look why its task ended, with `nomad alloc status`, and again in a minute",
    "instance-starting": "wait; its task has not had any trouble yet",
    "instance-unhealthy": "look at its task events with `nomad alloc status`, then at `nomad alloc logs -stderr`",
    "node-missing": "look at the allocation on that client with `nomad alloc status`",
    "provider-differs": "another driver answers under this plugin id: correct the image or command",
    "version-differs": "correct the image, or wait for a rolling update to end",
    "zone-differs": "correct where the driver takes its zone from: instance metadata, or an argument",
}
"""What to do about a finding of that code."""


def check(
    expectation: model.PluginExpectation, row: instances.InstanceRow, *, tolerated: bool
) -> Iterator[findings.Finding]:
    """Yield what is wrong with the instance of *row*: a warning where enough others are healthy (*tolerated*)."""
    severity: findings.Severity = "warning" if tolerated and row.verdict != "wrong-identity" else "error"
    if row.code == "node-missing":
        shown = f"none ({row.detail})" if row.detail else "none"
        yield _finding(row, row.code, "a healthy one", shown, severity=severity)
    elif row.is_extra:
        yield _finding(row, "instance-extra", "none", row.detail, severity="warning")
    elif row.code:
        yield _finding(row, row.code, _wanted_of(expectation, row), row.detail, severity=severity)
    elif expectation.proof == "csi" and row.proven_by != "csi":
        shown = f"Nomad's word only: {row.csi.detail}"
        yield _finding(row, "csi-unproven", "its own answers over its CSI socket", shown)


def _wanted_of(expectation: model.PluginExpectation, row: instances.InstanceRow) -> str:
    supports = expectation.controller_supports if row.role == "controller" else expectation.node_supports
    known = {
        "capability-missing": f"one that can {', '.join(supports)}" if supports else "one that serves its role",
        "instance-duplicate": "one on each client",
        "provider-differs": expectation.provider,
        "version-differs": f"version {expectation.version}",
        "zone-differs": "the zone of its client",
    }
    return known.get(row.code, "a healthy one")


def _finding(
    row: instances.InstanceRow, code: str, expected: str, shown: str, *, severity: findings.Severity = "error"
) -> findings.Finding:
    return findings.Finding(
        code=code, subject=row.subject, severity=severity, expected=expected, found=shown, advice=ADVICE[code]
    )
