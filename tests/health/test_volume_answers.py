"""What a controller says of volumes counts."""

import pytest

from nomad_csi.csi import records
from nomad_csi.health import probed
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

Validated = records.Validated
WRITER = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")


def volume(name, **changes):
    """Return a volume of plugin ``aws-ebs0``."""
    empty = dict.fromkeys(("topologies", "claims"), ())
    given = {
        "volume_id": name,
        "namespace": "default",
        "name": name,
        "external_id": f"vol-{name}",
        "plugin_id": "aws-ebs0",
        "capabilities": (WRITER,),
        "context": {},
        "parameters": {},
        "schedulable": True,
        "controller_required": True,
    }
    return volumes.Volume(**given | empty | changes)


@pytest.mark.parametrize(
    ("said", "code", "found"),
    [
        (Validated(confirmed=True), None, ""),
        (Validated(code="NOT_FOUND", message="no such"), "volume-unknown", "NOT_FOUND: no such"),
        (Validated(message="not so"), "volume-unconfirmed", "not confirmed: not so"),
        (Validated(code="INTERNAL", message="x"), "volume-unconfirmed", "INTERNAL: x"),
    ],
)
def test_what_a_controller_says_of_a_volume_counts(said, code, found):
    """Unknown to the storage provider, or not to be used like that."""
    judged = probed.judge_volumes([volume("mysql"), volume("other")], {("default", "mysql"): said})

    assert [(item.code, item.subject, item.found) for item in judged] == (
        [(code, "volume default/mysql", found)] if code else []
    )
