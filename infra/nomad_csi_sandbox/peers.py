"""
Whose connection it is: the user at the other end, which the kernel knows of every connection from this machine.

A server on 127.0.0.1 is open to all users of the machine.
Source: linux, ``include/uapi/linux/inet_diag.h`` and ``net/ipv4/inet_diag.c``, sock_diag(7). What it has of connections
half open or closed, and of an IPv6 socket with an IPv4 address: tried on 6.18, 2026-11.
"""

import errno
import os
import socket
import struct

Address = tuple[str, int]
"""IPv4 address and port."""

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_HEADER = struct.Struct("=IHHII")
"""``nlmsghdr``: length, type, flags, sequence number, port id."""

_REQUEST = struct.Struct("=BBBxI")
"""``inet_diag_req_v2`` before its socket: family, protocol, extensions, states."""

_ALL = 0xFFFFFFFF
_NO_COOKIE = b"\xff" * 8
_ERROR = struct.Struct("=i")
"""``nlmsgerr``: a negative error number."""

_USER = struct.Struct("=II")
"""``idiag_uid`` and ``idiag_inode``."""

_USER_OFFSET = _HEADER.size + 64
"""``inet_diag_msg``: four bytes, ``inet_diag_sockid`` of 48, and three numbers before them."""


def is_own_user(peer: Address, here: Address) -> bool | None:
    """
    Return whether the process that connected from *peer* to *here*, an address of this process, runs as its user.

    False, too, where the other end has been closed. ``None``: the system does not show it, as macOS and Windows do not.
    It takes 0.03 ms.
    """
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
        (error,) = _ERROR.unpack_from(reply, _HEADER.size)
        return False if error == -errno.ENOENT else None
    uid, inode = _USER.unpack_from(reply, _USER_OFFSET)
    # A socket that no process has open has no inode, and the kernel calls it root's.
    return bool(inode) and uid == os.getuid()
