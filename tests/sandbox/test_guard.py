"""What stands in front of the sandbox's HTTP servers: no web page of another site gets through."""

import io
import os

import pytest

from nomad_csi_sandbox import guard

PORT = "43617"
HERE = f"127.0.0.1:{PORT}"


def ask(headers, body=b"", token_header="", *, is_own=True):
    """Send a request through a guard, over a connection of this user or not; return status, body seen, and text."""
    seen, statuses = [], []

    def behind(environment, start_response):
        seen.append(environment["wsgi.input"].read())
        start_response("200 OK", [])
        return [b""]

    own = {
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": PORT,
        "REMOTE_ADDR": "127.0.0.1",
        "REMOTE_PORT": 54321,
        "wsgi.input": io.BytesIO(body),
        "CONTENT_LENGTH": str(len(body)) if body else "",
    }
    named = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
    environment = own | named | {"CONTENT_TYPE": headers.get("Content-Type", "")}
    made = guard.Guard(
        behind,
        token_header=token_header,
        is_own_user=lambda *ends: is_own if ends == (("127.0.0.1", 54321), ("127.0.0.1", int(PORT))) else None,
    )
    text = b"".join(made(environment, lambda status, _headers: statuses.append(status)))
    return int(statuses[0][:3]), seen, text.decode()


@pytest.mark.parametrize("host", [HERE, f"localhost:{PORT}"])
@pytest.mark.parametrize("more", [{}, {"Origin": f"http://{HERE}"}, {"Sec-Fetch-Site": "none"}])
def test_programs_and_the_servers_own_pages_pass(host, more):
    """Given a Host of this machine, and no other site in the headers."""
    assert ask({"Host": host} | more)[:2] == (200, [b""])


@pytest.mark.parametrize(
    "host", ["", "evil.example.com", f"evil.example.com:{PORT}", "127.0.0.1", "127.0.0.1:1", f"[::1]:{PORT}"]
)
def test_other_hosts_are_refused(host):
    """Given a name that an attacker points at 127.0.0.1 (DNS rebinding), or another port."""
    status, seen, text = ask({"Host": host} if host else {})

    assert (status, seen) == (403, [])
    assert text == f"expected Host {HERE} or localhost:{PORT}; this is a server of the nomad-csi sandbox\n"


@pytest.mark.parametrize(
    "more",
    [
        {"Origin": "https://evil.example.com"},
        {"Origin": "null"},
        {"Origin": f"https://{HERE}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_requests_of_other_sites_are_refused(more):
    """Given a page elsewhere that names the server by its address: a form, an image, a fetch."""
    status, seen, _ = ask({"Host": HERE} | more)

    assert (status, seen) == (403, [])


@pytest.mark.parametrize("is_own", [False, None])
def test_other_users_are_refused(is_own):
    """And those whose user the system does not show."""
    status, seen, text = ask({"Host": HERE}, is_own=is_own)

    assert (status, seen) == (403, [])
    assert text == (
        f"expected a connection of the user who runs it, user id {os.getuid()}; "
        "this is a server of the nomad-csi sandbox\n"
    )


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "application/json"}, 200),
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"X-Nomad-Token": "t"}, 200),
        ({}, 415),
        ({"Content-Type": "text/plain;charset=UTF-8"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded", "X-Nomad-Token": "t"}, 415),
    ],
)
def test_bodies_are_json_where_the_server_takes_json_only(headers, status):
    """A browser asks first before it sends JSON or a token elsewhere; Nomad's own client names no type."""
    assert ask({"Host": HERE} | headers, b"{}", "X-Nomad-Token")[0] == status
    assert ask({"Host": HERE} | headers, b"{}")[0] == 200
    assert ask({"Host": HERE} | headers, b"", "X-Nomad-Token")[0] == 200


def test_a_body_without_a_length_counts():
    """Sent in chunks."""
    headers = {"Host": HERE, "Transfer-Encoding": "chunked", "Content-Type": "text/plain"}

    assert ask(headers, b"", "X-Nomad-Token")[0] == 415
