"""
Connection settings: those of Nomad's own CLI, by the same environment variables.

Source: hashicorp/nomad, ``api/api.go`` (``DefaultConfig``), 2026-08-21.
"""

import contextlib
import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib import parse

from nomad_csi import errors
from nomad_csi.spec import names

# The HTTP proxy of an address, chosen as by Nomad's own CLI: golang.org/x/net, ``http/httpproxy/proxy.go``, 2026-08.


PROXY_VARIABLES: Mapping[str, str] = {"http": "HTTP_PROXY", "https": "HTTPS_PROXY"}
"""Scheme of the address -> variable that names its proxy; the lower-case name is read too."""

EXCEPT = "NO_PROXY"
"""
Variable with the hosts to connect to directly, separated by commas: a name also includes its subdomains, an address or
a network such as ``10.0.0.0/8`` itself, ``*`` all.
"""


def proxy_of(address: str, environment: Mapping[str, str]) -> str:
    """Return the proxy for *address*, with its scheme; empty: connect directly, as always to this machine."""

    def value(variable: str) -> str:
        return environment.get(variable) or environment.get(variable.lower(), "")

    try:
        parts = parse.urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return ""  # not an address; its user reports that
    proxy = value(PROXY_VARIABLES[parts.scheme]) if parts.scheme in PROXY_VARIABLES else ""
    entries = [entry.strip().lower() for entry in value(EXCEPT).split(",")]
    if not proxy or names.is_loopback(host) or any(_is_excepted(entry, host) for entry in entries if entry):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_excepted(entry: str, host: str) -> bool:
    """Return whether *entry* of ``NO_PROXY`` includes *host*."""
    with contextlib.suppress(ValueError):  # a name
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
    name = entry.lstrip("*.")
    return not name or host == name or host.endswith(f".{name}")


# The settings, and the variables that give them.


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
    "insecure_http": "NOMAD_CSI_INSECURE_HTTP",
}
"""Field of `Connection` -> environment variable. Empty means not set, as in Nomad; the last is not Nomad's."""

CREDENTIALS = ("token", "http_auth")
"""Fields that are credentials."""

BOOLEANS = ("tls_skip_verify", "insecure_http")

_ANYWAY = f"to send it anyway: --insecure-http, {VARIABLES['insecure_http']}=1, or nomad-csi:insecureHttp in Pulumi"

_FLAGS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)
"""Values that Go's ``strconv.ParseBool`` accepts."""

_TOKEN = re.compile(r"[!-~]*")
"""Values that an HTTP header can carry unchanged."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """
    Connection settings of one caller to one Nomad cluster. Neither token nor password appears in its ``repr``.

    Raises `errors.SpecError` with everything that is wrong.
    """

    address: str = "http://127.0.0.1:4646"
    """``http://`` or ``https://``, host and port; or ``unix://`` and the absolute path of a task's ``api.sock``."""

    is_default: bool = field(default=False, repr=False, compare=False)
    """Whether the address is the default, because none was given: an error says so."""

    proxy: str = field(default="", repr=False)
    """``http://`` or ``https://``, host and port of an HTTP proxy, with ``user:password@`` if it requires
    them. Empty: connect directly."""

    token: str = field(default="", repr=False)
    """ACL token; sent only in the header ``X-Nomad-Token``. Empty if ACLs are off."""

    namespace: str = "default"
    """Default namespace of calls."""

    region: str = ""
    """Region of the requests; empty: the region of the agent at *address*."""

    ca_cert: str = ""
    """PEM file of trusted authorities; empty: those of *ca_path*, or of the system."""

    ca_path: str = ""
    """Folder of trusted PEM files; not read if *ca_cert* is given."""

    client_cert: str = ""
    """PEM file of the client certificate, for servers that require one; needs *client_key*."""

    client_key: str = ""

    tls_server_name: str = ""
    """Name in the server's certificate; empty: the host of *address*. Nomad's own are ``server.REGION.nomad``."""

    tls_skip_verify: bool = False
    """Accept any certificate. urllib3 warns of it."""

    http_auth: str = field(default="", repr=False)
    """``user:password`` for a proxy in front of Nomad that requires HTTP basic authentication."""

    insecure_http: bool = False
    """Allow credentials and CSI secrets to go unencrypted to other machines: plain HTTP, and plain gRPC to plugins."""

    def __post_init__(self) -> None:
        problems = tuple(_problems(vars(self))) or tuple(self._exposed())
        if problems:
            raise errors.SpecError(problems, source=SOURCE)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no error may show: the credentials, and the password of `http_auth` alone."""
        return self.token, self.http_auth, self.http_auth.partition(":")[2]

    def _exposed(self) -> Iterator[errors.Problem]:
        sent = [VARIABLES[name] for name in CREDENTIALS if getattr(self, name)]
        if sent and not (self.is_private or self.insecure_http):
            allowed = f"https:// to another machine, as {' and '.join(sent)} would be sent unencrypted"
            yield problem("address", repr(self.address), allowed, _ANYWAY)

    @property
    def is_private(self) -> bool:
        """Whether only Nomad can read what is sent: TLS, a socket, or an address of this machine."""
        parts = parse.urlsplit(self.address)
        return parts.scheme != "http" or names.is_loopback(parts.hostname or "")

    def refuse_secrets(self) -> None:
        """Raise `errors.RefusedError` if CSI secrets could be read in transit, unless `insecure_http`."""
        if not (self.is_private or self.insecure_http):
            raise errors.RefusedError(
                f"{self.address}: CSI secrets would be sent unencrypted to another machine; use https://; {_ANYWAY}"
            )

    @classmethod
    def from_environment(
        cls,
        environment: Mapping[str, str],
        file: Mapping[str, Any] | None = None,
        *,
        secrets: str = "",
        **overrides: Any,
    ) -> Self:
        """
        Return the connection that *environment*, *file* and *overrides* describe.

        Besides `VARIABLES`, `PROXY_VARIABLES` are read.

        Args:
            environment: environment variables.
            file: settings from a file, such as a Pulumi stack config. They take precedence over *environment*.
            secrets: other secrets that the caller sends to Nomad and did not read from *file*, such as ``CSI secrets``.
            overrides: settings from the command line, by field. One that is not ``None`` takes precedence over *file*.

        Raises `errors.SpecError`, also if credentials of *environment*, or *secrets*, would go to an address that
        only *file* names: anyone who can change the file could collect them.
        """
        known = _environment_settings(environment)
        of_file, typed = dict(file or {}), {name: value for name, value in overrides.items() if value is not None}
        given = known | of_file | typed
        if "address" in of_file and "address" not in typed:
            sent = [VARIABLES[name] for name in CREDENTIALS if name in known and name not in of_file | typed]
            named = str(known.get("address", cls.address))
            if exposed := _foreign_address(str(of_file["address"]), named, [*sent, *([secrets] if secrets else [])]):
                raise errors.SpecError((exposed,), source=SOURCE)
        own = {"proxy": proxy_of(str(given.get("address", cls.address)), environment)}
        return cls(**own | {"is_default": "address" not in given} | given)


def same_address(first: str, second: str) -> bool:
    """Return whether two addresses of Nomad are equal: case and a trailing ``/`` do not count."""
    return first.rstrip("/").lower() == second.rstrip("/").lower()


def _environment_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    settings: dict[str, Any] = {
        name: environment[variable] for name, variable in VARIABLES.items() if environment.get(variable)
    }
    return settings | {name: _FLAGS.get(settings[name], settings[name]) for name in BOOLEANS if name in settings}


def _foreign_address(address: str, named: str, sent: Sequence[str]) -> errors.Problem | None:
    """Return the problem of *sent* credentials going to *address* of a file, if the environment names *named*."""
    if not sent or same_address(address, named):
        return None
    return problem(
        "address",
        f"{address!r} from a file",
        f"{named}, the only address that {' and '.join(sent)} may be sent to",
        f"if it is right, type it (--address {address}), or set {VARIABLES['address']} to it; a Pulumi program can "
        "have the token beside the address: pulumi config set --secret nomad-csi:token",
    )


def _problems(values: Mapping[str, Any]) -> Iterator[errors.Problem]:
    yield from _address_problems(values["address"])
    if values["proxy"] and not _has_http_host(values["proxy"]):
        yield errors.Problem(
            path=f"proxy ({' or '.join(PROXY_VARIABLES.values())})",
            got="[secret]" if "@" in values["proxy"] else repr(values["proxy"]),
            allowed="http:// or https:// with host and port",
            fix=f"such as http://proxy.example.net:3128; what is asked directly belongs into {EXCEPT}",
        )
    if not _TOKEN.fullmatch(values["token"]):
        yield problem("token", "[secret]", "printable ASCII", "remove spaces and line ends, as a file may have added")
    if not names.NAMESPACE.fullmatch(values["namespace"]):
        yield problem("namespace", repr(values["namespace"]), "the name of one namespace")
    if bool(values["client_cert"]) != bool(values["client_key"]):
        missing = "client_key" if values["client_cert"] else "client_cert"
        yield problem(missing, "", "client_cert and client_key, or neither", f"set {VARIABLES[missing]}")
    for name in BOOLEANS:
        if not isinstance(values[name], bool):
            yield problem(name, repr(values[name]), "true or false")


SCHEME = "unix://"
"""Scheme of a socket path, which a task uses for the agent of its client."""


def socket_path(address: str) -> str:
    """Return the socket path of *address*; empty: it has none."""
    return address.removeprefix(SCHEME) if address.startswith(SCHEME) else ""


def _address_problems(address: str) -> Iterator[errors.Problem]:
    allowed = "http:// or https:// with host and port, and nothing behind it; or unix:// with an absolute path"
    is_socket = address.startswith(f"{SCHEME}/")
    if "@" in address and not is_socket:
        yield problem("address", "[secret]", allowed, f"move user and password to {VARIABLES['http_auth']}")
    elif not is_socket and not (_has_http_host(address) and re.fullmatch(r"[^/]+//[^/?#]+/?", address)):
        yield problem("address", repr(address), allowed, "such as http://127.0.0.1:4646")


def _has_http_host(address: str) -> bool:
    try:
        parts = parse.urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    is_one_word = address.isascii() and address.isprintable() and " " not in address
    return is_one_word and parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0


def problem(name: str, got: str, allowed: str, fix: str = "") -> errors.Problem:
    """Return the problem of the setting *name*, with its variable."""
    return errors.Problem(path=f"{name} ({VARIABLES[name]})", got=got, allowed=allowed, fix=fix)
