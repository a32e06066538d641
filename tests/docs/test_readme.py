"""What README.md and the pages of the sandbox and of commands have people type works, and their links lead somewhere."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli, exit_codes
from nomad_csi.cli.common import inputs, output
from nomad_csi.csi import rpc

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
        cli.EXIT_INTERRUPTED,
        cli.EXIT_TERMINATED,
        output.EXIT_CLOSED,
        rpc.EXIT_BASE,
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


def test_verify_and_probe_are_typed_right(checkout, type_in):
    """Without a cluster they get as far as asking: not wrong usage, not a bad spec."""
    verify, probe = (next(words for words in of("nomad-csi") if name in words) for name in ("verify", "probe"))

    asked = type_in(verify, checkout, NOMAD_ADDR="http://127.0.0.1:9")
    answered = type_in(probe, checkout)

    assert asked.returncode == 2
    assert "http://127.0.0.1:9: no connection: Connection refused" in asked.stderr
    assert answered.returncode == 1
    assert json.loads(answered.stdout)["status"] == "missing"


def _try(words, folder, **variables):
    environment = {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(folder)} | variables
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_plan_and_register_are_typed_right(type_in):
    """As above."""
    for words in (words for words in of("nomad-csi") if words[1] in ("plan", "apply")):
        done = type_in(words, PROJECT, NOMAD_ADDR="http://127.0.0.1:9")

        assert done.returncode == 2, done.stdout + done.stderr
        assert "no connection: Connection refused" in done.stdout + done.stderr


def test_snippet_is_that_of_a_set(checkout):
    """As many allocations as its spec has volumes."""
    [words] = [words for words in of("nomad-csi") if words[1] == "snippet"]

    printed = _run(words, checkout)

    assert 'count = 3\n\nvolume "kafka" {\n' in printed
    assert "  per_alloc       = true\n" in printed


def test_what_one_has_is_judged_and_turned_into_a_spec(checkout):
    """Both find something, say so by their exit codes, and the spec names the plugin and the volume."""
    lint, adopt = (next(words for words in of("nomad-csi") if words[1] == name) for name in ("check", "import"))

    judged, adopted = _try(lint, checkout), _try(adopt, checkout)

    assert (judged.returncode, adopted.returncode) == (1, 1)
    assert "error: privilege-missing: plugin aws-ebs0 (node)" in judged.stdout
    spec = yaml.safe_load(adopted.stdout)
    assert [item["id"] for item in spec["plugins"] + spec["volumes"]] == ["aws-ebs0", "mysql"]
    assert "missing: aws_region of plugin aws-ebs0" in adopted.stderr


def test_every_command_of_the_readme_is_one_that_is_tried():
    """Of nomad-csi too."""
    tried = {"render", "sandbox", "snippet", "verify", "csi", "plan", "apply", "check", "import"}

    assert {words[1] for words in of("nomad-csi")} == tried


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
