"""What a release is refused for, and what the workflow of a tag may do."""

import re
import shutil

import pytest
import yaml

from tests import shipped
from tests.release import project

RELEASE = yaml.safe_load((shipped.ROOT / ".github/workflows/release.yml").read_text())
MAKEFILE = (shipped.ROOT / "Makefile").read_text()
READ = {"contents": "read"}
VERSION = project.metadata()["version"]
CHANGELOG = "# Changelog\n\n## 1.1.0 - 2026-12-01\n\n### Fixed\n\n- a\n\n## 1.0.0 - 2026-11-01\n\nThe first.\n"


@pytest.fixture
def ready(tmp_path):
    """A copy of what a release is read from, of the account `acme` and with a date in the changelog."""
    for name in ("CHANGELOG.md", *project.NAMES_OWNER):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = (project.ROOT / name).read_text()
        (tmp_path / name).write_text(text.replace("OWNER", "acme").replace("- unreleased", "- 2026-12-01"))
    readme = tmp_path / "README.md"
    readme.write_text(readme.read_text().replace(project.UNPUBLISHED, "is on PyPI"))
    (tmp_path / "changes").mkdir()
    shutil.copy(project.ROOT / "changes/README.md", tmp_path / "changes")
    return tmp_path


def test_commit_that_is_ready_is_released(ready):
    """By the tag of its version, in its own repository, or anywhere."""
    assert project.problems(f"v{VERSION}", ready, "acme/nomad-csi") == []
    assert project.problems(f"v{VERSION}", ready) == []


def test_all_that_is_missing_is_said_together(ready):
    """Each problem names the file, what it has, and what is expected."""
    changelog = ready / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace("2026-12-01", "unreleased"))
    (ready / "changes/+late.fixed.md").write_text("late\n")
    (ready / "README.md").write_text("nomad-csi is not on PyPI.\n")
    security = ready / "SECURITY.md"
    security.write_text(security.read_text().replace("acme/", "OWNER/"))

    assert project.problems("v9.9.9", ready, "other/nomad-csi") == [
        f"tag: expected v{VERSION}, the version in pyproject.toml, got v9.9.9",
        f"CHANGELOG.md: expected an entry `## {VERSION} - YYYY-MM-DD`, got date unreleased",
        "changes: expected none, as a release has them in CHANGELOG.md, got +late.fixed.md",
        "SECURITY.md: expected the account of the repository, got OWNER",
        "README.md: expected how to install the release, got 'is not on PyPI'; write `pip install nomad-csi`",
        "pyproject.toml: urls.Source: expected https://github.com/other/nomad-csi, got https://github.com/acme/nomad-csi",
    ]


@pytest.mark.parametrize("name", project.NAMES_OWNER)
def test_placeholder_of_the_account_is_found_wherever_it_is(ready, name):
    """Each of the files has it in this repository, which nobody has taken over."""
    shutil.copy(project.ROOT / name, ready / name)

    assert f"{name}: expected the account of the repository, got OWNER" in project.problems(f"v{VERSION}", ready)


def test_notes_of_a_version_are_its_entry():
    """Without the title, up to the next one."""
    assert project.entry(CHANGELOG, "1.1.0") == ("2026-12-01", "### Fixed\n\n- a\n")
    assert project.entry(CHANGELOG, "1.0.0") == ("2026-11-01", "The first.\n")
    assert project.entry(CHANGELOG, "1.0") is None


def test_release_may_do_no_more_than_each_job_needs():
    """None but the jobs that sign, upload and publish has a right to write, and nothing runs before its checks."""
    jobs = RELEASE["jobs"]

    assert RELEASE["permissions"] == {}
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "build": READ,
        "install": READ,
        "attest": {"attestations": "write", "id-token": "write"},
        "publish": READ | {"id-token": "write"},
        "announce": {"contents": "write"},
        "site": {"contents": "write"},
    }
    assert jobs["attest"]["needs"] == ["build", "install"]
    assert "attest" in jobs["publish"]["needs"]
    assert "publish" in jobs["announce"]["needs"]
    assert jobs["install"]["strategy"]["matrix"]["python"] == [
        text.rpartition(" ")[2] for text in project.metadata()["classifiers"] if "Python :: 3." in text
    ]


def test_release_calls_targets_that_there_are():
    """What it does beyond them is to tell kinds of versions apart, to name a committer, and to make GitHub's release."""
    runs = [step["run"] for job in RELEASE["jobs"].values() for step in job["steps"] if "run" in step]
    called = [target for text in runs for target in re.findall(r"\bmake ([a-z-]+)", text)]

    assert set(called) == {"release-tag", "dist", "dist-check", "dist-install", "publish", "site-publish"}
    assert set(called) <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    assert len([text for text in runs if "make " not in text]) == 2
