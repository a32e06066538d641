"""
The environment that everything in the sandbox runs in: built here, nothing of the operator's inherited.

So no request of the sandbox can reach a cluster, an account or a backend that somebody is logged in to.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from nomad_csi_sandbox.session import folder

PASSED_ON = ("LANG", "LC_ALL", "TERM", "COLUMNS", "NO_COLOR", "TZ")
"""What of the operator's environment is harmless and makes output readable."""

MARK_VARIABLE = "NOMAD_CSI_SANDBOX"
ROOT_VARIABLE = "NOMAD_CSI_ROOT"

CONFIG_VARIABLE = "PULUMI_OPTION_CONFIG_FILE"
"""
Stands for ``--config-file`` of every Pulumi command that has it.

Source: pulumi/pulumi, ``declareFlagsAsEnvironmentVariables`` in ``pkg/cmd/pulumi/pulumi.go``, 2026-08-21.
"""


def mark(parts: Mapping[str, str]) -> str:
    """Return the word that says what is real: ``aws:moto,engine:stand-in,nomad:stand-in``."""
    return ",".join(f"{name}:{kind}" for name, kind in sorted(parts.items()))


def build(place: folder.Folder, record: folder.Record, aws_region: str) -> dict[str, str]:
    """Return the environment of *record*'s sandbox; what is not started yet is left out."""
    home = str(place.path / "home")
    own_programs = str(Path(sys.executable).parent)
    found = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    found |= {
        "PATH": os.pathsep.join([own_programs, os.environ.get("PATH", os.defpath)]),
        "HOME": home,
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
        "NO_PROXY": "*",
        MARK_VARIABLE: mark(record.parts),
        ROOT_VARIABLE: str(place.project),
        "AWS_REGION": aws_region,
        "AWS_DEFAULT_REGION": aws_region,
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "PULUMI_HOME": str(place.path / "pulumi-home"),
        "PULUMI_STACK": folder.STACK,
        CONFIG_VARIABLE: str(place.engine_config),
        "PULUMI_BACKEND_URL": place.backend.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "sandbox",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    return found | _end_points(record)


def _end_points(record: folder.Record) -> dict[str, str]:
    found = {}
    if moto := record.processes.get("moto"):
        found["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{moto.port}"
    if provider := record.processes.get("aws-provider"):
        found["PULUMI_DEBUG_PROVIDERS"] = f"aws:{provider.port}"
    if nomad := record.processes.get("nomad"):
        found["NOMAD_ADDR"] = f"http://127.0.0.1:{nomad.port}"
    return found
