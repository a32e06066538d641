"""A program with a network of its own under the emulated engine, from the first `up` to `destroy`."""

import json
import os
import subprocess
import sys

import boto3
import pytest

from nomad_csi_sandbox.aws.provider import __main__ as provider_main

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"}
PROJECT = {"name": "network", "runtime": "python", "config": {"aws:region": "us-east-1"}}
PROGRAM = """
import pulumi
import pulumi_aws as aws

vpc = aws.ec2.Vpc("own", cidr_block="10.30.0.0/16", enable_dns_hostnames=True)
gateway = aws.ec2.InternetGateway("own", vpc_id=vpc.id)
table = aws.ec2.RouteTable("own", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": gateway.id}])
aws.ec2.MainRouteTableAssociation("own", vpc_id=vpc.id, route_table_id=table.id)
for number, zone in enumerate(aws.get_availability_zones(state="available").names[:2]):
    aws.ec2.Subnet(zone, vpc_id=vpc.id, cidr_block=f"10.30.{number}.0/24", availability_zone=zone)
key = aws.kms.Key("own", deletion_window_in_days=7)
aws.kms.Alias("own", name="alias/network", target_key_id=key.key_id)
pulumi.export("vpc", vpc.id)
pulumi.export("table", table.id)
"""


@pytest.fixture
def run(tmp_path, endpoint_url):
    """Run an operation of the emulated engine on the program: ``run("up")``. Returns what it prints."""
    (tmp_path / "Pulumi.yaml").write_text(json.dumps(PROJECT))
    (tmp_path / "__main__.py").write_text(PROGRAM)
    with provider_main.serving(endpoint_url, CREDENTIALS) as port:
        own = {"NOMAD_CSI_SANDBOX": "engine:emulator", "PULUMI_DEBUG_PROVIDERS": f"aws:{port}", "HOME": str(tmp_path)}
        environment = {"PATH": os.environ["PATH"], "AWS_REGION": "us-east-1", **CREDENTIALS, **own}

        def operation(*words):
            command = [sys.executable, "-m", "nomad_csi_sandbox.engine", *words]
            place = ["--project", str(tmp_path), "--stack", "dev", "--state", str(tmp_path / "state.json")]
            done = subprocess.run(
                [*command, *place],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        yield operation


def test_network_stands_up_and_goes(run, endpoint_url, tmp_path):
    """All of it is in AWS as the program says, a second run changes nothing, a destroy removes it in order."""
    run("up", "--skip-preview")
    outputs = next(
        each["outputs"]
        for each in json.loads((tmp_path / "state.json").read_text())["deployment"]["resources"]
        if each["type"] == "pulumi:pulumi:Stack"
    )
    ec2 = boto3.client(
        "ec2",
        endpoint_url=endpoint_url,
        region_name="us-east-1",
        aws_access_key_id="sandbox",
        aws_secret_access_key="sandbox",
    )
    of_vpc = [{"Name": "vpc-id", "Values": [outputs["vpc"]]}]
    subnets = ec2.describe_subnets(Filters=of_vpc)["Subnets"]
    main = [*of_vpc, {"Name": "association.main", "Values": ["true"]}]
    [table] = ec2.describe_route_tables(Filters=main)["RouteTables"]
    again = run("up", "--skip-preview")
    run("destroy", "--skip-preview")

    assert sorted((one["AvailabilityZone"], one["CidrBlock"]) for one in subnets) == [
        ("us-east-1a", "10.30.0.0/24"),
        ("us-east-1b", "10.30.1.0/24"),
    ]
    assert table["RouteTableId"] == outputs["table"]
    assert "unchanged" in again
    assert "created" not in again
    assert ec2.describe_subnets(Filters=of_vpc)["Subnets"] == []
