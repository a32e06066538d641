"""The specs of the pages on snapshots and on EFS are ones, and the numbers on the pages are those of the code."""

import json
import re
from pathlib import Path

import yaml

from nomad_csi.aws import calls
from nomad_csi.plan import iam, snapshot_schedules, storage
from nomad_csi.spec import model as spec

HOWTO = Path(__file__).parents[2] / "docs/howto"
SNAPSHOTS = (HOWTO / "snapshots.md").read_text()
SHARED = (HOWTO / "share-a-file-system.md").read_text()
[SPEC] = re.findall(r"^```yaml schedule\n(.*?)^```$", SNAPSHOTS, re.MULTILINE | re.DOTALL)
IN_ONE, WITH_IAM = re.findall(r"^```yaml\n(.*?)^```$", SHARED, re.MULTILINE | re.DOTALL)
[STATEMENT] = re.findall(r"^```json\n(.*?)^```$", SHARED, re.MULTILINE | re.DOTALL)


def test_the_spec_of_the_page_has_no_problem():
    """It is planned, and the volume carries the tag that the page names."""
    mysql, _shared = storage.plan_document(yaml.safe_load(SPEC), owner="shop/prod").volumes

    assert isinstance(mysql.source, spec.EbsSpec)
    assert mysql.source.tags["nomad-csi:snapshots/nightly"] == "shop/prod"
    assert f"`{snapshot_schedules.tag_key('NAME')}`" in SNAPSHOTS


def test_the_page_restores_an_ebs_snapshot():
    """The plugin's policy allows it to create the volume."""
    [restore] = re.findall(r"^```yaml restore-ebs\n(.*?)^```$", SNAPSHOTS, re.MULTILINE | re.DOTALL)
    [plugin] = storage.plan_document(yaml.safe_load(restore)).plugins

    assert plugin.iam_policy is not None
    assert "ec2:CreateVolume" in json.dumps(plugin.iam_policy.document)


def test_the_volumes_of_the_page_share_a_file_system():
    """Each is an access point of it."""
    found = storage.plan_document(yaml.safe_load(IN_ONE)).volumes

    assert [(item.source.file_system, item.source.access_point.path) for item in found] == [
        ("web", "/uploads"),
        ("web", "/sessions"),
    ]


def test_the_statement_of_the_page_is_the_one_that_the_stack_would_make():
    """The role of the page's volume, and the same for a file system made elsewhere."""
    [shared] = storage.plan_document(yaml.safe_load(WITH_IAM)).volumes
    statement = json.loads(STATEMENT)
    [system], [point] = statement["Resource"], statement["Condition"]["StringEquals"].values()

    assert isinstance(shared.source, spec.EfsSpec)
    actions = iam.volume_actions(shared.source, shared.registration.mount_options.mount_flags)
    assert [statement] == iam.efs_policy(system, point, actions)["Statement"]


def test_the_page_says_how_often_is_asked():
    """The number of attempts."""
    assert f"sent up to {calls.ATTEMPTS} times" in (HOWTO / "troubleshooting.md").read_text()
