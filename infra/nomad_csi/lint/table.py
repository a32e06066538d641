"""All rules, in the order of the documentation. Pure data."""

from collections.abc import Mapping

from nomad_csi.lint import rules_other, rules_plugin, rules_volume
from nomad_csi.lint.model import Rule

CHAPTERS: Mapping[str, tuple[Rule, ...]] = {
    "Volume files": rules_volume.RULES,
    "Plugin jobs": rules_plugin.RULES,
    "Text, jobs that use volumes, IAM policies": rules_other.RULES,
}

RULES: Mapping[str, Rule] = {rule.code: rule for rules in CHAPTERS.values() for rule in rules}
"""Rules by code."""
