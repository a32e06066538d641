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
        ("nas.example.net:65535", "dns:///nas.example.net:65535"),
        ("[::1]:9000", "dns:///[::1]:9000"),
    ],
)
def test_endpoint_is_read_in_every_form(text, target):
    """All spellings that CSI tools use lead to the same place."""
    assert endpoint.parse(text).target == target


@pytest.mark.parametrize(
    "text", ["", "csi.sock", "unix:csi.sock", "http://x/y", "host", "host:0", "host:65536", "tcp://", "/a\0b"]
)
def test_rejects_what_is_no_endpoint(text):
    """A text that names no place is refused with the forms that do."""
    with pytest.raises(errors.CsiError, match=re.escape(f"expected {endpoint.FORMS}")):
        endpoint.parse(text)


def test_rejects_path_longer_than_a_socket_may_have():
    """107 bytes pass, 108 do not."""
    longest = "/" + "ä" * 53

    assert endpoint.parse(longest).socket == Path(longest)
    with pytest.raises(errors.CsiError, match="the socket path has 108 bytes, the system allows 107"):
        endpoint.parse(longest + "x")


@pytest.mark.parametrize("path", ["gone.sock", "file/csi.sock"])
def test_obstacle_is_reported_without_a_call(folder, path):
    """Nothing listens at a path that does not exist."""
    (folder / "file").touch()

    with pytest.raises(errors.CsiError) as caught:
        endpoint.check(endpoint.parse(str(folder / path)))

    assert str(caught.value) == (
        f"{folder / path}: no such socket; the plugin is not running here, has not come up yet, or listens elsewhere: "
        "compare its --endpoint"
    )


def test_socket_without_write_permission_is_an_obstacle(folder, request):
    """Connecting needs the right to write."""
    path = folder / "csi.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
    path.chmod(0o444)
    folder.chmod(0o755)
    request.getfixturevalue("unprivileged")

    with pytest.raises(errors.CsiError, match="no permission to connect to the socket; run as root on the client"):
        endpoint.check(endpoint.parse(str(path)))


def test_locked_folder_is_an_obstacle(locked):
    """Nomad keeps sockets in folders that only root may enter."""
    with pytest.raises(errors.CsiError, match="no permission to connect to the socket; run as root on the client"):
        endpoint.check(endpoint.parse(str(locked)))
