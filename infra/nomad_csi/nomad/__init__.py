"""
Nomad over HTTP: one request function, then jobs, plugins, nodes, volumes and variables, each read as a dataclass.

Only translates and sends. Not a general client: it has only the calls that this package needs, and no volume *delete*.
The HTTP library is imported when the first client is made.
"""

from nomad_csi.nomad.connection import Connection
from nomad_csi.nomad.request import Nomad

__all__ = ["Connection", "Nomad"]
