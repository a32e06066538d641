"""The page of topologies: whole programs to copy, in each language of the components."""

import json

from nomad_csi.provider import hosting
from tests.schema import examples
from tests.schema.examples import PLUGIN, Output

KEY = "arn:aws:kms:us-east-1:123456789012:key/1234abcd"
ROLE = {"role_name": "nomad-client"}
FILES = Output("files", "file_system_id")


def _of_set(index, zone):
    args = {"plugin_id": PLUGIN, "volume_id": f"data[{index}]", "availability_zone": zone, "size_gib": 40}
    args |= {"kms_key_arn": KEY, "snapshots": [Output("nightly", "schedule")]}
    return "EbsVolume", f"data{index}", args


def _of_application(name, user):
    point = {"path": f"/{name}", "uid": user, "gid": user}
    return "EfsVolume", name, {"plugin_id": PLUGIN, "file_system_id": FILES, "access_point": point}


TOPOLOGIES = {
    "One EBS volume": (
        ("CsiPlugin", "plugin", {"driver": "aws-ebs", "aws_region": "us-east-1", "iam": ROLE}),
        ("EbsVolume", "mysql", {"plugin_id": PLUGIN, "availability_zone": "us-east-1a", "size_gib": 40}),
    ),
    "A set of EBS volumes in three zones, with a key and snapshots": (
        (
            "CsiPlugin",
            "plugin",
            {"driver": "aws-ebs", "aws_region": "us-east-1", "iam": ROLE | {"kms_key_arns": [KEY]}},
        ),
        ("EbsSnapshots", "nightly", {"at": "04:30", "keep": 7, "kms_key_arns": [KEY]}),
        *(_of_set(index, f"us-east-1{letter}") for index, letter in enumerate("abc")),
    ),
    "An EFS file system that two applications share": (
        ("CsiPlugin", "plugin", {"driver": "aws-efs", "aws_region": "us-east-1"}),
        (
            "EfsFileSystem",
            "files",
            {
                "mount_targets": [{"availability_zone": f"us-east-1{letter}"} for letter in "ab"],
                "clients": {"cidr_blocks": ["10.0.0.0/16"]},
            },
        ),
        _of_application("web", 1001),
        _of_application("worker", 1002),
    ),
}
"""By title: class, name and arguments of each component."""

INTRODUCTION = """# Topologies

Whole programs to copy. [Components](components.md) has every argument; [your own stack](../start/your-own-stack.md) and
[programs in other languages](../howto/languages.md) say how a project is set up. Replace zones, network, role and key.
"""


def lines():
    """Yield the lines of the page."""
    package = json.loads(hosting.Hosted().schema)
    yield INTRODUCTION
    for title, parts in TOPOLOGIES.items():
        yield f"## {title}\n"
        for language in examples.LANGUAGES:
            yield f"```{language.name}\n{examples.program(language, package, parts).rstrip()}\n```\n"


def page():
    """Return the page."""
    return "\n".join(lines())
