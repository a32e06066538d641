"""
The environment that everything in the sandbox runs in: built here, nothing of the operator's inherited.

So no request of the sandbox can reach a cluster, an account or a backend that someone is logged in to.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from nomad_csi.nomad import connection, sandbox_mark
from nomad_csi_sandbox.session import folder, project

PASSED_ON = ("LANG", "LC_ALL", "TERM", "COLUMNS", "NO_COLOR", "TZ")
"""What of the operator's environment is harmless and makes output readable."""

ROOT_VARIABLE = "NOMAD_CSI_ROOT"

CONFIG_VARIABLE = "PULUMI_OPTION_CONFIG_FILE"
"""
Stands for ``--config-file`` of every Pulumi command that has it.

Source: pulumi/pulumi, ``declareFlagsAsEnvironmentVariables`` in ``pkg/cmd/pulumi/pulumi.go``, 2026-08-21.
"""


STACK_VARIABLE = "PULUMI_STACK"

DATA_DIR_VARIABLE = "NOMAD_CSI_SANDBOX_DATA_DIR"
"""The clients' data directory: what the task drivers of a program of one's own name as ``client_data_dir``."""


def mark(parts: Mapping[str, str]) -> str:
    """Return the word that says what is real: ``aws:moto,engine:emulator,nomad:emulator``."""
    return ",".join(f"{name}:{kind}" for name, kind in sorted(parts.items()))


def build(paths: folder.Folder, record: folder.Record, aws_region: str) -> dict[str, str]:
    """Return the environment of *record*'s sandbox; what is not started yet is left out."""
    home = str(paths.path / "home")
    own_programs = str(Path(sys.executable).parent)
    found = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    found |= {
        "PATH": os.pathsep.join([own_programs, os.environ.get("PATH", os.defpath)]),
        "HOME": home,
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", ""),
        "NO_PROXY": "*",
        sandbox_mark.ENVIRONMENT: mark(record.parts),
        ROOT_VARIABLE: str(paths.project),
        DATA_DIR_VARIABLE: record.data_dir,
        "AWS_REGION": aws_region,
        "AWS_DEFAULT_REGION": aws_region,
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "PULUMI_HOME": str(paths.path / "pulumi-home"),
        STACK_VARIABLE: folder.STACK,
        CONFIG_VARIABLE: str(paths.engine_config),
        "PULUMI_BACKEND_URL": paths.backend.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "sandbox",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",  # those on PATH, of which it warns: the provider is in PULUMI_HOME
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    if paths.token:
        found[sandbox_mark.TOKEN_HASH] = sandbox_mark.token_hash(paths.token)
    return found | _end_points(paths, record)


def of_server(paths: folder.Folder, record: folder.Record) -> dict[str, str]:
    """Return the environment of a server of the sandbox; Nomad's tasks inherit it, and get no token by it."""
    return {name: value for name, value in build(paths, record, record.aws_region).items() if name != "NOMAD_TOKEN"}


def of_command(built: Mapping[str, str], paths: folder.Folder, command: Sequence[str]) -> dict[str, str]:
    """
    Return the environment *built* of a sandbox as a person's *command* gets it.

    Pulumi takes the stack of the sandbox and its config in the sandbox's own project alone: another project, where the
    command runs or which it names with ``--cwd``, has its own.
    """
    root = project.found_from(_folder_of(command))
    if root in {None, paths.project}:
        return dict(built)
    return {name: value for name, value in built.items() if name not in {STACK_VARIABLE, CONFIG_VARIABLE}}


def _folder_of(command: Sequence[str]) -> Path:
    for index, word in enumerate(command):
        if word in {"--cwd", "-C"}:
            return Path(*command[index + 1 : index + 2])
        if word.startswith("--cwd="):
            return Path(word.partition("=")[2])
    return Path()


def _end_points(paths: folder.Folder, record: folder.Record) -> dict[str, str]:
    found = {}
    if moto := record.processes.get("moto"):
        found["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{moto.port}"
    if provider := record.processes.get("aws-provider"):
        found["PULUMI_DEBUG_PROVIDERS"] = f"aws:{provider.port}"
    return found | of_nomad(paths, record)


def of_shell(paths: folder.Folder, record: folder.Record) -> dict[str, str]:
    """Return the variables by which a shell reaches the sandbox's Nomad and AWS, and no account of its user."""
    built = build(paths, record, record.aws_region)
    return of_nomad(paths, record) | {name: value for name, value in built.items() if name.startswith("AWS_")}


def of_nomad(paths: folder.Folder, record: folder.Record) -> dict[str, str]:
    """Return the variables by which the ``nomad`` command reaches the sandbox's Nomad; none before it runs."""
    nomad = record.processes.get("nomad")
    if not nomad:
        return {}
    is_real = record.parts["nomad"] == "real"
    return (of_agent if is_real else of_emulator)(paths, nomad.port)


def of_agent(paths: folder.Folder, port: int) -> dict[str, str]:
    """Return the variables by which the sandbox's real agent is reached: it takes no connection without TLS."""
    files = {connection.VARIABLES[name]: str(path) for name, path in paths.certificates.items()}
    return {"NOMAD_ADDR": f"https://127.0.0.1:{port}", "NOMAD_TOKEN": paths.token} | files


def of_emulator(paths: folder.Folder, port: int) -> dict[str, str]:
    """Return the variables by which the emulator of an agent is reached."""
    return {"NOMAD_ADDR": f"http://127.0.0.1:{port}", "NOMAD_TOKEN": paths.token}
