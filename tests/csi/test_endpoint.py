import re
import socket
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.csi import endpoint


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("unix:///run/csi.sock", "unix:/run/csi.sock"),
        ("unix:/run/csi.sock", "unix:/run/csi.sock"),
        ("UNIX:///run/csi.sock", "unix:/run/csi.sock"),
        ("/run/csi.sock", "unix:/run/csi.sock"),
        ("tcp://127.0.0.1:9000", "dns:///127.0.0.1:9000"),
        ("nas.example.net:9000", "dns:///nas.example.net:9000"),
        ("[::1]:9000", "dns:///[::1]:9000"),
    ],
)
def test_endpoint_is_read_in_every_form(text, target):
    """All spellings that CSI tools use lead to the same place."""
    assert endpoint.parse(text).target == target


def test_socket_path_is_kept_as_path():
    """A Unix end point names its file."""
    assert endpoint.parse("unix:///run/csi.sock").socket == Path("/run/csi.sock")


@pytest.mark.parametrize(
    "text", ["", "csi.sock", "unix:csi.sock", "http://x/y", "host", "host:0", "host:65536", "tcp://", "/a\0b"]
)
def test_rejects_what_is_no_endpoint(text):
    """A text that names no place is refused with the forms that do."""
    with pytest.raises(errors.CsiError, match=re.escape(f"expected {endpoint.FORMS}")):
        endpoint.parse(text)


def test_rejects_two_slashes_with_the_third_one_as_advice():
    """The drivers' own default, unix://tmp/csi.sock, would name a host "tmp"."""
    with pytest.raises(errors.CsiError) as caught:
        endpoint.parse("unix://tmp/csi.sock")

    assert caught.value.advice == "write unix:///tmp/csi.sock"


def test_rejects_path_longer_than_a_socket_may_have():
    """107 bytes pass, 108 do not."""
    longest = "/" + "ä" * 53

    assert endpoint.parse(longest).socket == Path(longest)
    with pytest.raises(errors.CsiError, match="the socket path has 108 bytes, the system allows 107"):
        endpoint.parse(longest + "x")


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("/run/" + "x" * 120, "correct the path, or link the socket to a shorter one"),
        ("/" + "x" * 100 + "/csi/plugins/a/csi.sock", "give the Nomad client a shorter data_dir or state_dir"),
    ],
)
def test_advice_for_a_long_path_is_about_whose_it_is(path, advice):
    """Nomad's folders are named by its agent; any other path is the operator's own."""
    with pytest.raises(errors.CsiError) as caught:
        endpoint.parse(path)

    assert caught.value.advice == advice


@pytest.mark.parametrize("path", ["gone.sock", "file/csi.sock"])
def test_missing_socket_is_an_obstacle(folder, path):
    """A path that does not exist is told from one that may not be read."""
    (folder / "file").touch()

    found = endpoint.obstacle(endpoint.parse(str(folder / path)))

    assert (found.kind, found.message) == ("missing", "no such socket")


def test_file_that_is_no_socket_is_an_obstacle(folder):
    """The folder of the allocation is not the socket in it."""
    assert endpoint.obstacle(endpoint.parse(str(folder))).kind == "not-a-socket"


def test_locked_folder_is_an_obstacle_with_advice(locked):
    """Nomad keeps sockets in folders for root alone: whoever may not enter is told to be root."""
    found = endpoint.obstacle(endpoint.parse(str(locked)))

    assert found.kind == "no-permission"
    assert "run as root on the client" in found.advice


def test_socket_without_write_permission_is_an_obstacle(folder, request):
    """Connecting needs the right to write."""
    path = folder / "csi.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o444)
        folder.chmod(0o755)
        request.getfixturevalue("unprivileged")

        assert endpoint.obstacle(endpoint.parse(str(path))).kind == "no-permission"


def test_check_raises_the_obstacle(folder):
    """What `obstacle` finds, `check` raises with its advice."""
    with pytest.raises(errors.CsiError, match=r"csi.sock: no such socket; the plugin is not running here"):
        endpoint.check(endpoint.parse(str(folder / "csi.sock")))


def test_tcp_has_no_obstacle():
    """Nothing can be known of a TCP end point without a connection."""
    assert endpoint.obstacle(endpoint.parse("127.0.0.1:1")) is None
    endpoint.check(endpoint.parse("127.0.0.1:1"))


def test_socket_file_of_a_dead_process_refuses(folder):
    """The file stays when a process is killed; a connection tells."""
    path = folder / "csi.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        where = endpoint.parse(str(path))

        assert not endpoint.is_refused(where, timeout_s=1)
    assert endpoint.is_refused(where, timeout_s=1)
    path.unlink()
    assert endpoint.is_refused(where, timeout_s=1)


def test_closed_tcp_port_refuses():
    """The same for TCP."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = endpoint.parse(f"127.0.0.1:{server.getsockname()[1]}")

        assert not endpoint.is_refused(where, timeout_s=1)
    assert endpoint.is_refused(where, timeout_s=1)


def test_unreadable_socket_is_not_taken_for_a_dead_one(folder, request):
    """Only a refused connection verifies that nobody listens."""
    path = folder / "csi.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0)
        request.getfixturevalue("unprivileged")

        assert not endpoint.is_refused(endpoint.parse(str(path)), timeout_s=1)
