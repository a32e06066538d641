"""
Endpoints of CSI plugins: parse them, and check for obstacles before any call.

Nomad puts a plugin's socket at ``<state_dir>/csi/plugins/<alloc_id>/csi.sock`` on the client, in a folder that only
root may enter.
Source: hashicorp/nomad, ``client/allocrunner/taskrunner/plugin_supervisor_hook.go``, 2026-08-21.
"""

import os
import re
import socket
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nomad_csi import errors
from nomad_csi.spec import names

SOCKET_PATH_BYTES = 107
"""Longest path of a Unix socket. Source: unix(7), ``sun_path`` has 108 bytes with its end mark."""

_OF_NOMAD = "/csi/plugins/"
_SHORTER = "give the Nomad client a shorter data_dir or state_dir"

FORMS = "unix:///run/csi.sock, /run/csi.sock or HOST:PORT"

_HOST_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?P<port>\d{1,5})")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """The address of a plugin. Made by `parse`."""

    text: str
    """As it was written; errors and reports show it."""

    socket: Path | None = None
    """Absolute path of a Unix socket; ``None``: TCP."""

    host: str = ""
    """Host name or address for TCP, without brackets."""

    port: int = 0

    @property
    def target(self) -> str:
        """Target for gRPC: ``unix:/run/csi.sock``, ``dns:///127.0.0.1:9000``."""
        if self.socket:
            return f"unix:{self.socket}"
        return f"dns:///[{self.host}]:{self.port}" if ":" in self.host else f"dns:///{self.host}:{self.port}"

    @property
    def is_private(self) -> bool:
        """Whether only the plugin can read what is sent: a socket, or an address of this machine."""
        return self.socket is not None or names.is_loopback(self.host)


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """Why an endpoint cannot be called."""

    kind: Literal["missing", "not-a-socket", "no-permission"]
    message: str
    advice: str


def parse(text: str) -> Endpoint:
    """
    Read ``unix:///abs``, ``unix:/abs``, ``/abs``, ``tcp://host:port`` or ``host:port``.

    Raises `errors.CsiError` for anything else, and for a socket path that is longer than the system allows.
    """
    if text.startswith("/"):
        return _unix(text, text)
    scheme, colon, rest = text.partition(":")
    if colon and scheme.lower() == "unix":
        return _unix(text, _absolute(text, rest))
    if rest.startswith("//") and scheme.lower() != "tcp":
        advice = (
            f"the scheme {scheme!r} is none of them; ssh:// reaches sockets on other machines where a command says so"
        )
        raise errors.CsiError(text, f"expected {FORMS}, got {text!r}", advice=advice)
    return _tcp(text, rest.removeprefix("//") if rest.startswith("//") else text)


def _absolute(text: str, rest: str) -> str:
    """Return the path of ``unix:/abs`` and ``unix:///abs``. With two slashes, the first folder would be a host name."""
    path = rest.removeprefix("//") if rest.startswith("///") else rest
    if path.startswith("/") and not path.startswith("//"):
        return path
    raise errors.CsiError(text, f"expected {FORMS}", advice=f"write unix:///{rest.lstrip('/')}")


def _unix(text: str, path: str) -> Endpoint:
    length = len(os.fsencode(path))
    if length > SOCKET_PATH_BYTES:
        raise errors.CsiError(
            text,
            f"the socket path has {length} bytes, the system allows {SOCKET_PATH_BYTES}",
            advice=_SHORTER if _OF_NOMAD in path else "correct the path, or link the socket to a shorter one",
        )
    if "\0" in path:
        raise errors.CsiError(text, f"expected {FORMS}, got a path with a NUL character")
    return Endpoint(text=text, socket=Path(path))


def _tcp(text: str, address: str) -> Endpoint:
    found = _HOST_PORT.fullmatch(address)
    if found is None or not 0 < int(found["port"]) <= 65535:  # noqa: PLR2004  # the valid ports
        raise errors.CsiError(text, f"expected {FORMS}, got {text!r}")
    return Endpoint(text=text, host=found["host"].strip("[]"), port=int(found["port"]))


def obstacle(endpoint: Endpoint) -> Obstacle | None:
    """Return the obstacle at the socket file, without a call. ``None``: there is none; always for TCP."""
    if endpoint.socket is None:
        return None
    try:
        mode = endpoint.socket.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return _MISSING
    except PermissionError:
        return _NO_PERMISSION
    if not stat.S_ISSOCK(mode):
        return _NOT_A_SOCKET
    return None if os.access(endpoint.socket, os.W_OK, effective_ids=True) else _NO_PERMISSION


def check(endpoint: Endpoint) -> None:
    """Raise `errors.CsiError` if there is an `obstacle`."""
    found = obstacle(endpoint)
    if found:
        raise errors.CsiError(endpoint.text, found.message, advice=found.advice)


def refuse_secrets(endpoint: Endpoint, *, insecure: bool) -> None:
    """
    Raise `errors.RefusedError` where secrets sent to *endpoint* could be read on the way.

    CSI over TCP is not encrypted. *insecure*: the operator accepts that.
    """
    if not endpoint.is_private and not insecure:
        raise errors.RefusedError(
            f"{endpoint.text}: CSI secrets would be sent unencrypted to another machine; use the plugin's socket "
            "(ssh:// for one on another machine); to send them anyway: --insecure-http, NOMAD_CSI_INSECURE_HTTP=1, or "
            "nomad-csi:insecureHttp in Pulumi"
        )


def is_refused(endpoint: Endpoint, *, timeout_s: float) -> bool:
    """Return whether a connection is refused: the process has ended, its socket file may still exist."""
    family = socket.AF_UNIX if endpoint.socket else socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    address = str(endpoint.socket) if endpoint.socket else (endpoint.host, endpoint.port)
    with socket.socket(family) as client:
        client.settimeout(timeout_s)
        try:
            client.connect(address)
        except (ConnectionRefusedError, FileNotFoundError):
            return True
        except OSError:
            return False  # busy, unreachable or unknown: not a dead plugin; the caller reports it
    return False


_MISSING = Obstacle(
    kind="missing",
    message="no such socket",
    advice="the plugin is not running here, has not come up yet, or listens elsewhere: compare its --endpoint",
)
_NO_PERMISSION = Obstacle(
    kind="no-permission",
    message="no permission to connect to the socket",
    advice="run as root on the client: Nomad keeps the sockets of plugins in folders that only root may enter",
)
_NOT_A_SOCKET = Obstacle(
    kind="not-a-socket",
    message="the path exists and is not a socket",
    advice="name the socket itself, such as csi.sock in the folder of the allocation",
)
