"""What `nomad-csi init` writes is a project that the real engine previews, in Python, in YAML and in TypeScript."""

import json
import re
import shlex
import shutil
import subprocess

import pytest

from nomad_csi.hcl import project
from tests.real.program import test_sdks

TYPESCRIPT = test_sdks.LANGUAGES[0]


def needs(*programs):
    """Return the mark of a test that runs where *programs* are on PATH."""
    absent = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(absent), reason=f"not on PATH: {', '.join(absent)}")


ANSWERS = (
    *("--aws-region", "us-east-1", "--zone", "us-east-1a", "--zone", "us-east-1b"),
    *("--role-name", "nomad-client", "--client-cidr", "172.31.0.0/16"),
    *(word for name in project.STORAGES for word in ("--storage", name)),
)
UNTOLD = re.compile(r"warning|error|Traceback", re.IGNORECASE)


@pytest.mark.parametrize(
    ("form", "changed"),
    [
        ("python", ["Pulumi.dev.yaml"]),
        pytest.param("yaml", [], marks=needs("pulumi-language-yaml")),
        pytest.param("typescript", ["Pulumi.yaml", "package.json"], marks=needs(*TYPESCRIPT.needs)),
    ],
)
def test_every_storage_is_previewed(form, changed, stack, world, tmp_path):
    """A plugin and a volume of each kind, after the commands that init prints; they keep the comments."""
    folder = tmp_path / "storage"
    folder.mkdir()
    of_npm = test_sdks.tools("npm") if form == "typescript" else {}
    own = stack(folder, PATH=world.environment["PATH"], init=False, **of_npm)
    address, token = (world.environment[name] for name in ("NOMAD_ADDR", "NOMAD_TOKEN"))
    steps = own.command("init", "--pulumi", form, *ANSWERS).partition("What to type next:\n")[2]
    before = {path: path.read_text() for path in folder.rglob("*") if path.is_file()}
    typed = [re.split("  +", line.strip())[0] for line in steps.splitlines()]
    assert (typed[0].split()[0], typed[-1]) == ("$EDITOR", "pulumi preview")

    for line in typed[1:-1]:
        program, *words = shlex.split(
            line.replace("https://nomad.example.com:4646", address).replace("$NOMAD_TOKEN", token)
        )
        (own.command if program == "nomad-csi" else own.run)(*words)
    printed = own.run("preview")
    planned = json.loads(own.run("preview", "--json"))["steps"]

    assert not [line for line in printed.splitlines() if UNTOLD.search(line)], printed
    kinds = [step["newState"]["type"] for step in planned]
    assert kinds.count("nomad-csi:index:CsiPlugin") == len(project.STORAGES)
    assert kinds.count("nomad-csi:index:CsiVolume") == len(project.EXAMPLES)
    assert {"aws:ebs/volume:Volume", "aws:efs/accessPoint:AccessPoint", "aws:iam/policy:Policy"} <= set(kinds)
    assert sorted(path.name for path in before if path.read_text() != before[path]) == changed
    for path, text in before.items():
        assert lines(text) <= lines(path.read_text()), path
    if form == "typescript":
        subprocess.run(TYPESCRIPT.check, cwd=folder, env=own.environment, timeout=240, check=True)


def lines(text):
    """Return the lines of *text*; npm puts a comma behind what was the last one of an object."""
    return {line.rstrip(",") for line in text.splitlines()} - {""}
