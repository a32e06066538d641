"""The functions of the provider."""

import grpc
import pytest


@pytest.mark.parametrize(
    ("region", "partition"), [("us-east-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")]
)
def test_partition(engine, region, partition):
    """The partition follows from the region."""
    assert engine.invoke("aws:index/getPartition:getPartition", region=region)["partition"] == partition


def test_availability_zones(engine):
    """Names and ids are in the same order."""
    zones = engine.invoke("aws:index/getAvailabilityZones:getAvailabilityZones", state="available")

    assert zones["names"] == [f"us-east-1{letter}" for letter in "abcdef"]
    assert len(zones["zoneIds"]) == 6
    assert zones["zoneIds"][0] == "use1-az6"


def test_subnet_by_zone_and_by_id(engine):
    """The default subnet of a zone is the same when asked for by its id."""
    by_zone = engine.invoke("aws:ec2/getSubnet:getSubnet", availabilityZone="us-east-1b", defaultForAz=True)
    by_id = engine.invoke("aws:ec2/getSubnet:getSubnet", id=by_zone["id"])

    assert by_id == by_zone
    assert {name: by_id[name] for name in ("availabilityZone", "cidrBlock", "defaultForAz", "region", "tags")} == {
        "availabilityZone": "us-east-1b",
        "cidrBlock": "172.31.16.0/20",
        "defaultForAz": True,
        "region": "us-east-1",
        "tags": {},
    }
    assert by_id["arn"] == f"arn:aws:ec2:us-east-1:123456789012:subnet/{by_id['id']}"


@pytest.mark.parametrize(
    ("token", "arguments", "message"),
    [
        ("aws:ec2/getSubnet:getSubnet", {"tags": {"no": "such"}}, "no matching EC2 Subnet found"),
        ("aws:ec2/getVpc:getVpc", {"tags": {"no": "such"}}, "no matching EC2 VPC found"),
        (
            "aws:ec2/getSubnet:getSubnet",
            {"defaultForAz": True},
            "multiple EC2 Subnets matched; use additional constraints to reduce matches to a single EC2 Subnet",
        ),
        (
            "aws:ec2/getAmi:getAmi",
            {},
            "the emulator of the aws provider does not know the function aws:ec2/getAmi:getAmi; it knows those of "
            "FUNCTIONS in nomad_csi_sandbox/aws/provider/functions.py: add one there, by its token",
        ),
    ],
)
def test_rejects_what_is_not_one_answer(engine, token, arguments, message):
    """A function that finds none or several, or that is not there, is a sentence."""
    with pytest.raises(grpc.RpcError) as refused:
        engine.invoke(token, **arguments)

    assert refused.value.details() == message
