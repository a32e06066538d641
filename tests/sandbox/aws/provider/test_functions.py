"""The functions of the provider."""

import grpc
import pytest


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
