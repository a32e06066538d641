"""How AWS is asked: in few sessions, with the credentials of now."""

import concurrent.futures
from urllib import parse

import boto3
import botocore
import botocore.config
import botocore.exceptions
import pytest
from botocore import parsers

from nomad_csi import errors
from nomad_csi.aws import calls

REGION = "us-east-1"


@pytest.fixture
def sessions(monkeypatch, tmp_path):
    """Return the arguments of each session that is made; credentials are in the environment."""
    made, real = [], boto3.session.Session
    monkeypatch.setattr(boto3.session, "Session", lambda **words: made.append(words) or real(**words))
    calls._session.cache_clear()
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
        clients = list(pool.map(lambda _: calls.client("ec2", REGION), range(24)))

    assert sessions == [{"region_name": REGION}]
    assert {access_key(client) for client in clients} == {"first"}


@pytest.mark.usefixtures("sessions")
def test_credentials_that_changed_are_used(monkeypatch):
    """Credentials of the environment count from the call after they changed."""
    calls.client("ec2", REGION)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "second")

    assert access_key(calls.client("ec2", REGION)) == "second"
    monkeypatch.setenv("AWS_SESSION_TOKEN", "third")
    assert "Token=third" in calls.client("ec2", REGION).generate_presigned_url("describe_volumes")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            botocore.exceptions.MetadataRetrievalError(
                error_msg="Received non 200 response 500 from container metadata: {'Token': 'CANARY'}"
            ),
            "AWS in us-east-1 could not be asked: Error retrieving metadata: Received non 200 response 500",
        ),
        (
            botocore.exceptions.CredentialRetrievalError(provider="custom-process", error_msg="token=CANARY refused"),
            "AWS in us-east-1 could not be asked: Error when retrieving credentials from custom-process: "
            "token=[secret] refused",
        ),
        (
            botocore.exceptions.ClientError(
                {"Error": {"Code": "InvalidToken", "Message": "bad <SessionToken>CANARY</SessionToken>"}}, "GetX"
            ),
            "GetX in us-east-1: InvalidToken: bad <SessionToken>[secret]</SessionToken>",
        ),
        (
            botocore.exceptions.ClientError({"Error": {"Code": "X", "Message": "word " * 200}}, "GetX"),
            f"GetX in us-east-1: X: {'word ' * 101}word",
        ),
        (botocore.exceptions.ClientError({}, "GetX"), "GetX in us-east-1: an error without a code: "),
        (
            parsers.ResponseParserError("invalid XML received: <SecretAccessKey>CANARY"),
            "AWS in us-east-1 could not be asked: its reply is not AWS's; check the endpoint and what stands in front "
            "of it",
        ),
        (botocore.exceptions.NoCredentialsError(), "AWS in us-east-1 could not be asked: Unable to locate credentials"),
        (
            ValueError("Invalid endpoint: htp//x"),
            "AWS in us-east-1 could not be asked: Invalid endpoint: htp//x",
        ),
    ],
)
def test_errors_of_the_sdk_are_shown_without_secrets(error, sentence):
    """What the SDK repeats of a reply, of a program and of AWS's own message."""
    with pytest.raises(errors.AwsError) as caught, calls.aws_errors(REGION):
        raise error

    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("environment", "region"),
    [
        ({}, ""),
        ({"AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-1", "AWS_REGION": ""}, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-1", "AWS_REGION": "us-east-1"}, "us-east-1"),
    ],
)
def test_region_of_the_environment_is_that_of_the_sdk(environment, region):
    """Empty is not set."""
    assert calls.region_of_environment(environment) == region
