"""The mistakes of `tests/walk/breaks.yaml` in TypeScript: the same refusals as in Python, in `pulumi preview`."""

import ast
import json
import re
import shutil

import pytest
from pulumi.provider.experimental import util

from tests.real.program.test_sdks import EXAMPLES, LANGUAGES, PLUGIN, tools
from tests.walk import test_breaks

[TYPESCRIPT] = [one for one in LANGUAGES if one.folder == "typescript"]
ROWS = (
    "zone that is a region",
    "plugin declared after its volume",
    "volume under a plugin of another kind",
    "iops that an output has",
    "two volumes with one id",
    "two volumes in one folder of a new file system",
    "iam of a file system without the mount flag",
    "two plugins with one job",
)
"""One of each kind: a value, an output, and what two components say together."""

OTHER = re.compile(r"(CsiPlugin|EbsVolume|EfsVolume) \w+ has")
HEADING = re.compile(r"\w+ \S+: \d+ problems?")
NAMES = {
    "late": "ebs.version",  # which no preview of a new stack knows
    "role": '"clients"',
    "KEY": json.dumps("arn:aws:kms:us-east-1:123456789012:key/1"),
    "VOLUME": json.dumps("vol-0123456789abcdef0"),
}


PRELUDE = """
ebs = CsiPlugin("ebs", driver="aws-ebs", aws_region="us-east-1", iam={"role_name": role})
efs = CsiPlugin("efs", driver="aws-efs", aws_region="us-east-1")
"""


def written(node, is_named=True):
    """Return the Python expression *node* in TypeScript; *is_named*: keys of a mapping are arguments."""
    if isinstance(node, ast.Constant):
        return json.dumps(node.value)
    if isinstance(node, ast.Name):
        return NAMES.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{written(node.value)}.{util.camel_case(node.attr)}"
    if isinstance(node, ast.List):
        return f"[{', '.join(map(written, node.elts))}]"
    if isinstance(node, ast.UnaryOp):
        return f"-{written(node.operand)}"
    if isinstance(node, ast.Dict):
        keys = [util.camel_case(key.value) if is_named else key.value for key in node.keys]
        fields = (f"{json.dumps(key)}: {written(value)}" for key, value in zip(keys, node.values, strict=True))
        return f"{{{', '.join(fields)}}}"
    assert isinstance(node, ast.Call), ast.dump(node)
    if node.func.id == "known":
        return f"pulumi.output({written(node.args[0])})"
    given = {item.arg: item.value for item in node.keywords if item.arg not in (None, "opts")}
    spread = [f"...{item.value.id}" for item in node.keywords if item.arg is None]
    fields = [f"{util.camel_case(name)}: {written(value, name != 'tags')}" for name, value in given.items()]
    return f"new {node.func.id}({written(node.args[0])}, <any>{{{', '.join((*spread, *fields))}}})"


def program(source):
    """Return the program of a row in TypeScript."""
    lines = []
    for node in ast.parse(PRELUDE + source).body:
        if isinstance(node, ast.Assign):
            lines.append(f"const {node.targets[0].id} = {written(node.value)};")
        else:
            lines.append(f"{written(node.value)};")
    return "\n".join((HEAD, *lines, ""))


HEAD = f"""
import * as pulumi from "@pulumi/pulumi";
import {{ CsiPlugin, CsiVolume, EbsSnapshots, EbsVolume, EfsBackups, EfsFileSystem, EfsVolume, ExistingVolume }}
  from "nomad-csi";

const NETWORK = {json.dumps({"mountTargets": [{"availabilityZone": "us-east-1a"}], "clients": {"cidrBlocks": ["10.0.0.0/16"]}})};
const POINT = {{ path: "/x", uid: 1000, gid: 1000 }};
const HAS = {{ pluginId: "aws-ebs0", driver: "aws-ebs", availabilityZone: "us-east-1a" }};
"""


@pytest.mark.skipif(bool(TYPESCRIPT.absent), reason=f"not on PATH: {', '.join(TYPESCRIPT.absent)}")
def test_preview_refuses_the_same(stack, tmp_path):
    """With the same words."""
    folder = tmp_path / "typescript"
    shutil.copytree(EXAMPLES / "typescript", folder)
    project = stack(folder, **tools("npm"))
    project.command("plugin", "install")
    project.run("package", "add", PLUGIN)
    wrong = {}

    for name in ROWS:
        row = test_breaks.ROWS[name]
        (folder / "index.ts").write_text(program(row["program"]))
        text = " ".join(project.run("preview", code=1).split())
        # All problems of a component are on one line, without their number; the order of two components varies.
        lines = (OTHER.sub("OTHER has", line) for line in row["says"] if not HEADING.fullmatch(line))
        lacking = [line for line in lines if line not in OTHER.sub("OTHER has", text)]
        if lacking or "Traceback" in text:
            wrong[name] = lacking, text.partition("Diagnostics:")[2][:2000]

    assert not wrong, json.dumps(wrong, indent=1)
