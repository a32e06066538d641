"""Whose connection it is: real connections of this process; those of another user: `tests/e2e/test_other_users.py`."""

import contextlib
import socket

import pytest

from nomad_csi_sandbox import peers


@pytest.fixture
def server():
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


@contextlib.contextmanager
def connected(server, family=socket.AF_INET, host="127.0.0.1"):
    """Connect to *server*; the value is our end, the address of the other, and the other."""
    with socket.socket(family) as client:
        client.connect((host, server.getsockname()[1]))
        accepted, address = server.accept()
        with accepted:
            yield client, address


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")])
def test_our_own_is_ours(server, family, host):
    """Also that of an IPv6 socket, and when it has sent all that it will."""
    with connected(server, family, host) as (client, address):
        assert peers.is_own_user(address, server.getsockname()) is True
        client.shutdown(socket.SHUT_WR)
        assert peers.is_own_user(address, server.getsockname()) is True


def test_closed_one_is_nobodys(server):
    """The kernel calls a socket that no process has open root's: it does not count for root either."""
    with connected(server) as (client, address):
        client.close()
        assert peers.is_own_user(address, server.getsockname()) is False


def test_unknown_where_the_system_does_not_show_it(server, monkeypatch):
    """Given a system without netlink."""
    with connected(server) as (_, address):
        monkeypatch.setattr(socket, "AF_NETLINK", 99)
        assert peers.is_own_user(address, server.getsockname()) is None
