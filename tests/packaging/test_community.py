"""Files that a reader of the repository meets first: what they state holds, and their links lead somewhere."""

import re
import tomllib

import pytest
import yaml

from nomad_csi import cli
from tests import shipped

PAGES = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "README.md", "SECURITY.md")
PROJECT = tomllib.loads((shipped.ROOT / "pyproject.toml").read_text())["project"]
CHANGELOG = (shipped.ROOT / "CHANGELOG.md").read_text()
SECURITY = (shipped.ROOT / "SECURITY.md").read_text()
LONGEST_FIRST_ENTRY = 40
PYTHONS = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if "Python :: 3." in text]


def anchors(text):
    """Return the anchors that GitHub gives the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, ".github/PULL_REQUEST_TEMPLATE.md"])
def test_links_lead_to_files_and_headings(page):
    """Of the repository; those to the web are left alone."""
    found = shipped.ROOT / page
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", found.read_text()):
        path, _, heading = link.partition("#")
        target = (found.parent / path) if path else found
        assert target.exists(), link
        assert not heading or heading in anchors(target.read_text()), link


def test_changelog_begins_with_this_version():
    """It is the first of the entries, and short enough to be read."""
    [(version, first), *_] = re.findall(r"^## (\S+) - .+\n((?:(?!## ).*\n)*)", CHANGELOG, re.MULTILINE)

    assert version == PROJECT["version"]
    assert 10 < len(first.splitlines()) <= LONGEST_FIRST_ENTRY
    assert "Unreleased" not in CHANGELOG


def test_supported_pythons_are_those_of_the_package():
    """In the changelog, in the sessions of nox and in the workflow."""
    workflow = yaml.safe_load((shipped.ROOT / ".github/workflows/ci.yml").read_text())
    nox = (shipped.ROOT / "noxfile.py").read_text()

    assert f"Python {PYTHONS[0]} to {PYTHONS[-1]}" in " ".join(CHANGELOG.split())
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    assert workflow["jobs"]["pythons"]["strategy"]["matrix"]["python"] == PYTHONS
    assert f"PYTHONS = {tuple(PYTHONS)!r}".replace("'", '"') in nox


def test_workflows_run_the_tests():
    """On a change: on the oldest and newest Python, on Debian's own, from the wheels; at night, every test."""
    runs = {
        job: " && ".join(step["run"] for step in found["steps"] if "run" in step)
        for name in ("ci", "nightly")
        for job, found in yaml.safe_load((shipped.ROOT / f".github/workflows/{name}.yml").read_text())["jobs"].items()
    }

    assert runs["test"] == "make test"
    assert runs["debian"].strip().endswith('su tester --command "make up && make down && make test"')
    assert runs["pythons"].endswith("nox --error-on-missing-interpreters --session tests-${{ matrix.python }}")
    assert runs["all"].endswith(" && make test-all")


def test_security_policy_names_commands_that_there_are():
    """And says privately what to report where."""
    named = set(re.findall(r"`nomad-csi ([a-z][\w-]*)", SECURITY))

    assert named == {"acl-policy"}
    assert named <= set(cli.COMMANDS)
    assert not re.search(r"\S+@\S+\.\S+", SECURITY)
    assert "**Report a vulnerability**" in SECURITY
