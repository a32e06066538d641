"""
``doctor``: the preflight check of a cluster and an account, and its result as data and as a table.

Read-only, except for `fix`, which sets tags. Data that cannot be read is reported, and does not block other checks.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi import exit_codes, nomad
from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.diagnosis import facts, judge, read_account
from nomad_csi.diagnosis.facts import Unchecked
from nomad_csi.findings import Finding, causes, errors_of, printing
from nomad_csi.plan import iam
from nomad_csi.plan import model as plans

WIDTH = 100


@dataclass(frozen=True, kw_only=True)
class DoctorReport:
    """Findings, and checks that could not be made."""

    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    aws_region: str = ""
    """Region of the requests to AWS; empty: none were made."""

    @property
    def ok(self) -> bool:
        """Whether there is no finding with severity error, and no check failed."""
        return not self.exit_code

    @property
    def exit_code(self) -> int:
        """0: no errors. 1: findings with severity error. 2: no such finding, but a check could not be made."""
        if errors_of(self.findings):
            return exit_codes.CHANGES
        return exit_codes.ERROR if any(not item.is_expected for item in self.unchecked) else 0

    @property
    def untagged(self) -> tuple[str, ...]:
        """EBS volumes that lack the tag of the policy."""
        return tuple(sorted({key for item in self.findings for key in item.external_ids}))

    def as_json(self) -> dict[str, Any]:
        """
        Return the report as JSON values. Keys are kept once released.

        ``{"ok": bool, "findings": [...], "not_checked": [...]}``. A finding has ``code``, ``severity``, ``subject``,
        ``evidence``, ``fix`` and ``external_ids``; what was not checked has ``check``, ``reason`` and ``is_expected``.
        """
        return {
            "ok": self.ok,
            "findings": printing.as_json(self.findings, printing.EXAMINED),
            "not_checked": [dataclasses.asdict(item) for item in self.unchecked],
        }

    def as_table(self, width: int = WIDTH, *, colour: bool = False) -> str:
        """Return the report as text of at most *width* columns if possible, ending in a newline."""
        parts = [printing.as_text(self.findings, width, colour=colour)] if self.findings else []
        parts += ["\n".join(item.lines(width)) for item in self.unchecked]
        return "\n".join([*parts, self._total()]) + "\n"

    def _total(self) -> str:
        skipped = sum(item.is_expected for item in self.unchecked)
        parts = {"not checked": len(self.unchecked) - skipped, "left out": skipped}
        return ", ".join(
            [printing.totals(self.findings), *(f"{count} {name}" for name, count in parts.items() if count)]
        )


# The preflight check.

_NONE: Mapping[str, str] = {}


def examine(
    client: nomad.Nomad,
    plan: plans.StoragePlan | None = None,
    external_ids: Mapping[str, str] = _NONE,
    *,
    aws: regions.Choice = regions.BY_STORAGE,
) -> DoctorReport:
    """
    Return findings, and checks that could not be made.

    Args:
        client: the cluster.
        plan: the desired state, checked besides the observed one; ``None``: only the observed state is checked.
        external_ids: external ids of storage that the plan creates, by ``namespace/volume_id``.
        aws: region of the requests to AWS; by default the region of clients and volumes, or of the environment.

    Raises `errors.NomadApiError` if Nomad does not answer.

    """
    cluster = read_account.AccountFacts(client, plan, external_ids, aws=aws)
    facts.read_lists(cluster)
    return dataclasses.replace(examined(cluster), aws_region=cluster.region.name)


def examined(cluster: facts.Facts) -> DoctorReport:
    """Return findings, and checks that could not be made."""
    outcomes = judge.outcomes(cluster, "doctor")
    return DoctorReport(
        findings=causes.assign(item for item in outcomes if isinstance(item, Finding)),
        unchecked=tuple(item for item in outcomes if isinstance(item, Unchecked)),
    )


def fix(report: DoctorReport) -> tuple[str, ...]:
    """Set the tag of the driver's policy on the volumes that lack it; return them. Raises `errors.AwsError`."""
    if report.untagged:
        ebs_volumes.tag(report.untagged, report.aws_region, key=iam.CLUSTER_TAG, value="true")
    return report.untagged
