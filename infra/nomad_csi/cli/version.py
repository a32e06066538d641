"""``nomad-csi version``."""

import platform
from importlib import metadata

from nomad_csi.cli.common import command, output
from nomad_csi.drivers import catalogue
from nomad_csi.nomad import version_gates

PACKAGE = "nomad-csi"


@command.command()
@command.as_json()
def run(arguments: command.Arguments) -> int:
    """Print the versions."""
    releases = version_gates.releases()
    found = {
        "nomad_csi": metadata.version(PACKAGE),
        "python": platform.python_version(),
        "pulumi_sdk": metadata.version("pulumi"),
        "pulumi_oldest": releases.pulumi,
        "driver_catalogue": max(driver.as_of for driver in catalogue.DRIVERS.values()),
        "nomad_oldest": releases.oldest,
        "nomad_tested": list(releases.tried),
    }
    output.show(arguments, found, f"{PACKAGE} {found['nomad_csi']}")
    return 0
