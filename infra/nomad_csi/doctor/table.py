"""All rules, in the order of the documentation. Pure data."""

from collections.abc import Mapping

from nomad_csi.doctor import rules_aws, rules_nomad
from nomad_csi.doctor.model import Finding
from nomad_csi.lint.model import Rule, Severity

CHAPTERS: Mapping[str, tuple[Rule, ...]] = {
    "Versions of Nomad": rules_nomad.VERSIONS,
    "Clients": rules_nomad.CLIENTS,
    "The token": rules_nomad.TOKEN,
    "Plugins and claims": rules_nomad.PLUGINS,
    "Instances and their role": rules_aws.INSTANCES,
    "Storage": rules_aws.STORAGE,
    "What is left over": rules_aws.LEFT_OVER,
}

RULES: Mapping[str, Rule] = {rule.code: rule for rules in CHAPTERS.values() for rule in rules}
"""Rules by code."""


def finding(
    code: str,
    subject: str,
    evidence: str,
    *,
    fix: str = "",
    severity: Severity | None = None,
    external_ids: tuple[str, ...] = (),
) -> Finding:
    """Return the finding of rule *code*; *fix* and *severity* where they are better known than in the rule."""
    rule = RULES[code]
    return Finding(
        code=code,
        severity=severity or rule.severity,
        subject=subject,
        evidence=evidence,
        fix=fix or rule.fix,
        external_ids=external_ids,
    )
