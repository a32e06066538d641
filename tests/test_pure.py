"""What is pure can be imported where no library of an outside system is installed."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import nomad_csi

OUTSIDE = {"boto3", "botocore", "grpc", "hcl2", "jinja2", "pulumi", "pulumi_aws", "requests", "urllib3"}


ROOT = Path(nomad_csi.__file__).parent
PROJECT = Path(__file__).parents[1]
CONTRACT = next(
    each
    for each in tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    if each["name"].startswith("what compares and judges")
)
ASKING = {each.partition(" ->")[0] for each in CONTRACT["ignore_imports"]}
"""Modules that ask; the contract of imports names them."""


@pytest.mark.parametrize("package", CONTRACT["source_modules"])
def test_pure_package_loads_no_library_of_an_outside_system(package):
    """A module, or all of a package that are not said to ask, in a fresh interpreter; their packages count, too."""
    folder = ROOT.joinpath(*package.split(".")[1:])
    names = sorted({f"{package}.{path.stem}" for path in folder.glob("[!_]*.py")} - ASKING) or [package]
    program = f"import json, sys, {', '.join(names)}; print(json.dumps(sorted(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    loaded = json.loads(done.stdout)
    assert {name.partition(".")[0] for name in loaded} & OUTSIDE == set()
    assert set(names) <= set(loaded)


SLOW = {"boto3", "botocore", "nomad_csi.drivers.catalogue", "nomad_csi.csi.validation"}
"""What takes the provider longer to import than to read a hundred volumes."""


def test_step_of_a_registration_loads_no_catalogue_and_no_library_of_a_cloud():
    """Each step of the engine waits for the import of the first one."""
    program = (
        "import json, sys; from nomad_csi.provider import serving; from nomad_csi.frame import registry; "
        "[registry.find(token) for token in registry.TOKENS if 'VolumeRegistration' in token]; "
        "print(json.dumps(sorted(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    loaded = set(json.loads(done.stdout))
    assert "nomad_csi.volumes.volume_resource" in loaded
    assert loaded & SLOW == set()
