"""What is wrong with one instance, as findings with what to do."""

from collections.abc import Iterator

from nomad_csi import findings
from nomad_csi.health import instances
from nomad_csi.plan import model


def check(
    expectation: model.PluginExpectation, row: instances.InstanceRow, *, tolerated: bool
) -> Iterator[findings.Finding]:
    """Yield what is wrong with the instance of *row*: a warning where enough others are healthy (*tolerated*)."""
    severity: findings.Severity = "warning" if tolerated and row.status != "wrong-identity" else "error"
    if row.code == "node-missing":
        shown = f"none ({row.detail})" if row.detail else "none"
        yield findings.finding(row.code, row.subject, severity=severity, expected="a healthy instance", found=shown)
    elif row.is_extra:
        yield findings.finding("instance-extra", row.subject, expected="none", found=row.detail)
    elif row.code:
        expected = _wanted_of(expectation, row)
        yield findings.finding(row.code, row.subject, severity=severity, expected=expected, found=row.detail)
    elif expectation.evidence == "csi" and row.evidence != "csi":
        shown = f"only Nomad's status: {row.csi.detail}"
        expected = "its own answers over its CSI socket"
        yield findings.finding("csi-unverified", row.subject, expected=expected, found=shown)


def _wanted_of(expectation: model.PluginExpectation, row: instances.InstanceRow) -> str:
    supports = expectation.controller_supports if row.role == "controller" else expectation.node_supports
    known = {
        "instance-capability-missing": f"an instance that supports {', '.join(supports)}"
        if supports
        else "an instance that serves its role",
        "instance-duplicate": "one instance on each client",
        "provider-differs": expectation.provider,
        "version-differs": f"version {expectation.version}",
        "instance-zone-differs": "the zone of its client",
    }
    return known.get(row.code, "a healthy instance")
