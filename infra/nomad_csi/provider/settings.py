"""The settings of the provider, as a program or a stack gives them."""

import difflib
import re
from collections.abc import Mapping
from typing import Annotated, Any

import pydantic

from nomad_csi import errors
from nomad_csi.frame import properties
from nomad_csi.frame.properties import Mark
from nomad_csi.spec import base


def _boolean(value: Any) -> Any:
    """Return a boolean from its string, which all settings of a provider are on the wire."""
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


Flag = Annotated[bool, pydantic.BeforeValidator(_boolean)]


class ProviderSettings(properties.Properties):
    """A Nomad cluster, and where rendered files go."""

    address: str = ""
    """Nomad's address, such as `https://nomad.example.net:4646`; else `NOMAD_ADDR`."""

    token: Annotated[str, Mark.SECRET] = ""
    """Nomad ACL token; else `NOMAD_TOKEN`."""

    namespace: str = ""
    """Nomad namespace where a request has none; else `NOMAD_NAMESPACE`."""

    region: str = ""
    """Nomad region; else `NOMAD_REGION`."""

    ca_cert: str = ""
    """File of the CA certificate; else `NOMAD_CACERT`."""

    ca_path: str = ""
    """Folder of CA certificates; else `NOMAD_CAPATH`."""

    client_cert: str = ""
    """File of our certificate; else `NOMAD_CLIENT_CERT`."""

    client_key: str = ""
    """File of its key; else `NOMAD_CLIENT_KEY`."""

    tls_server_name: str = ""
    """Name that the server's certificate must have; else `NOMAD_TLS_SERVER_NAME`."""

    tls_skip_verify: Flag = False
    """Accept any server certificate; else `NOMAD_SKIP_VERIFY`."""

    http_auth: Annotated[str, Mark.SECRET] = ""
    """`user:password` of a proxy in front of Nomad; else `NOMAD_HTTP_AUTH`."""

    insecure_http: Flag = False
    """Send token and CSI secrets unencrypted to other machines too; else `NOMAD_CSI_INSECURE_HTTP`."""

    root: Annotated[str, base.Matching(re.compile(r"/.*"), "an absolute path")] = ""
    """Folder that rendered files are written below; else `NOMAD_CSI_ROOT`."""


def check(given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[errors.Problem, ...]]:
    """
    Return the known part of *given*, and its problems.

    The default provider gets every ``nomad-csi:`` key of the stack's configuration, including the program's own, so an
    unknown key is refused only where it resembles a known one.
    """
    known = base.fields_of(ProviderSettings)
    values, problems = ProviderSettings.check({name: item for name, item in given.items() if name in known})
    misspelt = {
        name: close for name in given if name not in known for close in difflib.get_close_matches(name, known, 1, 0.8)
    }
    said = [
        errors.Problem(path=name, got="is no setting", allowed="", fix=f"did you mean {close}")
        for name, close in misspelt.items()
    ]
    return values, (*said, *problems)
