"""Run every measurement, or those that are named: ``python -m benchmarks rendering command``."""

import sys

from benchmarks import (
    command,
    components,
    ebs_volumes,
    installation,
    registration,
    registrations,
    rendering,
    report,
    sandbox,
    starting,
    verification,
)

MEASUREMENTS = {
    "command": command.measure,
    "starting": starting.measure,
    "rendering": rendering.measure,
    "registration": registration.measure,
    "registrations": registrations.measure,
    "sandbox": sandbox.measure,
    "components": components.measure,
    "ebs_volumes": ebs_volumes.measure,
    "installation": installation.measure,
    "verification": verification.measure,
    "report": report.measure,
}


def main() -> None:
    """Measure and print."""
    for name in sys.argv[1:] or MEASUREMENTS:
        print(f"\n{name}", flush=True)
        for line in MEASUREMENTS[name]():
            print(f"  {line}", flush=True)


main()
