"""The one line that adds the package, with its address in git, to a program in YAML."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from tests.real.program import git_server
from tests.real.program.test_sdks import output
from tests.real.program.test_yaml_program import camel

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "yaml"
VERSION = metadata.version("nomad-csi")
SOURCE = f"https://{git_server.HOST}/shop/nomad-csi.git/infra/pulumi-plugin@v{VERSION}"
NAME = f"resource-{git_server.HOST}_shop_nomad-csi.git_infra_pulumi-plugin-v{VERSION}"
ABSENT = [name for name in ("git", "pulumi-language-yaml") if shutil.which(name) is None]

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"not on PATH: {', '.join(ABSENT)}")


def checkout():
    """Return the files of the checkout that are not ignored."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    return [name for name in found.split("\0") if name and (ROOT / name).is_file()]


def git(folder, *words):
    """Run git in *folder*, with no settings of this user."""
    settings = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"]}
    who = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    subprocess.run(["git", *who, *words], cwd=folder, env=settings, capture_output=True, check=True, timeout=120)


@pytest.fixture(scope="module")
def repositories(tmp_path_factory):
    """A server with this checkout as a repository with the tag of its version; the folder has ``ca.pem``, too."""
    folder, copy = tmp_path_factory.mktemp("repositories"), tmp_path_factory.mktemp("copy")
    for name in checkout():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    git(copy, "init", "--quiet")
    git(copy, "add", "--all")
    git(copy, "commit", "--quiet", "--message", "a release")
    git(copy, "tag", f"v{VERSION}")
    git(folder, "clone", "--quiet", "--bare", str(copy), "shop/nomad-csi.git")
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(git_server.serving(folder))
        except OSError as error:
            pytest.skip(f"needs port {git_server.PORT} of {git_server.HOST}: {error.strerror}")
        yield folder


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """
    A home of Pulumi for all tests here, which install the plugin once.

    Pulumi would download the provider that pulumi-aws names. The folder of one is enough: the world attaches its own.
    """
    folder = tmp_path_factory.mktemp("pulumi-home")
    program = folder / f"plugins/resource-aws-v{metadata.version('pulumi-aws')}" / "pulumi-resource-aws"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    return folder


@pytest.fixture
def environment(home, repositories):
    """What Pulumi, and the pip that it starts, find: this interpreter, this user's settings of pip, the authority."""
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    pip["PIP_CACHE_DIR"] = output(sys.executable, "-m", "pip", "cache", "dir")
    trusted = os.pathsep.join([str(repositories), os.environ.get("SSL_CERT_DIR", "/etc/ssl/certs")])
    python = {"PULUMI_PYTHON_CMD": sys.executable, "PULUMI_HOME": str(home)}
    return pip | python | {"SSL_CERT_DIR": trusted}


def write(folder, task_driver):
    """Write the example in YAML into *folder*, with the task driver of this world."""
    shutil.copytree(EXAMPLE, folder)
    document = yaml.safe_load((folder / "Pulumi.yaml").read_text())
    document["resources"]["aws-ebs0"]["properties"]["taskDriver"] = camel(task_driver)
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(document))


def installed(environment):
    """Return the records of what the folder *environment* has installed: which files, with which content."""
    found = Path(environment).glob("lib/python*/site-packages/*.dist-info/RECORD")
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def test_one_line_adds_the_package(stack, world, tmp_path, home, environment):
    """The entry is there, the volume is registered, stays and goes; the checkout's environment is as before."""
    folder = tmp_path / "yaml"
    write(folder, world.task_driver)
    before = installed(sys.prefix)
    written = stack(folder, **environment)

    written.run("package", "add", SOURCE)
    written.run("up", "--yes", "--skip-preview")
    outputs = json.loads(written.run("stack", "output", "--json"))
    with world.nomad() as client:
        [volume] = client.request("GET", "/v1/volumes", query={"type": "csi"}).data
        external_id = client.request("GET", f"/v1/volume/csi/{volume['ID']}").data["ExternalID"]
    written.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    gone = written.run("destroy", "--yes", "--skip-preview")

    assert outputs == {"externalId": external_id, "registrationId": "default/mysql"}
    assert re.search(r"\b\d+ deleted", gone), gone
    assert installed(sys.prefix) == before
    assert (home / "plugins" / NAME / "infra/pulumi-plugin/venv/pyvenv.cfg").is_file()
    assert not (home / "plugins" / NAME / ".venv").exists()
    assert not (ROOT / "infra/pulumi-plugin/venv").exists()
