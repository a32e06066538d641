"""The one page on where the facts come from: which driver ran where, and the sources of the catalogue."""

from nomad_csi.drivers import catalogue, facts
from nomad_csi.nomad import version_gates
from tests.pages import escaped

HEAD = """# How it was tested

This page has the dates, versions and sources that the other pages leave out. Facts about Nomad, AWS and the drivers are
recorded in the source with the file, page or run that they come from; `nomad-csi explain CODE` prints the source of
a finding.

Nomad: the contract tests ran on {releases}. What differs between them is on the page
[compatibility](../reference/compatibility.md).

No AWS account was used, except where a line says so: EC2, EFS and IAM are moto's emulator, and the drivers are the real
programs where a driver has the tier *run*. Pulumi runs are by its own engine with the emulated provider of AWS."""


def page():
    """Return the page."""
    parts = [HEAD.format(releases=", ".join(version_gates.releases().tried))]
    for driver in catalogue.DRIVERS.values():
        parts.append(f"## {driver.title}")
        for name, role in driver.roles.items():
            evidence = role.evidence
            when = f" on {evidence.as_of}" if evidence.as_of else ""
            parts.append(f"**{name.capitalize()}**: {facts.TIERS[evidence.tier]}{when}.")
            lines = [
                *(f"with {each}" for each in evidence.versions),
                *(f"verified: {each}" for each in evidence.verified),
            ]
            lines += [f"not verified: {each}" for each in evidence.not_verified]
            if lines:
                parts.append("\n".join(f"- {escaped(line)}" for line in lines))
        sources = [f"- {escaped(each)}" for each in driver.sources]
        parts.append("\n".join([f"Compared with its sources on {driver.as_of}:", "", *sources]))
    return "\n\n".join(parts)
