"""
The access and attachment modes that Nomad knows.

Nomad's server does not check them when a volume is registered; a wrong one fails when an allocation claims the volume.
The two single-node modes of CSI 1.5 have no Nomad spelling.
Source: hashicorp/nomad, ``nomad/structs/csi.go``, and ``plugins/csi/plugin.go``
(``VolumeCapabilityFromStructs``), 2026-08-21.
"""

from typing import Literal, get_args

AccessMode = Literal[
    "single-node-reader-only",
    "single-node-writer",
    "multi-node-reader-only",
    "multi-node-single-writer",
    "multi-node-multi-writer",
]
AttachmentMode = Literal["file-system", "block-device"]

ACCESS_MODES: tuple[AccessMode, ...] = get_args(AccessMode)
ATTACHMENT_MODES: tuple[AttachmentMode, ...] = get_args(AttachmentMode)
