"""The page on releases of Nomad and Pulumi, from ``nomad_csi/nomad/releases.yaml`` and the gates of ``findings/codes.yaml``."""

from nomad_csi.drivers import catalogue
from nomad_csi.nomad import version_gates
from nomad_csi.plan import versions
from tests import releases
from tests.pages import table

HEAD = """# Compatibility

nomad-csi was tested with real agents of {tried}. Releases between these are expected to work like the next older one.
Nomad Enterprise was not tested. The oldest Pulumi CLI is {pulumi}. The sandbox's emulator behaves as the newest of these
releases.

## What is refused

A server older than {oldest} is `nomad-unsupported`, an error in `verify` and `doctor`. `register`, `create`,
`pulumi preview` and `pulumi up` refuse to begin:

```
error: nomad-unsupported: servers: expected Nomad {oldest} or later on the servers, found server-1 with 1.7.7; upgrade Nomad
```

A driver can need more. The AWS EBS driver needs Nomad {ebs}, because it reports several topology segments; the page of
each [driver](drivers/index.md) has its oldest Nomad. If the token may not see the servers (`node {{ policy = "read" }}`),
that is a warning. In Pulumi, the version is checked for plugin jobs. `pulumi refresh`, `pulumi destroy`, `deregister` and
`claims` work on any version, so that you can leave.

## Differences of older releases

Where an older release behaves otherwise, and you can notice it:
"""

FAULTS = """## Faults of older releases

`nomad-csi doctor` reports those that your servers and clients have and that your storage can meet:
"""


def page():
    """Return the page: differences that are noticed, the oldest first, and faults."""
    known = version_gates.releases()
    head = HEAD.format(
        tried=", ".join(known.tried),
        oldest=known.oldest,
        pulumi=known.pulumi,
        ebs=catalogue.DRIVERS["aws-ebs"].minimum_nomad,
    )
    return "\n".join([head, *differences(), FAULTS, *faults()])


def differences():
    """Return the lines of the table of differences, without those that nobody notices."""
    found = sorted(releases.differences().values(), key=lambda item: versions.parse(item.since[0]).segments)
    rows = [(", ".join(each.since), each.before, each.felt) for each in found if not each.felt.startswith("Nothing.")]
    return table(("before", "behaviour", "effect"), rows)


def faults():
    """Return the lines of the table of faults."""
    rows = [
        (f"[`{fault.code}`](findings.md#{fault.code})", " and ".join(gate.sides), ", ".join(gate.fixed_in))
        for fault, gate in version_gates.gates()
    ]
    return table(("finding", "on", "fixed in"), rows)
