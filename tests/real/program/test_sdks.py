"""The components from a TypeScript and a Go program, by the SDKs that Pulumi generates from the plugin's schema."""

import itertools
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from nomad_csi.provider import hosting
from tests.pages.topologies import TOPOLOGIES
from tests.real.program.test_yaml_program import camel
from tests.schema import examples

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
PLUGIN = "./.pulumi-plugins/nomad-csi/pulumi-resource-nomad-csi"
CERTIFICATES = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR")
SETTINGS = {
    "npm": (("npm", "config", "get"), {"npm_config_cache": "cache", "npm_config_userconfig": "userconfig"}),
    "go": (("go", "env"), {name: name for name in ("GOPATH", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY")}),
}
"""How each tool says where this user's caches and settings are, and the variables for them: HOME is another one."""


@dataclass
class Language:
    """One that an SDK is generated for."""

    folder: str
    needs: tuple
    program: str
    after: str
    check: tuple
    layout: tuple = ("true",)
    """Prints the files that are not laid out as this language has them."""

    @property
    def absent(self):
        """The programs it needs that are not on PATH."""
        return [name for name in self.needs if shutil.which(name) is None]

    def task_driver(self, values):
        """Return *values* as an argument of the plugin in a program."""
        if self.folder == "typescript":
            return f" taskDriver: {json.dumps(camel(values))},"
        text = {"Command": "command", "ClientDataDir": "client_data_dir"}
        fields = [f"Name: nomadcsi.TaskDriverName({json.dumps(values['name'])}),"]
        fields += [f"{field}: pulumi.String({json.dumps(values[name])})," for field, name in text.items()]
        words = ", ".join(f"pulumi.String({json.dumps(word)})" for word in values["arguments"])
        return f" TaskDriver: &nomadcsi.TaskDriverArgs{{{' '.join(fields)} Arguments: pulumi.StringArray{{{words}}}}},"


LANGUAGES = [
    Language(
        folder="typescript",
        needs=("pulumi-language-nodejs", "node", "npm"),
        program="index.ts",
        after='awsRegion: "us-east-1",',
        check=("node_modules/.bin/tsc", "--noEmit"),
    ),
    Language(
        folder="go",
        needs=("pulumi-language-go", "go"),
        program="main.go",
        after='AwsRegion: pulumi.String("us-east-1"),',
        check=("go", "build", "-o", "/dev/null", "."),
        layout=("gofmt", "-l", "main.go"),
    ),
]


@pytest.fixture(params=LANGUAGES, ids=lambda one: one.folder)
def language(request):
    """Each language whose tools are here."""
    if absent := request.param.absent:
        pytest.skip(f"not on PATH: {', '.join(absent)}")
    return request.param


def test_the_page_says_what_is_typed_here():
    """The commands of docs/howto/languages.md are those of the tests here and in test_git_package.py."""
    text = (ROOT / "docs/howto/languages.md").read_text()
    own, by_git = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)

    assert own.splitlines() == ["nomad-csi plugin install", f"pulumi package add {PLUGIN}", "pulumi up"]
    assert re.fullmatch(r"pulumi package add https://github\.com/\w+/nomad-csi/infra/pulumi-plugin@v[\d.]+\n", by_git)


def test_a_program_stands_the_storage_up_and_takes_it_away(language, stack, world, tmp_path):
    """With the commands of docs/howto/languages.md: the SDK compiles, and the volume is registered, stays, and goes."""
    folder = tmp_path / language.folder
    shutil.copytree(EXAMPLES / language.folder, folder)
    program = folder / language.program
    text = program.read_text()
    assert text.count(language.after) == 1
    program.write_text(text.replace(language.after, language.after + language.task_driver(world.task_driver)))
    written = stack(folder, **tools(language.needs[-1]))

    written.command("plugin", "install")
    written.run("package", "add", PLUGIN)
    checked = subprocess.run(
        language.check, cwd=folder, env=written.environment, capture_output=True, text=True, timeout=400, check=False
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


def test_the_examples_of_the_schema_compile(language, stack, tmp_path):
    """All of them in one program, and each topology, with the generated SDK; those for Go are as gofmt writes them."""
    folder = tmp_path / language.folder
    shutil.copytree(EXAMPLES / language.folder, folder)
    [written] = [one for one in examples.LANGUAGES if one.name == language.folder]
    package = json.loads(hosting.Hosted().schema)
    project = stack(folder, **tools(language.needs[-1]))

    project.command("plugin", "install")
    project.run("package", "add", PLUGIN)
    for parts, words in itertools.product(((), *TOPOLOGIES.values()), (language.check, language.layout)):
        (folder / language.program).write_text(examples.program(written, package, parts))
        done = subprocess.run(
            words, cwd=folder, env=project.environment, capture_output=True, text=True, timeout=400, check=False
        )
        assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def tools(name):
    """Return the environment by which the tool *name* finds caches, settings and certificates of this user."""
    command, names = SETTINGS[name]
    found = {variable: output(*command, key) for variable, key in names.items()}
    return found | {key: os.environ[key] for key in CERTIFICATES if key in os.environ}


def output(*command):
    """Return what *command* prints."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
