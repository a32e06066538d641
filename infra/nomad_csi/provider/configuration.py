"""
The provider's configuration: the Nomad cluster, its credentials, and the folder of rendered files.

Keys are Pulumi's (camelCase). Absent values come from the ``NOMAD_*`` variables, as with Nomad's own command.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.nomad import sandbox_mark
from nomad_csi.spec import names

ROOT_ENVIRONMENT = "NOMAD_CSI_ROOT"
"""Environment variable with the folder of rendered files, where the provider has no ``root``."""

SECRET = frozenset({"token", "httpAuth"})
"""Names of the credentials."""


def check(given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[errors.Problem, ...]]:
    """Return the known part of *given*, and its problems, as `settings.check` does."""
    from nomad_csi.provider import settings  # noqa: PLC0415  # a provider that starts does not wait for pydantic

    return settings.check(given)


def connection(values: Mapping[str, Any], environment: Mapping[str, str]) -> nomad.Connection:
    """
    Return the connection to Nomad.

    A configured token is sent to the configured address, a token of the *environment* only to that of the environment.
    Raises `errors.SpecError` with all problems, `errors.RefusedError` where a process in the sandbox would connect to a
    Nomad outside of it.
    """
    _refuse_unknown(values)
    given = {names.python_name(name): value for name, value in values.items() if name != "root"}
    nomad_connection = nomad.Connection.from_environment(environment, given)
    sandbox_mark.refuse_real_address(nomad_connection, environment)
    return nomad_connection


def root(values: Mapping[str, Any], environment: Mapping[str, str]) -> Path | None:
    """Return the folder of rendered files; ``None``: not configured. The working directory is never used."""
    text = values.get("root") or environment.get(ROOT_ENVIRONMENT)
    return Path(text) if text and text != names.UNKNOWN else None


def _refuse_unknown(values: Mapping[str, Any]) -> None:
    unknown = tuple(name for name, value in values.items() if value == names.UNKNOWN)
    if unknown:
        problem = errors.Problem(
            path=", ".join(unknown), got="a value that is not known yet", allowed="a value known in this step"
        )
        raise errors.SpecError((problem,), source="the nomad-csi provider")
