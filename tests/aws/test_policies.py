"""The role of an instance, with its policies."""

import json
from urllib import parse

import boto3
import pytest
from botocore import stub

from nomad_csi import errors
from nomad_csi.aws import calls, instances, records

PROFILE = "arn:aws:iam::123456789012:instance-profile/path/nomad-client"
ROLE = "arn:aws:iam::123456789012:role/nomad-client"
BOUNDARY = "arn:aws:iam::123456789012:policy/limit"
DOCUMENT = {"Version": "2012-10-17", "Statement": []}


@pytest.fixture
def iam(monkeypatch):
    """A client of IAM whose answers a test writes, in the order of the questions."""
    client = boto3.client("iam", region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
    monkeypatch.setattr(calls, "client", lambda *_, **__: client)
    with stub.Stubber(client) as scripted:
        profile = {
            "Path": "/path/",
            "InstanceProfileName": "nomad-client",
            "InstanceProfileId": "AIPA00000000000000000",
            "Arn": PROFILE,
            "CreateDate": "2026-01-01",
            "Roles": [
                {
                    "Path": "/",
                    "RoleName": "nomad-client",
                    "RoleId": "AROA00000000000000000",
                    "Arn": ROLE,
                    "CreateDate": "2026-01-01",
                    "PermissionsBoundary": {"PermissionsBoundaryArn": BOUNDARY},
                }
            ],
        }
        wanted = {"InstanceProfileName": "nomad-client"}
        scripted.add_response("get_instance_profile", {"InstanceProfile": profile}, wanted)
        yield scripted
        scripted.assert_no_pending_responses()
    client.close()


def test_policies_of_every_page_are_read(iam):
    """A permission may be in the last policy of a role with many."""
    text = parse.quote(json.dumps(DOCUMENT))
    for name, asked, more in (
        ("first", {}, {"IsTruncated": True, "Marker": "next"}),
        ("second", {"Marker": "next"}, {"IsTruncated": False}),
    ):
        attached = {"PolicyName": name, "PolicyArn": f"arn:aws:iam::aws:policy/{name}"}
        page = {"AttachedPolicies": [attached]} | more
        iam.add_response("list_attached_role_policies", page, {"RoleName": "nomad-client"} | asked)
        iam.add_response("get_policy", {"Policy": {"DefaultVersionId": "v1"}}, {"PolicyArn": attached["PolicyArn"]})
        iam.add_response("get_policy_version", {"PolicyVersion": {"Document": text}})
    for name, more in (("inline", {"IsTruncated": True, "Marker": "next"}), ("last", {"IsTruncated": False})):
        iam.add_response("list_role_policies", {"PolicyNames": [name]} | more)
        inline = {"RoleName": "nomad-client", "PolicyName": name, "PolicyDocument": text}
        iam.add_response("get_role_policy", inline)

    found = instances.read_role(PROFILE, "us-east-1")

    documents = dict.fromkeys(["first", "second", "inline", "last"], DOCUMENT)
    assert found == records.IamRole(name="nomad-client", arn=ROLE, documents=documents, boundary=BOUNDARY)


def test_role_that_may_not_be_read_is_an_error(iam):
    """In a sentence."""
    iam.add_client_error("list_attached_role_policies", "AccessDenied", "no", http_status_code=403)

    with pytest.raises(errors.AwsError, match="ListAttachedRolePolicies in us-east-1: AccessDenied: no"):
        instances.read_role(PROFILE, "us-east-1")
