"""What others take from the repository itself: hooks for pre-commit, the GitHub Action, the Dockerfile, release notes."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests import shipped

A_WARNING = 'colour = "blue"\n'
"""A name at the top of a volume file that Nomad does not know, and drops."""
EXAMPLE = shipped.ROOT / "examples/committed-hcl"
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((shipped.ROOT / ".pre-commit-hooks.yaml").read_text())}
PAGE = (shipped.ROOT / "docs/howto/committed-hcl.md").read_text()


@pytest.fixture
def checkout(tmp_path):
    """A copy of the example repository."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "checkout"))


def hooked(name, folder):
    """Run a hook as pre-commit does: entry, args, then the files that it takes."""
    hook = HOOKS[name]
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    taken = [path for path in files if re.search(hook["files"], path)]
    assert taken
    words = [*shlex.split(hook["entry"]), *hook.get("args", ()), *(taken if hook.get("pass_filenames", True) else ())]
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_hooks_accept_what_is_up_to_date_and_no_stale_file(checkout):
    """Both pass in the example; an edited file is refused by one, a broken one by the other."""
    assert {name: hooked(name, checkout).returncode for name in HOOKS} == {"nomad-csi-render": 0, "nomad-csi-lint": 0}
    volume = next((checkout / "nomad/volumes").rglob("*.hcl"))

    volume.write_text(volume.read_text() + "# edited\n")

    assert (
        f"edited by hand: nomad/{volume.relative_to(checkout / 'nomad')}" in hooked("nomad-csi-render", checkout).stdout
    )
    volume.write_text("id = {")
    assert hooked("nomad-csi-lint", checkout).returncode != 0


def test_action_uses_each_of_its_inputs_and_no_other():
    """None stands in the text of a script, where its value would be run."""
    action = shipped.action()
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", yaml.safe_dump(action["runs"], width=1000)))
    [example] = [
        block for block in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "OWNER/" in block
    ]

    assert used == set(action["inputs"])
    assert not [step["name"] for step in action["runs"]["steps"] if "${{" in step.get("run", "")]
    assert set(yaml.safe_load(example)[1]["with"]) <= used


@pytest.mark.parametrize(
    ("change", "inputs", "codes"),
    [
        (None, {}, [0, 0]),
        (None, {"strict": "true", "stack-output": "outputs.json"}, [0, 0]),
        ("# edited\n", {}, [0, 1]),
        ("id = {", {}, [2, 1]),
        (A_WARNING, {}, [0, 1]),
        (A_WARNING, {"strict": "true"}, [1, 1]),
    ],
)
def test_action_lints_and_compares(checkout, tmp_path, change, inputs, codes):
    """Its steps behind the installation, as a runner has bash run them."""
    (tmp_path / "nomad-csi").symlink_to(sys.prefix)
    (checkout / "outputs.json").write_text('{"externalIds": {}}')
    volume = next((checkout / "nomad/volumes").rglob("*.hcl"))
    if change:
        volume.write_text(volume.read_text() + change)

    done = [shipped.run_step(step, inputs, checkout, tmp_path) for step in shipped.steps()[1:]]

    assert [each.returncode for each in done] == codes, [each.stdout + each.stderr for each in done]


def test_action_finds_files_of_an_earlier_spec_and_writes_none(checkout, tmp_path):
    """Whoever changed the spec renders and commits; a pipeline that rendered would check what it has just written."""
    (tmp_path / "nomad-csi").symlink_to(sys.prefix)
    spec = checkout / "storage.yaml"
    spec.write_text(spec.read_text().replace("noatime", "nodiratime"))
    before = {path: path.read_text() for path in (checkout / "nomad").rglob("*.hcl")}

    lint, compare = (shipped.run_step(step, {}, checkout, tmp_path) for step in shipped.steps()[1:])

    assert (lint.returncode, compare.returncode) == (0, 1)
    assert "out of date: nomad/volumes/default/kafka" in compare.stdout
    assert {path: path.read_text() for path in (checkout / "nomad").rglob("*.hcl")} == before


@pytest.mark.parametrize(("package", "is_pinned"), [("", True), ("nomad-csi==9", False)])
def test_action_installs_the_versions_of_the_lock(tmp_path, package, is_pinned):
    """A package of the user's own brings its own versions; nothing is built from a source distribution but nomad-csi."""
    pip, python, told = (tmp_path / name for name in ("nomad-csi/bin/pip", "python", "told"))
    pip.parent.mkdir(parents=True)
    pip.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {told}\n')
    python.write_text("#!/bin/sh\n")
    for program in (pip, python):
        program.chmod(0o755)

    done = shipped.run_step(
        shipped.steps()[0], {"package": package}, tmp_path, tmp_path, PATH=f"{tmp_path}:/usr/bin:/bin"
    )

    assert done.returncode == 0, done.stderr
    constraints = tmp_path / "constraints.txt"
    pinned = ["--constraint", str(constraints)] if is_pinned else []
    assert told.read_text().splitlines() == [
        *("install", "--quiet", "--only-binary", ":all:"),
        *pinned,
        package or str(shipped.ROOT),
    ]
    if is_pinned:
        locked = re.findall(r"^(\S+==\S+)", (shipped.ROOT / "requirements.lock").read_text(), re.MULTILINE)
        assert constraints.read_text().splitlines() == locked


def test_image_copies_what_there_is_and_does_not_run_as_root():
    """Each source is in the repository and not ignored, or in the stage before; what is copied there is installed."""
    instructions = shipped.dockerfile()
    ignored = (shipped.ROOT / ".dockerignore").read_text().splitlines()
    sources = [
        path for name, words in instructions if name == "COPY" and "--from=build" not in words for path in words[:-1]
    ]

    assert sources
    for path in sources:
        assert (shipped.ROOT / path).exists(), path
        assert f"!{path}" in ignored
    assert [words for name, words in instructions if name == "USER"] == [["10001"]]
    assert instructions[-1] == ("CMD", ["nomad-csi", "--help"])
    last = [index for index, (name, _) in enumerate(instructions) if name == "FROM"][-1]
    assert ("COPY", ["--from=build", "/opt/nomad-csi", "/opt/nomad-csi"]) in instructions[last:]
    assert ("ENV", ["PATH=/opt/nomad-csi/bin:$PATH"]) in instructions[last:]


@pytest.mark.parametrize("path", ["Dockerfile", "examples/image/Dockerfile"])
def test_images_begin_with_one_that_is_pinned_by_digest(path):
    """A tag can be moved; both begin with the same one."""
    bases = re.findall(r"^(?:FROM |ARG PYTHON_IMAGE=)(\S+)", (shipped.ROOT / path).read_text(), re.MULTILINE)
    [pinned] = {each for each in bases if each != "${PYTHON_IMAGE}"}

    assert re.fullmatch(r"docker\.io/library/python:3\.12-slim@sha256:[0-9a-f]{64}", pinned)
    assert pinned in (shipped.ROOT / "Dockerfile").read_text()


def test_release_notes_are_of_the_types_of_keep_a_changelog():
    """Each file in changes/ is one that a release takes, and the place for them in CHANGELOG.md is there."""
    settings = tomllib.loads((shipped.ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    types = {each["directory"] for each in settings["type"]}
    notes = [path.name for path in (shipped.ROOT / "changes").iterdir() if path.name != "README.md"]

    assert types == {"security", "changed", "deprecated", "removed", "added", "fixed"}
    assert [name for name in notes if not re.fullmatch(rf"\+[\w-]+\.({'|'.join(types)})\.md", name)] == []
    assert settings["start_string"] in (shipped.ROOT / "CHANGELOG.md").read_text()


def test_actions_of_others_are_pinned_by_commit():
    """A tag can be moved, and what it names then runs with the secrets of the pipeline; each has one commit here."""
    hidden = (shipped.ROOT / ".github/workflows").glob("*.yml")
    named = ("action.yml", "templates/init/storage.yml.j2", "docs/howto/committed-hcl.md")
    example = EXAMPLE / ".github/workflows/storage.yml"
    texts = [path.read_text() for path in (*hidden, *(shipped.ROOT / name for name in named), example)]
    uses = {found for text in texts for found in re.findall(r"^ *- uses: (\S+)@(\S+)( # v[\d.]+)?", text, re.MULTILINE)}

    assert ("OWNER/nomad-csi", "COMMIT", "") in uses
    others = {name: (commit, version) for name, commit, version in uses if name != "OWNER/nomad-csi"}
    assert len(others) == len(uses) - 1 >= 6
    assert [name for name, (commit, _) in others.items() if not re.fullmatch("[0-9a-f]{40}", commit)] == []
    assert [name for name, (_, version) in others.items() if not version] == []


def test_image_installs_its_lock_by_hash_and_as_wheels():
    """A source distribution would run its own program at the installation."""
    [found] = re.findall(
        r"^.*requirements\.lock.*\bpip\b.*|.*\bpip\b.*requirements\.lock.*$",
        (shipped.ROOT / "Dockerfile").read_text(),
        re.MULTILINE,
    )

    assert "--require-hashes" in found
    assert re.search(r"--only-binary\W+:all:", found)


def test_locks_are_installed_by_hash_and_as_wheels():
    """By uv, by pip where uv fails, and uv itself, which has its hash in a lock, too."""
    targets = ("install-dev", "new/.installed-ci", "new/.installed-measure")
    words = ["make", "--dry-run", "VENV=new", f"PYTHON={sys.executable}", *targets]
    done = subprocess.run(words, cwd=shipped.ROOT, check=True, capture_output=True, text=True)

    commands = [part for line in done.stdout.splitlines() for part in re.split(r" \|\| |; ", line) if " -r " in part]
    locks = [re.search(r" -r (\S+)", command)[1] for command in commands]
    both = [name for each in ("", "-dev", "-ci", "-measure") for name in [f"requirements{each}.lock"] * 2]
    assert locks == ["new/.uv/lock", *both]
    assert [line for line in commands if "--require-hashes --only-binary :all:" not in line] == []
    assert [line.split(" pip install")[0].rpartition(" ")[2] for line in commands[1::2]] == ["new/.uv/bin/uv"] * 4


def test_uv_is_fetched_by_the_hashes_of_its_lock():
    """The part of the lock that make takes has one package, with all hashes."""
    lock = (shipped.ROOT / "requirements-ci.lock").read_text()
    [command] = re.findall(r"^\t@(sed .*) > \$@$", (shipped.ROOT / "Makefile").read_text(), re.MULTILINE)
    done = subprocess.run(
        ["sh", "-c", command.replace("$$", "$")], cwd=shipped.ROOT, check=True, capture_output=True, text=True
    )

    [expected] = re.findall(r"^uv==.*\n(?: .*\n)+", lock, re.MULTILINE)
    assert done.stdout == expected
