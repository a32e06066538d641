"""The SDK that Pulumi generates for Python, in an environment that has the package itself."""

import json
import os
import subprocess

import pytest

from tests import wheels
from tests.real.program.test_sdks import PLUGIN

OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
"""What pip may not fetch; 0 is how pip spells that option's "no isolation"."""

BOTH = """
import importlib.util, json, nomad_csi
from importlib import metadata
print(json.dumps([
    nomad_csi.EbsVolume.__module__,
    importlib.util.find_spec("pulumi_nomad_csi").origin.partition("site-packages/")[2],
    sorted(name for name in metadata.packages_distributions()["nomad_csi"]),
    "nomad-csi" in {point.name for point in metadata.entry_points(group="console_scripts")},
]))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Both wheels in an environment of their own."""
    return wheels.install(tmp_path_factory.mktemp("installed"))


def asked(installed):
    """Return what a program of the environment finds."""
    command = [installed.bin / "python", "-W", "ignore", "-c", BOTH]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)


def test_generated_sdk_leaves_the_package_installed(stack, tmp_path, installed):
    """
    The one that `pulumi package add` installs is a distribution of another name: pip removes nothing, both are there.

    That command first updates pip from the index, so its two steps are done apart here.
    """
    before = asked(installed)

    folder = tmp_path / "own"
    folder.mkdir()
    written = stack(folder, init=False)
    (folder / "Pulumi.yaml").write_text("name: own\nruntime: python\n")
    written.command("plugin", "install")
    written.run("package", "gen-sdk", PLUGIN, "--language", "python", "--out", "sdk")
    pip = [*wheels.PIP, "--python", installed.bin / "python", "install", "--no-deps", folder / "sdk/python"]
    done = subprocess.run(pip, env=os.environ | OFFLINE, capture_output=True, text=True, check=False, timeout=240)
    after = asked(installed)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Successfully installed pulumi-nomad-csi-" in done.stdout.replace("_", "-")
    assert "Uninstalling" not in done.stdout
    assert before == ["nomad_csi.components.ebs", "pulumi_nomad_csi.py", ["nomad-csi"], True]
    assert after == ["nomad_csi.components.ebs", "pulumi_nomad_csi/__init__.py", ["nomad-csi"], True]
