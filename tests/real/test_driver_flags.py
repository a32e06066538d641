"""The flags of the catalogue compared with those in the help of the real drivers."""

import re
import shutil
import subprocess

import pytest

from nomad_csi.drivers import catalogue

COMMAND = shutil.which("aws-ebs-csi-driver")
LOCAL = {
    "aws-efs": "aws-efs-csi-driver",
    "csi-driver-nfs": "nfsplugin",
    "csi-hostpath": "hostpathplugin",
    "democratic-csi": "democratic-csi",
    "seaweedfs": "seaweedfs-csi-driver",
    "smb": "smbplugin",
}
"""The programs of drivers that have the same flags in every role."""

SPLIT = {
    "digitalocean": "do-csi-plugin",
    "gce-pd": "gcp-compute-persistent-disk-csi-driver",
    "hetzner": "hcloud-csi-driver",
}
"""Those of drivers whose roles know the flags of each other, and leave out what they have no use for."""


@pytest.mark.skipif(COMMAND is None, reason="no `aws-ebs-csi-driver` on PATH to ask for its flags")
@pytest.mark.parametrize("name", ["controller", "node"])
def test_catalogue_has_every_flag_of_the_driver(name):
    """Each flag that the driver knows in a mode is allowed there, or kept out with a reason; no other is."""
    role = catalogue.DRIVERS["aws-ebs"].roles[name]

    done = subprocess.run([COMMAND, name, "--help"], capture_output=True, text=True, check=False, timeout=30)

    printed = set(re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", done.stderr, re.MULTILINE))
    assert printed == role.flags | set(role.unfit_flags)
    assert not role.flags & set(role.unfit_flags)


def flags_of(program):
    """Return the flags in the help of a program: of Go's flag package, with one dash, or of Node's yargs."""
    if not shutil.which(program):
        pytest.skip(f"no `{program}` on PATH to ask for its flags")
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=False, timeout=30)
    return set(re.findall(r"^  --?([A-Za-z0-9._-]+)", done.stderr + done.stdout, re.MULTILINE))


@pytest.mark.parametrize(("name", "program"), SPLIT.items())
def test_roles_have_every_flag_of_the_driver_between_them(name, program):
    """Each is allowed in one of them, or kept out with a reason; no other is."""
    roles = catalogue.DRIVERS[name].roles.values()

    assert flags_of(program) == set().union(*(role.flags | set(role.unfit_flags) for role in roles))


@pytest.mark.parametrize(("name", "program"), LOCAL.items())
def test_catalogue_has_every_flag_of_a_driver_with_one_set_of_them(name, program):
    """So it is for drivers of Go's flag package, and for democratic-csi."""
    printed = flags_of(program)

    for role in catalogue.DRIVERS[name].roles.values():
        assert printed == role.flags | set(role.unfit_flags)
