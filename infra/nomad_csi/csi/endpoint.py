"""
Endpoints of CSI plugins: parse them, and check for obstacles before any call.

Nomad puts a plugin's socket at ``<state_dir>/csi/plugins/<alloc_id>/csi.sock`` on the client, in a folder that only
root may enter.
Source: hashicorp/nomad, ``client/allocrunner/taskrunner/plugin_supervisor_hook.go``, 2026-08-21.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from nomad_csi import errors
from nomad_csi.spec import names

SOCKET_PATH_BYTES = 107
"""Longest path of a Unix socket. Source: unix(7), ``sun_path`` has 108 bytes with its end mark."""

FORMS = "unix:///run/csi.sock, /run/csi.sock or HOST:PORT"

_SOCKET = re.compile(r"(?:unix:(?://(?=/)|(?!//)))?(?P<path>/[^\0]*)", re.IGNORECASE)
_TCP = re.compile(r"(?:tcp://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?P<port>\d{1,5})", re.IGNORECASE)
_PORT_MAX = 65535


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


def parse(text: str) -> Endpoint:
    """
    Read ``unix:///abs``, ``unix:/abs``, ``/abs``, ``tcp://host:port`` or ``host:port``.

    Raises `errors.CsiError` for anything else, and for a socket path that is longer than the system allows.
    """
    if match := _SOCKET.fullmatch(text):
        length = len(os.fsencode(match["path"]))
        if length > SOCKET_PATH_BYTES:
            raise errors.CsiError(
                text,
                f"the socket path has {length} bytes, the system allows {SOCKET_PATH_BYTES}",
                advice="give the Nomad client a shorter data_dir or state_dir, or link the socket to a shorter path",
            )
        return Endpoint(text=text, socket=Path(match["path"]))
    match = _TCP.fullmatch(text)
    if match and 0 < int(match["port"]) <= _PORT_MAX:
        return Endpoint(text=text, host=match["host"].strip("[]"), port=int(match["port"]))
    raise errors.CsiError(text, f"expected {FORMS}, got {text!r}")


NO_SOCKET = "no such socket"


def check(where: Endpoint) -> None:
    """Raise `errors.CsiError` for what the socket file shows without a call: `NO_SOCKET`, or no permission."""
    if where.socket is None:
        return
    try:
        where.socket.stat()
        is_open = os.access(where.socket, os.W_OK, effective_ids=True)
    except (FileNotFoundError, NotADirectoryError):
        advice = "the plugin is not running here, has not come up yet, or listens elsewhere: compare its --endpoint"
        raise errors.CsiError(where.text, NO_SOCKET, advice=advice) from None
    except PermissionError:
        is_open = False
    if not is_open:
        advice = "run as root on the client: Nomad keeps the sockets of plugins in folders that only root may enter"
        raise errors.CsiError(where.text, "no permission to connect to the socket", advice=advice)


def refuse_secrets(where: Endpoint, *, insecure: bool) -> None:
    """
    Raise `errors.RefusedError` where secrets sent to *where* could be read on the way.

    CSI over TCP is not encrypted. *insecure*: the operator accepts that.
    """
    if not where.is_private and not insecure:
        raise errors.RefusedError(
            f"{where.text}: CSI secrets would be sent unencrypted to another machine; use the plugin's socket "
            "(ssh:// for one on another machine); to send them anyway: --insecure-http, NOMAD_CSI_INSECURE_HTTP=1, or "
            "nomad-csi:insecureHttp in Pulumi"
        )
