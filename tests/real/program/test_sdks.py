"""The components from a TypeScript program, by the SDK that Pulumi generates from the plugin's schema."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.real.program.test_yaml_program import camel

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
PLUGIN = "./.pulumi-plugins/nomad-csi/pulumi-resource-nomad-csi"
CERTIFICATES = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR")
NEEDS = ("pulumi-language-nodejs", "node", "npm")
ABSENT = [name for name in NEEDS if shutil.which(name) is None]
AFTER = 'awsRegion: "us-east-1",'

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"not on PATH: {', '.join(ABSENT)}")


def test_the_page_says_what_is_typed_here():
    """The commands of docs/languages.md are those of the next test."""
    [block] = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs/languages.md").read_text(), re.MULTILINE | re.DOTALL)

    assert block.splitlines() == ["nomad-csi plugin install", f"pulumi package add {PLUGIN}", "pulumi up"]


def test_a_program_stands_the_storage_up_and_takes_it_away(stack, world, tmp_path):
    """With the commands of docs/languages.md: the SDK compiles, and the volume is registered, stays, and goes."""
    folder = tmp_path / "typescript"
    shutil.copytree(EXAMPLES / "typescript", folder)
    program = folder / "index.ts"
    text = program.read_text()
    assert text.count(AFTER) == 1
    program.write_text(text.replace(AFTER, f"{AFTER} taskDriver: {json.dumps(camel(world.task_driver))},"))
    written = stack(folder, **of_npm())

    written.command("plugin", "install")
    written.run("package", "add", PLUGIN)
    checked = subprocess.run(
        ("node_modules/.bin/tsc", "--noEmit"),
        cwd=folder,
        env=written.environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    written.run("up", "--yes", "--skip-preview")
    outputs = json.loads(written.run("stack", "output", "--json"))
    with world.nomad() as client:
        [volume] = client.request("GET", "/v1/volumes", query={"type": "csi"}).data
        external_id = client.request("GET", f"/v1/volume/csi/{volume['ID']}").data["ExternalID"]
    written.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    gone = written.run("destroy", "--yes", "--skip-preview")

    assert outputs == {"externalId": external_id, "registrationId": "default/mysql"}
    assert (volume["ID"], volume["PluginID"], external_id[:4]) == ("mysql", "aws-ebs0", "vol-")
    assert "9 deleted" in gone, gone


def of_npm():
    """Return the environment by which npm finds this user's cache, settings and certificates: HOME is another one."""
    found = {f"npm_config_{key}": output("npm", "config", "get", key) for key in ("cache", "userconfig")}
    return found | {key: os.environ[key] for key in CERTIFICATES if key in os.environ}


def output(*command):
    """Return what *command* prints."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
