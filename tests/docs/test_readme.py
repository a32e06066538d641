"""What README.md and the pages of the sandbox and of commands have people type works, and their links lead somewhere."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nomad_csi import cli, exit_codes
from nomad_csi.cli.common import inputs

PROJECT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/start/first-ten-minutes.md", "docs/reference/sandbox.md", "docs/reference/commands.md")
README = "\n".join((PROJECT / page).read_text() for page in PAGES)
BIN = Path(sys.executable).parent


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands():
    """Return the words of every command in a block of shell."""
    lines = [line for block in blocks("sh") for line in block.replace("\\\n", " ").splitlines() if line.strip()]
    return [shlex.split(line, comments=True) for line in lines]


def of(program):
    return [words for words in commands() if words[0] == program]


@pytest.fixture
def checkout(tmp_path):
    """A copy of what the commands read."""
    shutil.copytree(PROJECT / "examples", tmp_path / "examples")
    return tmp_path


@pytest.fixture
def type_in(monkeypatch, capsys):
    """Run a command of this package in this process, in a folder: ``type_in(words, folder, NAME="value")``."""

    def run(words, folder, **variables):
        assert words[0] == "nomad-csi"
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            for name, value in variables.items():
                patch.setenv(name, value)
            code = cli.main(words[1:])
        return subprocess.CompletedProcess(words, code, *capsys.readouterr())

    return run


def test_exit_codes_are_those_of_the_commands():
    """Each row of the table is one that the command line or `csi` has."""
    codes = re.findall(r"^\| (\d+)(?: and more)? \|", README, re.MULTILINE)

    own = (
        0,
        exit_codes.CHANGES,
        exit_codes.ERROR,
        exit_codes.USAGE,
        exit_codes.INTERRUPTED,
        exit_codes.TERMINATED,
        exit_codes.CLOSED,
        exit_codes.CSI_BASE,
    )
    assert sorted(map(int, codes)) == sorted(own)


def test_render_commands_run_as_written(checkout, type_in):
    """One after the other, in a fresh folder: the second finds what the first wrote up to date."""
    found = [words for words in of("nomad-csi") if words[1] == "render"]

    done = [type_in(words, checkout) for words in found]

    assert [each.returncode for each in done] == [0, 0]
    assert ["--check" in words for words in found] == [False, True]
    assert "wrote      nomad/volumes/default/mysql.volume.hcl" in done[0].stdout.splitlines()
    written = [path for path in (checkout / "nomad").rglob("*") if path.is_file()]
    assert done[1].stdout == f"{len(written)} files up to date\n"


def _run(words, folder):
    environment = {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(folder)}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_program_compiles_and_its_names_exist():
    """Whoever copies it gets a program."""
    [program] = blocks("python")
    compile(program, "README.md", "exec")
    imports = [line for line in program.splitlines() if line.startswith(("import ", "from "))]

    assert imports
    _run([sys.executable, "-c", "\n".join(imports)], PROJECT)


def test_the_whole_spec_plans():
    """The spec that README.md calls whole has no problem, and the outputs beside it are those of its volumes."""
    assert "examples/storage.yaml" in README

    plan = inputs.read_plan(PROJECT / "examples/storage.yaml")

    made = {volume.key for volume in plan.volumes if not volume.registration.external_id}
    assert inputs.read_external_ids(PROJECT / "examples/outputs.json").keys() == made


def test_the_problems_shown_are_those_that_are_told(checkout, capsys):
    """The example of an error in docs/start/your-own-stack.md is what such a spec gives."""
    spec = (checkout / "examples/storage.yaml").read_text()
    spec = spec.replace("size_gib: 40", "size_gib: 0")
    spec = spec.replace("    plugin_id: aws-efs0\n", "    plugin_id: aws-efs0\n    context: {path: /shared}\n")
    (checkout / "wrong.yaml").write_text(spec)

    assert cli.main(["render", str(checkout / "wrong.yaml"), "--out", str(checkout / "rendered")]) == 2

    lines = [line.partition(": volumes[")[2] for line in capsys.readouterr().err.splitlines()]
    page = (PROJECT / "docs/start/your-own-stack.md").read_text()
    assert len(lines) == 2
    assert lines == re.findall(r"^error: Pulumi\.dev\.yaml:\d+: volumes\[(.*)$", page, re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs"])
def test_every_relative_link_leads_somewhere(page):
    """A link into a page of the repository names a file that is there, and a heading that it has."""
    path = PROJECT / page
    found = [link for each in (path.rglob("*.md") if path.is_dir() else [path]) for link in links(each)]

    assert found
    assert [(each, target, heading) for each, target, heading in found if not leads(each, target, heading)] == []


def links(page):
    """Return the relative links of *page*: each with the page, its target and its heading."""
    found = re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", page.read_text())
    return [(page, target, heading) for target, heading in found if "://" not in target]


def leads(page, target, heading):
    """Return whether *target*, seen from *page*, is there, and has *heading*."""
    path = page.parent / target if target else page
    lines = path.read_text().splitlines() if heading else ()
    headings = {re.sub(r"[^\w -]", "", line).strip().lower().replace(" ", "-") for line in lines if line[:1] == "#"}
    return path.exists() and (not heading or heading in headings)
