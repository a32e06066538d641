"""The emulator of the instance metadata service: a token first, then what an instance may know of itself."""

import pytest

from nomad_csi_sandbox.imds import app, documents

INSTANCE = documents.Instance(instance_id="i-0123456789abcdef0", availability_zone="eu-west-1b")


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def client(clock):
    """A client of the application, without a server."""
    return app.create_app(INSTANCE, app.Tokens(clock)).test_client()


@pytest.fixture
def token(client):
    """Headers with a token for a minute."""
    reply = client.put("/latest/api/token", headers={app.TTL_HEADER: "60"})
    return {app.TOKEN_HEADER: reply.text}


def test_identity_document_names_instance_zone_and_region(client, token):
    """What a node plugin gets is what EC2 knows of the instance."""
    document = client.get("/latest/dynamic/instance-identity/document", headers=token).get_json(force=True)

    assert document == {
        "accountId": "123456789012",
        "architecture": "x86_64",
        "availabilityZone": "eu-west-1b",
        "imageId": "ami-0123456789abcdef0",
        "instanceId": "i-0123456789abcdef0",
        "instanceType": "m6i.large",
        "region": "eu-west-1",
        "version": "2017-09-30",
    }


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("ami-id", "ami-0123456789abcdef0"),
        ("instance-id", "i-0123456789abcdef0"),
        ("network/interfaces/macs", "02:00:00:00:00:01/"),
        ("block-device-mapping", "ami\nroot"),
    ],
)
def test_meta_data_is_answered_with_and_without_a_slash(client, token, path, text, slash):
    """Attachments that a driver counts: one network interface, the root device, no other."""
    reply = client.get(f"/latest/meta-data/{path}{slash}", headers=token)

    assert (reply.status_code, reply.text) == (200, text)


def test_no_credentials_are_handed_out(client, token):
    """Whoever needs keys gets them elsewhere."""
    assert client.get("/latest/meta-data/iam/security-credentials/", headers=token).status_code == 404


@pytest.mark.parametrize("headers", [{}, {app.TOKEN_HEADER: "made-up"}])
def test_nothing_is_told_without_a_token(client, headers):
    """Version 1 is off, as it should be on a real instance."""
    assert client.get("/latest/meta-data/instance-id", headers=headers).status_code == 401


def test_token_expires(client, clock, token):
    """Good until its time is over, not a moment longer."""
    path = "/latest/meta-data/instance-id"
    clock.now += 59.9
    before = client.get(path, headers=token).status_code
    clock.now += 0.1

    assert (before, client.get(path, headers=token).status_code) == (200, 401)
