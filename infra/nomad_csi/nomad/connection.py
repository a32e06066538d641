"""
Where Nomad is and who asks: the settings of Nomad's own command line, by the same variables.

Source: hashicorp/nomad, ``api/api.go`` (``DefaultConfig``), 2026-08-21.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib import parse

from nomad_csi import errors
from nomad_csi.nomad import proxies, unix_socket
from nomad_csi.spec import names

SOURCE = "the connection to Nomad"

VARIABLES: Mapping[str, str] = {
    "address": "NOMAD_ADDR",
    "token": "NOMAD_TOKEN",
    "namespace": "NOMAD_NAMESPACE",
    "region": "NOMAD_REGION",
    "ca_cert": "NOMAD_CACERT",
    "ca_path": "NOMAD_CAPATH",
    "client_cert": "NOMAD_CLIENT_CERT",
    "client_key": "NOMAD_CLIENT_KEY",
    "tls_server_name": "NOMAD_TLS_SERVER_NAME",
    "tls_skip_verify": "NOMAD_SKIP_VERIFY",
    "http_auth": "NOMAD_HTTP_AUTH",
}
"""Field of `Connection` -> environment variable. An empty variable counts as not set, as for Nomad."""

_FLAGS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)
"""What Go's ``strconv.ParseBool`` reads."""

_TOKEN = re.compile(r"[!-~]*")
"""What an HTTP header can carry without being folded or cut."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """
    One Nomad cluster, as one caller sees it. Neither token nor password appears in its ``repr``.

    Raises `errors.SpecError` with everything that is wrong.
    """

    address: str = "http://127.0.0.1:4646"
    """``http://`` or ``https://``, host and port; or ``unix://`` and the absolute path of a task's ``api.sock``."""

    proxy: str = field(default="", repr=False)
    """``http://`` or ``https://``, host and port of an HTTP proxy to ask through, with ``user:password@`` where it asks
    for them. Empty: directly."""

    token: str = field(default="", repr=False)
    """ACL token; travels in the header ``X-Nomad-Token`` and nowhere else. Empty where ACLs are off."""

    namespace: str = "default"
    """Namespace of calls that name none."""

    region: str = ""
    """Region to ask; empty: the region of the agent at *address*."""

    ca_cert: str = ""
    """PEM file of the authorities to trust; empty: those of *ca_path*, or of the system."""

    ca_path: str = ""
    """Folder of PEM files to trust; not read where *ca_cert* is given."""

    client_cert: str = ""
    """PEM file shown to a server that asks for a certificate; goes with *client_key*."""

    client_key: str = ""

    tls_server_name: str = ""
    """Name that the server's certificate has; empty: the host of *address*. Nomad's own are ``server.REGION.nomad``."""

    tls_skip_verify: bool = False
    """Accept any certificate. urllib3 warns of it."""

    http_auth: str = field(default="", repr=False)
    """``user:password`` for a proxy in front of Nomad that asks for HTTP basic authentication."""

    def __post_init__(self) -> None:
        if problems := tuple(_problems(vars(self))):
            raise errors.SpecError(problems, source=SOURCE)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], **overrides: Any) -> Self:
        """
        Return the connection that *environment* describes; an override that is not ``None`` wins.

        Besides `VARIABLES`, those of `proxies` are read.
        """
        given: dict[str, Any] = {
            name: environment[variable] for name, variable in VARIABLES.items() if environment.get(variable)
        }
        if "tls_skip_verify" in given:
            given["tls_skip_verify"] = _FLAGS.get(given["tls_skip_verify"], given["tls_skip_verify"])
        given |= {name: value for name, value in overrides.items() if value is not None}
        return cls(**{"proxy": proxies.of(str(given.get("address", cls.address)), environment)} | given)


def _problems(values: Mapping[str, Any]) -> Iterator[errors.Problem]:
    yield from _address_problems(values["address"])
    if values["proxy"] and not _has_http_host(values["proxy"]):
        yield errors.Problem(
            path=f"proxy ({' or '.join(proxies.VARIABLES.values())})",
            got="[secret]" if "@" in values["proxy"] else repr(values["proxy"]),
            allowed="http:// or https:// with host and port",
            fix=f"such as http://proxy.example.net:3128; what is asked directly belongs into {proxies.EXCEPT}",
        )
    if not _TOKEN.fullmatch(values["token"]):
        yield _problem("token", "[secret]", "printable ASCII", "remove spaces and line ends, as a file may have added")
    if not names.NAMESPACE.fullmatch(values["namespace"]):
        yield _problem("namespace", repr(values["namespace"]), "the name of one namespace")
    if bool(values["client_cert"]) != bool(values["client_key"]):
        missing = "client_key" if values["client_cert"] else "client_cert"
        yield _problem(missing, "", "client_cert and client_key, or neither", f"set {VARIABLES[missing]}")
    if not isinstance(values["tls_skip_verify"], bool):
        yield _problem("tls_skip_verify", repr(values["tls_skip_verify"]), "true or false")


def _address_problems(address: str) -> Iterator[errors.Problem]:
    allowed = "http:// or https:// with host and port"
    if address.startswith(unix_socket.SCHEME):
        yield from _socket_problems(address)
    elif "@" in address:
        yield _problem("address", "[secret]", allowed, f"move user and password to {VARIABLES['http_auth']}")
    elif not _has_http_host(address):
        yield _problem("address", repr(address), allowed, "such as http://127.0.0.1:4646")
    elif extra := re.sub(r"^https?://[^/?#]*/?", "", address, flags=re.IGNORECASE):
        yield _problem("address", repr(address), allowed, f"leave out what follows the port: {extra!r}")


def _socket_problems(address: str) -> Iterator[errors.Problem]:
    path = unix_socket.path_of(address)
    if not path.startswith("/"):
        yield _problem("address", repr(address), "an absolute path", "such as unix:///secrets/api.sock: three slashes")
    elif len(path.encode()) > unix_socket.LIMIT_BYTES:
        allowed = f"a path of at most {unix_socket.LIMIT_BYTES} bytes"
        yield _problem("address", repr(address), allowed, "name the socket by a shorter link to its folder")


def _has_http_host(address: str) -> bool:
    try:
        parts = parse.urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    is_one_word = address.isascii() and address.isprintable() and " " not in address
    return is_one_word and parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0


def _problem(name: str, got: str, allowed: str, fix: str = "") -> errors.Problem:
    return errors.Problem(path=f"{name} ({VARIABLES[name]})", got=got, allowed=allowed, fix=fix)
