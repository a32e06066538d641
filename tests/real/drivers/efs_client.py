"""A client for the real EFS driver: its instance metadata, and the folders that it has on a machine, which go with it."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from nomad_csi.csi import channel, endpoint
from nomad_csi_sandbox.imds import documents, server

COMMAND = shutil.which("aws-efs-csi-driver")
INSTANCE_ID = "i-0123456789abcdef0"
REGION, ZONE = "us-east-1", "us-east-1a"
WRITER = {"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}
PLACES = tuple(Path(name) for name in ("/etc/amazon", "/var/amazon", "/var/run/efs", "/var/log/amazon"))
"""Folders of the driver and of efs-utils, which no flag moves."""

LOGS = Path("/var/log/amazon/efs")
"""The package of efs-utils makes it; its programs fail without it."""

MISSING = (
    ""
    if shutil.which("nomad") and COMMAND and os.geteuid() == 0
    else "needs `nomad` and `aws-efs-csi-driver` on PATH, and root to start a Nomad client"
)
"""Why the driver cannot be run here; empty where it can."""


@contextmanager
def prepared(folder, authority=None):
    """
    Yield the plugin of a spec, on a machine that had nothing of EFS before and has nothing after.

    *authority* is the certificate that EFS' certificates are checked with; ``None``: an empty file.
    """
    if found := [str(place) for place in PLACES if place.exists()]:
        pytest.skip(f"needs a machine without {' and '.join(found)}: tools of EFS are in use on it")
    static = folder / "static"
    static.mkdir()
    (static / "efs-utils.crt").write_bytes(authority.read_bytes() if authority else b"")
    LOGS.mkdir(parents=True)
    instance = documents.Instance(instance_id=INSTANCE_ID, availability_zone=ZONE)
    try:
        with server.Server(instance) as metadata:
            yield {
                "id": "efs0",
                "driver": "aws-efs",
                "aws_region": REGION,
                "environment": {"AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.url},
                "extra_arguments": {"node": [f"--efs-utils-static-files-path={static}"]},
            }
    finally:
        for place in PLACES:
            shutil.rmtree(place, ignore_errors=True)


@contextmanager
def connected(stack):
    """Hold a channel to the driver's socket."""
    [node] = stack.plugin("efs0").nodes
    path = f"{stack.agent.folder}/client/csi/plugins/{node.alloc_id}/csi.sock"
    with channel.connect(endpoint.parse(path)) as opened:
        yield opened
