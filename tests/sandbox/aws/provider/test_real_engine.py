"""The emulator under the real Pulumi engine: what a stack sees from the first preview to the last destroy."""

import json
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.real_pulumi,
    pytest.mark.skipif(shutil.which("pulumi") is None, reason="no pulumi on PATH"),
]

PROJECT = """
name: emulator
runtime: {name: python, options: {virtualenv: %s}}
config: {aws:region: us-east-1}
"""

PROGRAM = """
import json
import signal
import pulumi
import pulumi_aws as aws

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
config = pulumi.Config()
subnet = aws.ec2.get_subnet(availability_zone="us-east-1a", default_for_az=True)
volume = aws.ebs.Volume(
    "data", availability_zone=config.require("zone"), size=config.require_int("size"), type="gp3", encrypted=True
)
group = aws.ec2.SecurityGroup("nfs", vpc_id=subnet.vpc_id)
files = aws.efs.FileSystem("files", encrypted=True)
target = aws.efs.MountTarget(
    "files", file_system_id=files.id, subnet_id=subnet.id, security_groups=[group.id]
)
aws.efs.AccessPoint("files", file_system_id=files.id, opts=pulumi.ResourceOptions(depends_on=[target]))
mount = files.arn.apply(
    lambda arn: {"Effect": "Allow", "Action": "elasticfilesystem:ClientMount", "Resource": arn, "Principal": "*"}
)
others = mount.apply(lambda one: json.dumps({"Version": "2012-10-17", "Statement": [one]}))
aws.efs.FileSystemPolicy("files", file_system_id=files.id, policy=others)
statement = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
role = aws.iam.Role("own", assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}))
statement = volume.arn.apply(lambda arn: {"Effect": "Allow", "Action": "ec2:AttachVolume", "Resource": arn})
document = statement.apply(lambda one: json.dumps({"Version": "2012-10-17", "Statement": [one]}))
policy = aws.iam.Policy("own", policy=document)
aws.iam.RolePolicyAttachment("own", role=role.name, policy_arn=policy.arn)
pulumi.export("volume", volume.id)
"""


YAML_PROGRAM = """
name: emulator
runtime: yaml
config: {aws:region: us-east-1}
variables:
  account: {fn::invoke: {function: aws:getCallerIdentity, return: accountId}}
resources:
  network: {type: aws:ec2:Vpc, properties: {cidrBlock: 10.3.0.0/16, tags: {use: storage}}}
  europe: {type: pulumi:providers:aws, properties: {region: eu-west-1}}
  one:
    type: aws:ec2:Subnet
    properties: {vpcId: "${network.id}", cidrBlock: 10.3.1.0/24, availabilityZone: us-east-1a}
  way: {type: aws:ec2:InternetGateway, properties: {vpcId: "${network.id}"}}
  table:
    type: aws:ec2:RouteTable
    properties: {vpcId: "${network.id}", routes: [{cidrBlock: 0.0.0.0/0, gatewayId: "${way.id}"}]}
  key: {type: aws:kms:Key, properties: {description: of volumes, deletionWindowInDays: 7}}
  data:
    type: aws:ebs:Volume
    properties: {availabilityZone: "${one.availabilityZone}", size: 4, encrypted: true, kmsKeyId: "${key.arn}"}
  far:
    type: aws:ebs:Volume
    properties: {availabilityZone: eu-west-1a, size: 4}
    options: {provider: "${europe}"}
outputs: {account: "${account}", zone: "${data.availabilityZone}", far: "${far.arn}", size: "${data.size}"}
"""


@pytest.fixture
def pulumi(run_server, endpoint_url, tmp_path):
    """Run ``pulumi`` on a stack of its own, attached to the emulator; returns exit code and output."""
    credentials = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"}
    _, port, _ = run_server("nomad_csi_sandbox.aws.provider", {"AWS_ENDPOINT_URL": endpoint_url, **credentials})
    project, state = tmp_path / "project", tmp_path / "state"
    project.mkdir()
    state.mkdir()
    (project / "Pulumi.yaml").write_text(PROJECT % sys.prefix)
    (project / "__main__.py").write_text(PROGRAM)
    environment = {
        "PATH": os.environ["PATH"],
        "PULUMI_BACKEND_URL": state.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "test",
        "PULUMI_DEBUG_PROVIDERS": f"aws:{port}",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }

    def run(*arguments):
        ended = subprocess.run(
            [shutil.which("pulumi"), "--non-interactive", *arguments],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return ended.returncode, ended.stdout + ended.stderr

    assert run("stack", "init", "dev")[0] == 0
    run("config", "set", "size", "10")
    run("config", "set", "zone", "us-east-1a")
    return run


def test_life_of_a_stack(pulumi, by_hand):
    """Create, no change, change in place, drift, replacement and destruction, in the right order and without surprise."""
    up = ("up", "--yes", "--skip-preview")
    unchanged = ("--expect-no-changes",)

    code, text = pulumi("preview")
    assert (code, "10 to create" in text) == (0, True), text
    code, text = pulumi(*up)
    assert (code, "10 created" in text) == (0, True), text
    assert pulumi(*up, *unchanged)[0] == 0
    assert pulumi("refresh", "--yes", "--skip-preview", *unchanged)[0] == 0
    assert pulumi("preview", *unchanged)[0] == 0
    first = json.loads(pulumi("stack", "output", "volume", "--json")[1])

    pulumi("config", "set", "size", "20")
    code, text = pulumi(*up)
    assert (code, "1 updated" in text, "[diff: ~size]" in text) == (0, True, True), text

    by_hand("ec2").modify_volume(VolumeId=first, Size=30)
    code, text = pulumi("refresh", "--yes", "--skip-preview")
    assert (code, "[diff: ~size]" in text) == (0, True), text
    pulumi("config", "set", "size", "40")

    pulumi("config", "set", "zone", "us-east-1b")
    code, text = pulumi(*up)
    assert (code, "1 replaced" in text, "[diff: ~availabilityZone" in text) == (0, True, True), text
    second = json.loads(pulumi("stack", "output", "volume", "--json")[1])
    assert [item["VolumeId"] for item in _volumes(by_hand, first, second)] == [second]

    code, text = pulumi("destroy", "--yes", "--skip-preview")
    assert (code, "10 deleted" in text) == (0, True), text
    assert _volumes(by_hand, first, second) == []


@pytest.mark.skipif(shutil.which("pulumi-language-yaml") is None, reason="no pulumi-language-yaml on PATH")
def test_program_in_yaml_with_a_network_and_two_regions(pulumi, tmp_path):
    """The schema lets a YAML program use types of the table; each provider of the program has its own region."""
    (tmp_path / "project" / "Pulumi.yaml").write_text(YAML_PROGRAM)

    code, text = pulumi("preview")
    assert (code, "9 to create" in text) == (0, True), text
    code, text = pulumi("up", "--yes", "--skip-preview")
    assert code == 0, text
    outputs = json.loads(pulumi("stack", "output", "--json")[1])
    code, text = pulumi("up", "--yes", "--refresh", "--skip-preview", "--expect-no-changes")
    assert code == 0, text
    code, text = pulumi("destroy", "--yes", "--skip-preview")
    assert code == 0, text

    assert (outputs["account"], outputs["zone"], outputs["size"]) == ("123456789012", "us-east-1a", 4)
    assert outputs["far"].startswith("arn:aws:ec2:eu-west-1:123456789012:volume/vol-")


def _volumes(by_hand, *ids):
    filters = [{"Name": "volume-id", "Values": list(ids)}]
    return by_hand("ec2").describe_volumes(Filters=filters)["Volumes"]
