"""The flags of the catalogue held to those that the real drivers tell of themselves."""

import re
import shutil
import subprocess

import pytest

from nomad_csi.drivers import catalogue

COMMAND = shutil.which("aws-ebs-csi-driver")
LOCAL = {"csi-driver-nfs": "nfsplugin", "csi-hostpath": "hostpathplugin", "democratic-csi": "democratic-csi"}
"""The programs of drivers that have the same flags in every role."""


@pytest.mark.skipif(COMMAND is None, reason="no `aws-ebs-csi-driver` on PATH to ask for its flags")
@pytest.mark.parametrize("name", ["controller", "node"])
def test_catalogue_has_every_flag_of_the_driver(name):
    """Each flag that the driver knows in a mode is allowed there, or kept out with a reason; no other is."""
    role = catalogue.DRIVERS["aws-ebs"].roles[name]

    done = subprocess.run([COMMAND, name, "--help"], capture_output=True, text=True, check=False, timeout=30)

    told = set(re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", done.stderr, re.MULTILINE))
    assert told == role.flags | set(role.unfit_flags)
    assert not role.flags & set(role.unfit_flags)


@pytest.mark.parametrize(("name", "program"), LOCAL.items())
def test_catalogue_has_every_flag_of_a_driver_with_one_set_of_them(name, program):
    """So it is for drivers of Go's flag package, with one dash in their help, and for democratic-csi."""
    if not shutil.which(program):
        pytest.skip(f"no `{program}` on PATH to ask for its flags")

    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=False, timeout=30)

    told = set(re.findall(r"^  --?([a-z0-9_-]+)", done.stderr + done.stdout, re.MULTILINE))
    for role in catalogue.DRIVERS[name].roles.values():
        assert told == role.flags | set(role.unfit_flags)
