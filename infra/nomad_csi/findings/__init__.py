"""
What commands find: the one type of a finding, the registry of its codes (``codes.yaml``), and how findings print. Pure.

A finding is built with a code of the registry, or not at all.
"""

from nomad_csi.findings.model import Finding, errors_of, finding
from nomad_csi.findings.registry import Severity

__all__ = ["Finding", "Severity", "errors_of", "finding"]
