"""
Nomad over HTTP: one request function, then jobs, plugins, nodes, volumes and variables, each read as a dataclass.

`connection` has the address and the credentials, and which of option, stack config and environment applies. `request`
sends a request once; `classify` says what a reply means (refused, ambiguous, to be sent again). Who sends it again is
`volumes.sending`. `transport` bounds the size of a reply and the requests at a time, `request` the time.
`permissions` has what calls and commands need of a token, `token_rights` what a token has. `releases.yaml` has the
oldest release and since when each feature is there; releases with a known bug are in `findings/codes.yaml`, judged by
`version_gates`, which refuses servers that are too old for a driver, too.

Only translates and sends. Not a general client: it has only the calls that this package needs, and no volume *delete*.
The HTTP library is imported when the first client is made.
"""

from nomad_csi.nomad.connection import Connection
from nomad_csi.nomad.request import Nomad

__all__ = ["Connection", "Nomad"]
