"""What an error of Nomad's makes of a volume that a request was for."""

from collections.abc import Mapping
from typing import Literal

from nomad_csi import errors

OF_KIND: Mapping[errors.ReplyKind, Literal["refused", "failed", "unknown"]] = {
    "refused": "refused",
    "retry": "failed",
    "ambiguous": "unknown",
}
"""``refused``: Nomad says no. ``failed``: not done, and may be another time. ``unknown``: sent, no answer came."""
