"""
The flags of the catalogue held to those that the real drivers tell of themselves.

Older drivers are found on PATH by their version: ``aws-ebs-csi-driver-v0.10.1``.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nomad_csi.drivers import catalogue
from nomad_csi.hcl import files
from nomad_csi.migration import adopt
from nomad_csi.plan import storage

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

CASES = Path(__file__).parents[1] / "cases"
OLDER = [
    (name, path.name.removeprefix(f"{program}-"), path)
    for name, program in {"aws-ebs": "aws-ebs-csi-driver", **LOCAL}.items()
    for folder in os.get_exec_path()
    for path in sorted(Path(folder).glob(f"{program}-v*.*.*"))
]
"""Older drivers that are there: the row of the catalogue, version, program."""

TUTORIAL = next((path for name, version, path in OLDER if (name, version) == ("aws-ebs", "v0.10.1")), None)


@pytest.mark.skipif(COMMAND is None, reason="no `aws-ebs-csi-driver` on PATH to ask for its flags")
@pytest.mark.parametrize("name", ["controller", "node"])
def test_catalogue_has_every_flag_of_the_driver(name):
    """Each flag that the driver knows in a mode is allowed there, or kept out with a reason; no other is."""
    role = catalogue.DRIVERS["aws-ebs"].roles[name]

    done = subprocess.run([COMMAND, name, "--help"], capture_output=True, text=True, check=False, timeout=30)

    told = set(re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", done.stderr, re.MULTILINE))
    assert told == role.flags | set(role.unfit_flags)
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
    told = flags_of(program)

    for role in catalogue.DRIVERS[name].roles.values():
        assert told == role.flags | set(role.unfit_flags)


@pytest.mark.skipif(
    not OLDER, reason="no older driver, such as `aws-ebs-csi-driver-v0.10.1`, on PATH to ask for its flags"
)
@pytest.mark.parametrize(("name", "version", "program"), OLDER)
def test_catalogue_has_every_flag_of_an_older_version(name, version, program):
    """Each flag that this version knows is one of the row's at it, and no other."""
    for mode, role in catalogue.select_version(catalogue.DRIVERS[name], version).roles.items():
        words = [mode] if role.arguments[0] == mode else []
        done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False, timeout=30)

        told = set(re.findall(r"^ +(?:-\w, )?--?([A-Za-z0-9._-]+)", done.stderr + done.stdout, re.MULTILINE))
        assert told == role.flags | set(role.unfit_flags)


@pytest.mark.skipif(TUTORIAL is None, reason="no `aws-ebs-csi-driver-v0.10.1` on PATH, the driver of the tutorial")
def test_the_tutorials_driver_takes_the_arguments_of_its_imported_jobs(tmp_path):
    """From the tutorial's own files: its controller listens, where the arguments of today end it with a usage error."""
    names = ["tutorial-ebs-controller.nomad.hcl", "tutorial-ebs-nodes.nomad.hcl"]
    document = adopt.adopt(
        [files.parse((CASES / name).read_text(encoding="utf-8"), name) for name in names], aws_region="us-east-1"
    ).document
    today = {key: value for key, value in document["plugins"][0].items() if key != "image"}
    kept, newest = (
        next(job for job in storage.plan_document({"plugins": [plugin]}).plugins[0].jobs if job.role == "controller")
        for plugin in (document["plugins"][0], today)
    )

    assert "Listening for connections" in said_by(TUTORIAL, kept, tmp_path / "kept.sock")
    assert "flag provided but not defined: -logging-format" in said_by(TUTORIAL, newest, tmp_path / "today.sock")


def said_by(program, job, socket):
    """Return what the driver says until it listens or ends."""
    arguments = [text.replace("${CSI_ENDPOINT}", f"unix://{socket}") for text in job.arguments]
    environment = {**os.environ, **job.environment}
    found = []
    with subprocess.Popen([program, *arguments], stderr=subprocess.PIPE, text=True, env=environment) as process:
        for line in process.stderr:
            found.append(line)
            if "Listening" in line:
                process.terminate()
    return "".join(found)
