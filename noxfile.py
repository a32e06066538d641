"""
What a release must hold beyond `make test`: ``pipx run nox``, or ``nox -s tests-3.13`` for one session.

Tests run from the built wheels, on each Python that is found; one that is not found is skipped and named by nox.
Tools come from requirements-ci.lock, with hashes, as everything that this project installs.
"""

import random
import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2026.4"
nox.options.error_on_missing_interpreters = False
nox.options.default_venv_backend = "venv"
nox.options.sessions = ["tests", "unused", "types", "words", "site", "hooks", "notes", "locks", "audit", "sbom"]

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SOURCES = ("infra/nomad_csi", "infra/nomad_csi_sandbox")
LOCKS = {
    "requirements-dev.lock": ("--extra=sandbox", "--group=test", "--group=lint", "--group=build", "pyproject.toml"),
    "requirements.lock": ("--extra=sandbox", "--group=build", "--constraint=requirements-dev.lock", "pyproject.toml"),
    "requirements-measure.lock": ("--group=pyproject.toml:measure", "--constraint=requirements-dev.lock"),
    "requirements-ci.lock": ("--group=pyproject.toml:ci", "--constraint=requirements-dev.lock"),
}
"""What `uv pip compile` is told for each lock file, beside `COMPILE`."""

COMPILE = (
    "--universal",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-annotate",
    "--no-header",
    "--no-emit-package=nomad-csi",
    "--no-emit-package=nomad-csi-sandbox",
)


def _install_wheels(session: nox.Session) -> None:
    """Build both wheels and install them, with the pinned packages that they need."""
    session.install("--require-hashes", "--requirement", "requirements-dev.lock")
    folder = session.create_tmp()
    shutil.rmtree(folder)
    session.run("pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ".", SOURCES[1])
    session.install("--no-deps", *map(str, sorted(Path(folder).glob("*.whl"))))


def _tools(session: nox.Session) -> None:
    session.install("--require-hashes", "--requirement", "requirements-ci.lock")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the tests against the built wheels: what `make check` runs, or what is named after ``--``."""
    _install_wheels(session)
    words = session.posargs or ("--numprocesses=auto", "--tier=check")
    session.run("python", "-m", "tests.supervised", *words)


@nox.session(python="3.11")
def orders(session: nox.Session) -> None:
    """Run all tests twice, in two orders: a test that depends on another fails in one of them."""
    _install_wheels(session)
    for _ in range(2):
        seed = random.randrange(2**32)  # noqa: S311  # an order, no secret
        words = ("--numprocesses=auto", "--tier=all", f"--randomly-seed={seed}", *session.posargs)
        session.run("python", "-m", "tests.supervised", *words)


@nox.session(python="3.11")
def unused(session: nox.Session) -> None:
    """Find code that is called nowhere, and dependencies that are imported nowhere or declared nowhere."""
    _install_wheels(session)
    _tools(session)
    session.run("vulture")
    session.run("deptry", SOURCES[0])
    session.run("deptry", "--config", f"{SOURCES[1]}/pyproject.toml", SOURCES[1])


@nox.session(python="3.11")
def types(session: nox.Session) -> None:
    """Check the example programs with pyright's rules, which editors apply; mypy has other ones."""
    _install_wheels(session)
    _tools(session)
    session.run("basedpyright", "--project", "examples/pyright.json")


@nox.session(python="3.11")
def words(session: nox.Session) -> None:
    """Check spelling."""
    _tools(session)
    session.run("codespell")


@nox.session(python="3.11")
def site(session: nox.Session) -> None:
    """Build the documentation into dist/site. A broken link or anchor fails it."""
    _tools(session)
    session.run("mkdocs", "build", "--strict", env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session(python="3.11")
def locks(session: nox.Session) -> None:
    """
    Fail where a lock file is not what pyproject.toml asks for; ``nox -s locks -- write`` writes them.

    Pins that still fit stay as they are.
    """
    _tools(session)
    stale = []
    for name, options in LOCKS.items():
        written = Path(session.create_tmp(), name)
        shutil.copy(name, written)
        session.run("uv", "pip", "compile", "--quiet", *COMPILE, *options, "--output-file", str(written))
        if written.read_bytes() != Path(name).read_bytes():
            stale.append(name)
            if session.posargs == ["write"]:
                shutil.copy(written, name)
    if stale and not session.posargs:
        session.error(f"{', '.join(stale)}: not what pyproject.toml asks for; write them: nox -s locks -- write")


@nox.session(python="3.11")
def audit(session: nox.Session) -> None:
    """Look the pinned packages up in the database of known vulnerabilities. It asks the package index."""
    _tools(session)
    session.run("pip-audit", "--strict", "--require-hashes", "--disable-pip", "--requirement", "requirements.lock")


@nox.session(python="3.11")
def sbom(session: nox.Session) -> None:
    """Write dist/sbom.cdx.json: what an installation holds, from the lock file, in CycloneDX."""
    _tools(session)
    session.run("python", "-m", "tests.release", "sbom")


@nox.session(python="3.11")
def hooks(session: nox.Session) -> None:
    """Have pre-commit judge .pre-commit-hooks.yaml, and run what is committed of it on the example repository."""
    _tools(session)
    session.run("pre-commit", "validate-manifest", ".pre-commit-hooks.yaml")
    example = Path(session.create_tmp(), "example")
    shutil.rmtree(example, ignore_errors=True)
    shutil.copytree("examples/committed-hcl", example)
    source = str(Path.cwd())
    with session.chdir(example):
        session.run("git", "init", "--quiet", external=True)
        session.run("git", "add", "--all", external=True)
        session.run("pre-commit", "try-repo", source, "--all-files")


@nox.session(python="3.11")
def notes(session: nox.Session) -> None:
    """Show the release notes in changes/; ``nox -s notes -- 1.2.0`` writes those of that release into CHANGELOG.md."""
    _tools(session)
    if session.posargs:
        session.run("towncrier", "build", "--yes", "--version", session.posargs[0])
    else:
        session.run("towncrier", "build", "--draft", "--version", "next")


@nox.session(python="3.11")
def bench(session: nox.Session) -> None:
    """Measure this commit beside the last release, in turns: ``nox -s bench``, or ``nox -s bench -- COMMIT``."""
    released = session.posargs or _last_release(session)
    if not released:
        session.skip("no release is tagged; name a commit: nox -s bench -- COMMIT")
    _install_wheels(session)
    folder = Path(session.create_tmp())
    shutil.rmtree(folder)
    session.run("git", "worktree", "add", "--detach", str(folder / "source"), released[0], external=True)
    try:
        other = _environment_of(session, folder)
    finally:
        session.run("git", "worktree", "remove", "--force", str(folder / "source"), external=True)
    session.run("python", "-m", "benchmarks.against", str(other))


def _last_release(session: nox.Session) -> list[str]:
    return session.run("git", "tag", "--sort=-creatordate", external=True, silent=True).split()[:1]


def _environment_of(session: nox.Session, folder: Path) -> Path:
    """Install what stands in *folder*/source with its own pinned packages; return the interpreter."""
    python = folder / "environment/bin/python"
    session.run("python", "-m", "venv", str(folder / "environment"))
    pip = (str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    session.run(*pip, "--require-hashes", "--requirement", str(folder / "source/requirements.lock"), external=True)
    session.run(*pip, "--no-deps", "--no-build-isolation", str(folder / "source"), external=True)
    return python
