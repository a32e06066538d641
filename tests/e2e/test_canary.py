"""No secret in clear: a canary in every secret place, through good runs and failing ones, then a look everywhere."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from nomad_csi_sandbox.session import folder

CANARY = "canary-5d0a7c"
VOLUME_SECRET = f'{CANARY}-volume "<&>\\é/ of two words'
CHANGED_SECRET = f"{CANARY}-changed"
TOKEN = f"{CANARY}-token"

PLUGIN_WITH_A_BUG = """\
import sys
from nomad_csi.nomad import volumes
from nomad_csi.provider import __main__

def register(client, document, **_options):
    raise ValueError(f"{client.connection.token} {document.secrets}")

volumes.register = register
sys.exit(__main__.main())
"""

PROGRAM = """\
import pulumi
from nomad_csi import ExistingVolume

secrets = {"password": pulumi.Config().require_secret("password")}
ExistingVolume(
    "orphan",
    {"plugin_id": "no-such-plugin", "driver": "aws-efs", "external_id": "fs-0123456789abcdef0", "secrets": secrets},
)
"""


class Watched:
    """A sandbox whose every output is kept."""

    def __init__(self, sandbox):
        self.sandbox = sandbox
        self.outputs = []

    def run(self, *words, environment=None):
        done = self.sandbox.run(*words, environment=environment)
        self.outputs += [done.stdout, done.stderr]
        return done

    def up(self):
        return self.run("up", "--engine", "emulator", "--nomad", "emulator")

    def shell(self, *command, **environment):
        words = [f"{name}={value}" for name, value in environment.items()]
        return self.run("exec", "--", "env", *words, *map(str, command))

    def configure(self, **values):
        """Set keys of the stack's config; ``None`` removes one."""
        document = yaml.safe_load(self.sandbox.config.read_text())
        for name, value in values.items():
            document["config"][f"nomad-csi:{name}"] = value
            if value is None:
                del document["config"][f"nomad-csi:{name}"]
        self.sandbox.config.write_text(yaml.safe_dump(document, sort_keys=False))

    def set_secrets(self, secrets):
        self.sandbox.edit(lambda storage: storage["volumes"][0].update(secrets=secrets))


@pytest.fixture
def watched(sandbox):
    """A sandbox with the EBS plugin and its volume, secrets in both places, and every output of it."""

    def keep_ebs(storage):
        storage["plugins"] = storage["plugins"][:1]
        storage["volumes"] = storage["volumes"][:1]

    sandbox.edit(keep_ebs)
    found = Watched(sandbox)
    found.set_secrets({"password": VOLUME_SECRET})
    place = folder.Folder(sandbox.project)
    place.path.mkdir()
    place.token_file.touch(mode=0o600)
    place.token_file.write_text(TOKEN)  # a sandbox makes it at random, unless it is there
    found.configure(token=TOKEN)
    return found


def leaks(watched, *folders):
    """Return every place where the canary stands in clear, but for two files: the token, and the copy of the config."""
    found = [output for output in watched.outputs if CANARY in output]
    copy = watched.sandbox.project / ".sandbox/Pulumi.sandbox.yaml"
    known = {copy, folder.Folder(watched.sandbox.project).token_file}
    assert all(path.stat().st_mode & 0o077 == 0 for path in known)
    paths = [path for each in folders for path in each.rglob("*") if path not in known]
    found += [str(path) for path in paths if CANARY in path.name]
    found += [str(path) for path in paths if path.is_file() and CANARY.encode() in path.read_bytes()]
    record = json.loads((watched.sandbox.project / ".sandbox/record.json").read_text())
    for process in record["processes"].values():
        for name in ("cmdline", "environ"):
            path = Path(f"/proc/{process['pid']}/{name}")
            if CANARY.encode() in path.read_bytes():
                found.append(str(path))
    return found


@pytest.mark.timeout(900)  # nine runs of the engine in one life
def test_no_secret_stands_anywhere_in_clear(watched, tmp_path):
    """Good runs first, then every way to fail with a secret at hand; then every output, file and process is checked."""
    sandbox = watched.sandbox

    assert watched.up().returncode == 0
    assert watched.run("up", "--refresh").returncode == 0
    watched.set_secrets({"password": CHANGED_SECRET})
    assert "[diff: ~secrets]" in watched.run("preview").stdout
    assert watched.up().returncode == 0
    assert watched.run("status").returncode == 0
    assert "15 unchanged" in watched.run("preview").stdout

    _fail_on_the_spec(watched)
    _fail_on_the_plugin(watched, tmp_path)
    _fail_on_an_unreachable_nomad(watched)
    _fail_on_a_bug(watched)

    folders = [sandbox.project / ".sandbox", sandbox.project / "rendered", sandbox.data_dir, tmp_path / "program"]
    assert all(any(folder.iterdir()) for folder in folders)
    assert leaks(watched, *folders) == []


def _fail_on_the_spec(watched):
    """A secret that is no text, and one where YAML sees an alias."""
    watched.set_secrets({"password": {"nested": VOLUME_SECRET}})
    assert "volumes[0] (mysql).secrets.password: expected a valid string, got [secret]" in watched.up().stderr

    good = watched.sandbox.config.read_text()
    watched.sandbox.config.write_text(f"{good}\nother: *{CANARY}\n")
    assert "got found undefined alias; quote text that begins with * or !" in watched.up().stderr
    watched.sandbox.config.write_text(good)
    watched.set_secrets({"password": VOLUME_SECRET})


def _fail_on_the_plugin(watched, tmp_path):
    """A program of one's own registers a volume under a plugin that is not there."""
    program = tmp_path / "program"
    program.mkdir()
    (program / "Pulumi.yaml").write_text("name: orphan\nruntime: python\nconfig: {password: {secret: true}}\n")
    (program / "__main__.py").write_text(PROGRAM)
    engine = [sys.executable, "-m", "nomad_csi_sandbox.engine", "up", "--project", program, "--stack", "dev"]
    state = ["--state", program / "state.json", "--json", program / "result.json"]

    done = watched.shell(*engine, *state, "--config", f"password={VOLUME_SECRET}", NOMAD_TOKEN=TOKEN)

    assert done.returncode == 1
    assert "no CSI plugin named: no-such-plugin" in done.stdout


def _fail_on_an_unreachable_nomad(watched):
    watched.configure(address="http://127.0.0.1:9")

    done = watched.up()

    assert done.returncode == 1
    assert "no connection: Connection refused; check NOMAD_ADDR (http://127.0.0.1:9)" in done.stdout
    watched.configure(address=None)


def _fail_on_a_bug(watched):
    """An exception that nobody foresaw, with secrets in its text."""
    launcher = watched.sandbox.project / "infra/pulumi-plugin/pulumi-resource-nomad-csi"
    good = launcher.read_text()
    code = launcher.with_name("with_a_bug.py")
    code.write_text(PLUGIN_WITH_A_BUG)
    launcher.write_text(f'#!/bin/sh\nexec {sys.executable} {code} "$@"\n')

    done = watched.up()

    assert done.returncode == 1
    assert "bug in nomad-csi: ValueError at with_a_bug.py:6 in register; please report it" in done.stdout
    launcher.write_text(good)
