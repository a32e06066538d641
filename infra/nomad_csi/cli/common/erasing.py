"""The warning of commands that read volumes, before they do."""

import sys

from nomad_csi import nomad
from nomad_csi.registration import secret_safety


def warn(client: nomad.Nomad) -> None:
    """Say on standard error that reading volumes can erase their secrets, where a server is old enough for that."""
    if why := secret_safety.risk(client):
        print(f"warning: {why}; `nomad-csi doctor --explain nomad-erases-secrets` says more", file=sys.stderr)
