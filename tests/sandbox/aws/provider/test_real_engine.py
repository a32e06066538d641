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


def _volumes(by_hand, *ids):
    filters = [{"Name": "volume-id", "Values": list(ids)}]
    return by_hand("ec2").describe_volumes(Filters=filters)["Volumes"]
