"""
The provider's configuration: the Nomad cluster, its credentials, and the folder of rendered files.

Keys are Pulumi's (camelCase). Absent values come from the ``NOMAD_*`` variables, as with Nomad's own command.
"""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.frame import properties
from nomad_csi.nomad import sandbox_mark

ROOT_ENVIRONMENT = "NOMAD_CSI_ROOT"
"""Environment variable with the folder of rendered files, where the provider has no ``root``."""

_ABSOLUTE = re.compile(r"/.*")

DECLARED: Mapping[str, properties.Property] = {
    "address": properties.text("Nomad's address, such as `https://nomad.example.net:4646`; else `NOMAD_ADDR`."),
    "token": properties.text("Nomad ACL token; else `NOMAD_TOKEN`.", secret=True),
    "namespace": properties.text("Nomad namespace where a request has none; else `NOMAD_NAMESPACE`."),
    "region": properties.text("Nomad region; else `NOMAD_REGION`."),
    "caCert": properties.text("File of the CA certificate; else `NOMAD_CACERT`."),
    "caPath": properties.text("Folder of CA certificates; else `NOMAD_CAPATH`."),
    "clientCert": properties.text("File of our certificate; else `NOMAD_CLIENT_CERT`."),
    "clientKey": properties.text("File of its key; else `NOMAD_CLIENT_KEY`."),
    "tlsServerName": properties.text("Name that the server's certificate must have; else `NOMAD_TLS_SERVER_NAME`."),
    "tlsSkipVerify": properties.flag("Accept any server certificate; else `NOMAD_SKIP_VERIFY`."),
    "httpAuth": properties.text("`user:password` of a proxy in front of Nomad; else `NOMAD_HTTP_AUTH`.", secret=True),
    "insecureHttp": properties.flag(
        "Send token and CSI secrets unencrypted to other machines too; else `NOMAD_CSI_INSECURE_HTTP`."
    ),
    "root": properties.text(
        f"Folder that rendered files are written below; else `{ROOT_ENVIRONMENT}`.",
        pattern=_ABSOLUTE,
        pattern_says="an absolute path",
    ),
}

SECRET = properties.secret_names(DECLARED)


def check(given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[properties.Failure, ...]]:
    """
    Return the known part of *given*, and its problems.

    The default provider gets every ``nomad-csi:`` key of the stack's configuration, including the program's own, so an
    unknown key is refused only where it resembles a known one.
    """
    misspelt = tuple(failure for name in given if name not in DECLARED for failure in _near_miss(name))
    known = {name: _boolean(name, value) for name, value in given.items() if name in DECLARED}
    values, failures = properties.check(DECLARED, known)
    return values, (*misspelt, *failures)


def connection(values: Mapping[str, Any], environment: Mapping[str, str]) -> nomad.Connection:
    """
    Return the connection to Nomad.

    A configured token is sent to the configured address, a token of the *environment* only to that of the environment.
    Raises `errors.SpecError` with all problems, `errors.RefusedError` where a process in the sandbox would connect to a
    Nomad outside of it.
    """
    _refuse_unknown(values)
    given = {properties.python_name(name): value for name, value in values.items() if name != "root"}
    found = nomad.Connection.from_environment(environment, given)
    sandbox_mark.refuse_real_address(found, environment)
    return found


def root(values: Mapping[str, Any], environment: Mapping[str, str]) -> Path | None:
    """Return the folder of rendered files; ``None``: not configured. The working directory is never used."""
    text = values.get("root") or environment.get(ROOT_ENVIRONMENT)
    return Path(text) if text and text != properties.UNKNOWN else None


def _near_miss(name: str) -> tuple[properties.Failure, ...]:
    close = difflib.get_close_matches(name, DECLARED, n=1, cutoff=0.8)
    return tuple(properties.Failure(path=name, reason=f"is no setting; did you mean {item}") for item in close)


def _boolean(name: str, value: Any) -> Any:
    """Return a boolean from its string, which all settings of a provider are on the wire."""
    if DECLARED[name].kind == "flag" and isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), value)
    return value


def _refuse_unknown(values: Mapping[str, Any]) -> None:
    unknown = tuple(name for name, value in values.items() if value == properties.UNKNOWN)
    if unknown:
        problem = errors.Problem(
            path=", ".join(unknown), got="a value that is not known yet", allowed="a value known in this step"
        )
        raise errors.SpecError((problem,), source="the nomad-csi provider")
