"""Rules of storage that goes with its volume: who may be told to delete it, and who must say that nobody has it."""

from collections.abc import Iterator

from nomad_csi.errors import Problem
from nomad_csi.spec import model as spec

GUARDED = frozenset({"ebs.csi.aws.com"})
"""
Names of plugins whose storage refuses to be deleted while it is in use.

Source: aws-ebs-csi-driver v1.64.0, ``pkg/cloud/cloud.go`` (``DeleteDisk``), which only asks EC2; 2026-08.
"""


def check(create: spec.CreateSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    """Yield what is wrong with how the storage of *create* is to be deleted; nothing where it is kept."""
    how = create.deletion
    if create.on_destroy == "keep" or how is None:
        return
    if how.aws_region and not driver.uses_aws:
        fix = "name the controller of the plugin: endpoint"
        allowed = f"none: AWS knows nothing of the storage of {driver.name}"
        yield Problem(path=f"{path}.deletion.aws_region", got=repr(how.aws_region), allowed=allowed, fix=fix)
    if how.endpoint and driver.provider not in GUARDED and not how.accept_unguarded:
        allowed = f"true: the storage of {driver.name} does not refuse to be deleted while it is in use"
        fix = "whoever registers and claims it at the last moment loses it; see that nobody will, and say so"
        yield Problem(path=f"{path}.deletion.accept_unguarded", got="false", allowed=allowed, fix=fix)
