"""What is pure can be imported where no library of an outside system is installed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import nomad_csi

OUTSIDE = {"boto3", "botocore", "grpc", "hcl2", "jinja2", "pulumi", "pulumi_aws", "requests", "urllib3"}


PACKAGES = ("compare", "verify", "doctor", "report", "nomad/records", "aws/records", "csi/records")
ROOT = Path(nomad_csi.__file__).parent


@pytest.mark.parametrize("package", PACKAGES)
def test_pure_package_loads_no_library_of_an_outside_system(package):
    """All of its modules, in a fresh interpreter; the packages that they lie in count, too."""
    names = sorted(f"nomad_csi.{package.replace('/', '.')}.{path.stem}" for path in (ROOT / package).glob("[!_]*.py"))
    program = f"import json, sys, {', '.join(names)}; print(json.dumps(sorted(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    loaded = json.loads(done.stdout)
    assert {name.partition(".")[0] for name in loaded} & OUTSIDE == set()
    assert set(names) <= set(loaded)
