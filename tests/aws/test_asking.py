"""How AWS is asked: in few sessions, with the credentials of now."""

import concurrent.futures
from urllib import parse

import boto3
import botocore.parsers
import pytest

from nomad_csi import errors
from nomad_csi.aws import asking

REGION = "us-east-1"


@pytest.fixture
def sessions(monkeypatch, tmp_path):
    """Return the arguments of each session that is made; credentials are in the environment."""
    made, real = [], boto3.session.Session
    monkeypatch.setattr(boto3.session, "Session", lambda **words: made.append(words) or real(**words))
    monkeypatch.setattr(asking, "_SESSIONS", {})
    monkeypatch.setattr(asking, "SESSION_S", 3600)  # a busy machine may need more than a minute here
    for name in ("CONFIG_FILE", "SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(f"AWS_{name}", str(tmp_path / name))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "first")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    return made


def access_key(client):
    """Return the access key that *client* signs with."""
    query = parse.parse_qs(parse.urlsplit(client.generate_presigned_url("describe_volumes")).query)
    return query["X-Amz-Credential"][0].partition("/")[0]


def test_clients_of_many_threads_share_a_session(sessions):
    """A session takes fifteen times as long as a client, and is used by one thread at a time."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        clients = list(pool.map(lambda _: asking.client("ec2", REGION), range(24)))

    assert sessions == [{"region_name": REGION, "profile_name": None}]
    assert {access_key(client) for client in clients} == {"first"}


def test_another_region_is_another_session(sessions):
    """A client asks the region that it was made for."""
    found = [asking.client("ec2", region).meta.region_name for region in (REGION, "eu-west-1", REGION)]

    assert found == [REGION, "eu-west-1", REGION]
    assert len(sessions) == 2


@pytest.mark.usefixtures("sessions")
def test_credentials_that_changed_are_used(monkeypatch):
    """Credentials of the environment count from the call after they changed."""
    asking.client("ec2", REGION)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "second")

    assert access_key(asking.client("ec2", REGION)) == "second"


@pytest.mark.usefixtures("sessions")
def test_files_are_read_again_after_a_minute(monkeypatch, tmp_path):
    """Something else may renew the credentials in the SDK's file while a command watches."""
    file = tmp_path / "SHARED_CREDENTIALS_FILE"
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    file.write_text("[default]\naws_access_key_id = old\naws_secret_access_key = b\n")
    asking.client("ec2", REGION)
    file.write_text("[default]\naws_access_key_id = new\naws_secret_access_key = b\n")
    monkeypatch.setattr(asking, "SESSION_S", -1)

    assert access_key(asking.client("ec2", REGION)) == "new"


def test_an_end_point_that_is_not_awss_is_an_error_of_one_sentence():
    """Such as a proxy, or an emulator that fails: its reply cannot be read, and botocore has no base class for that."""
    with (
        pytest.raises(errors.AwsError, match=r"^AWS in us-east-1 could not be asked: Unable"),
        asking.aws_errors(REGION),
    ):
        raise botocore.parsers.ResponseParserError("Unable to parse response (no element found)")
