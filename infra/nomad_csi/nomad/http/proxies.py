"""
The HTTP proxy through which an address is asked, as Nomad's own command line finds it.

Source: golang.org/x/net, ``http/httpproxy/proxy.go`` (``FromEnvironment``, ``useProxy``), which Go's HTTP client and so
``nomad`` uses; 2026-08.
"""

import ipaddress
from collections.abc import Mapping
from urllib import parse

from nomad_csi.spec import hosts

VARIABLES: Mapping[str, str] = {"http": "HTTP_PROXY", "https": "HTTPS_PROXY"}
"""Scheme of the address -> variable that names its proxy; the same in lower case is read too."""

EXCEPT = "NO_PROXY"
"""
Variable with the hosts that are asked directly, with commas between them: a name also stands for all below it,
``.name`` for these alone, an address or a network such as ``10.0.0.0/8`` for itself, ``*`` for all. A port may follow.
"""


def of(address: str, environment: Mapping[str, str]) -> str:
    """Return the proxy for *address*, with its scheme; empty: ask directly, as this machine itself is always asked."""
    try:
        parts = parse.urlsplit(address)
        host, port = parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return ""  # no address; who uses it says so
    variable = VARIABLES.get(parts.scheme, "")
    found = _value(environment, variable) if variable else ""
    if (
        not found
        or hosts.is_loopback(host)
        or any(_fits(entry, host, port) for entry in _value(environment, EXCEPT).split(","))
    ):
        return ""
    return found if "://" in found else f"http://{found}"


def _value(environment: Mapping[str, str], variable: str) -> str:
    return environment.get(variable) or environment.get(variable.lower(), "")


def _fits(entry: str, host: str, port: int | None) -> bool:
    """Tell whether *entry* of ``NO_PROXY`` names *host*."""
    entry = entry.strip().lower()
    if entry in {"", "*"}:
        return entry == "*"
    if "/" in entry:
        return _in_network(entry, host)
    name, _, its_port = entry.rpartition(":") if entry.count(":") == 1 else (entry, "", "")
    if its_port and its_port != str(port):
        return False
    if _ip(host) is not None:
        return name == host
    below = name.removeprefix("*")
    return host.endswith(below) if below.startswith(".") else host == below or host.endswith(f".{below}")


def _in_network(entry: str, host: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
