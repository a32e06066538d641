"""The rules of the emulator by which an allocation gets a claim: the scheduler checks before, and hides most of them."""

import pytest

from nomad_csi_sandbox.nomad import state
from nomad_csi_sandbox.nomad.storage import claims

FULL = "volume max claims reached"
READ_ONLY = "volume is currently unschedulable"


@pytest.fixture
def take():
    """Take claims of one volume of *mode* in turn, ``w`` to write and ``r`` to read; return why not, for each."""

    def taken(mode, turns):
        capability = {"AccessMode": mode, "AttachmentMode": "file-system"}
        spec = {"ID": "v", "AccessMode": "", "AttachmentMode": "", "RequestedCapabilities": [capability]}
        volume = state.VolumeRecord(spec=spec)
        asked = [capability | {"ReadOnly": turn == "r"} for turn in turns]
        return [claims.take(volume, f"alloc-{number}", "node", each) for number, each in enumerate(asked)]

    return taken


@pytest.mark.parametrize(
    ("mode", "turns", "expected"),
    [
        ("single-node-writer", "ww", ["", FULL]),
        ("single-node-writer", "wr", ["", FULL]),
        ("single-node-writer", "rw", ["", ""]),
        ("multi-node-single-writer", "ww", ["", FULL]),
        ("multi-node-single-writer", "wrr", ["", "", ""]),
        ("multi-node-multi-writer", "wwr", ["", "", ""]),
        ("single-node-reader-only", "rr", ["", FULL]),
        ("multi-node-reader-only", "rr", ["", ""]),
        ("multi-node-reader-only", "rw", ["", FULL]),
        ("multi-node-reader-only", "w", [READ_ONLY]),
    ],
)
def test_claim_is_taken_beside_those_that_its_mode_allows(take, mode, turns, expected):
    """As Nomad's servers decide (``claimRead`` and ``claimWrite`` in ``nomad/structs/csi.go``)."""
    assert take(mode, turns) == expected
