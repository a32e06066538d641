"""
Findings: their type, the registry of their codes (``codes.yaml``), and their printer. Pure.

`model` makes a finding and puts the names into the advice of its code. The registry has the known bugs of Nomad, too,
with the releases that fix them (``gate``).

A finding must have a code of the registry. What raises it is beside its subject: `diagnosis.rules`,
`diagnosis.file_rules`, of plugins in `health`.
"""

from nomad_csi.findings.model import Finding, errors_of, finding
from nomad_csi.findings.registry import Severity

__all__ = ["Finding", "Severity", "errors_of", "finding"]
