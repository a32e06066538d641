"""
Nomad over HTTP: one request function, then jobs, plugins, nodes and volumes.

Only translates and sends. Not a general client: it has the calls that this package needs, and never volume *delete*.
"""

from nomad_csi.nomad.connection import Connection
from nomad_csi.nomad.request import Nomad

__all__ = ["Connection", "Nomad"]
