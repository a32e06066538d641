"""
Whose connection it is: the user at the other end, which the kernel knows of every connection from this machine.

A server on 127.0.0.1 is open to all users of the machine, and Pulumi's protocol has no password: an engine sends none.
Source: linux, ``include/uapi/linux/inet_diag.h`` and ``net/ipv4/inet_diag.c``, sock_diag(7); ``/proc/net/tcp`` in
proc(5). What they say of connections half open or closed, and of an IPv6 socket with an IPv4 address: tried on 6.18,
2026-11.
"""

import os
import socket
import struct
import sys
from pathlib import Path

Address = tuple[str, int]
"""IPv4 address and port."""

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
"""Connections of IPv4 sockets, and of IPv6 sockets, which may have an IPv4 address."""

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_HEADER = struct.Struct("=IHHII")
"""``nlmsghdr``: length, type, flags, sequence number, port id."""

_REQUEST = struct.Struct("=BBBxI")
"""``inet_diag_req_v2`` before its socket: family, protocol, extensions, states."""

_ALL = 0xFFFFFFFF
_NO_COOKIE = b"\xff" * 8
_USER = struct.Struct("=II")
"""``idiag_uid`` and ``idiag_inode``."""

_USER_OFFSET = _HEADER.size + 64
"""``inet_diag_msg``: four bytes, ``inet_diag_sockid`` of 48, and three numbers before them."""


def is_own_user(peer: Address, here: Address) -> bool | None:
    """
    Return whether the process that connected from *peer* to *here*, an address of this process, runs as its user.

    False, too, where the other end has been closed, and cannot be queried. ``None``: the system does not say,
    as macOS and Windows do not. Asking takes 0.03 ms; where only `TABLES` answer, up to 20 ms on a large machine.
    """
    holders = _ask(peer, here)
    if holders is None:
        holders = _read(peer, here)
    if holders is None:
        return None
    uid, inode = holders
    # A socket that no process has open has no inode, and the kernel calls it root's.
    return bool(inode) and uid == os.getuid()


def _ask(peer: Address, here: Address) -> tuple[int, int] | None:
    """Return user and inode of the socket at *peer*; ``None`` where the kernel has no such socket, or no answer."""
    ends = b"".join(socket.inet_aton(host).ljust(16, b"\0") for host, _ in (peer, here))
    sought = struct.pack("!HH", peer[1], here[1]) + ends + struct.pack("=I", 0) + _NO_COOKIE
    body = _REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, _ALL) + sought
    head = _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
            kernel.sendto(head + body, (0, 0))
            reply = kernel.recv(4096)
    except (AttributeError, OSError):  # another system, or a kernel without it
        return None
    if _HEADER.unpack_from(reply)[1] != _SOCK_DIAG_BY_FAMILY:
        return None
    uid, inode = _USER.unpack_from(reply, _USER_OFFSET)
    return uid, inode


def _read(peer: Address, here: Address) -> tuple[int, int] | None:
    """Return the same from `TABLES`: no user and no inode where it is closed, ``None`` where they lack our own end."""
    try:
        rows = [line.split() for table in TABLES if table.exists() for line in table.read_text().splitlines()[1:]]
    except OSError:
        return None
    ends = {(row[1][-13:], row[2][-13:]): (int(row[7]), int(row[9])) for row in rows}
    if (_hexadecimal(here), _hexadecimal(peer)) not in ends:
        return None
    return ends.get((_hexadecimal(peer), _hexadecimal(here)), (0, 0))


def _hexadecimal(address: Address) -> str:
    """Return *address* as the tables write it: ``0100007F:1F90`` is 127.0.0.1, port 8080, on most machines."""
    return f"{int.from_bytes(socket.inet_aton(address[0]), sys.byteorder):08X}:{address[1]:04X}"
