"""The flags of the catalogue held to those that the real EBS driver tells of itself."""

import re
import shutil
import subprocess

import pytest

from nomad_csi.drivers import catalogue

COMMAND = shutil.which("aws-ebs-csi-driver")
pytestmark = pytest.mark.skipif(COMMAND is None, reason="no `aws-ebs-csi-driver` on PATH to ask for its flags")


@pytest.mark.parametrize("name", ["controller", "node"])
def test_catalogue_has_every_flag_of_the_driver(name):
    """Each flag that the driver knows in a mode is allowed there, or kept out with a reason; no other is."""
    role = catalogue.DRIVERS["aws-ebs"].roles[name]

    done = subprocess.run([COMMAND, name, "--help"], capture_output=True, text=True, check=False, timeout=30)

    told = set(re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", done.stderr, re.MULTILINE))
    assert told == role.flags | set(role.unfit_flags)
    assert not role.flags & set(role.unfit_flags)
