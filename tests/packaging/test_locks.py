"""The session of nox that compares the lock files with what pyproject.toml asks for."""

import importlib.util
import sys
import types
from pathlib import Path

import pytest

NOXFILE = Path(__file__).parents[2] / "noxfile.py"


class FailedError(Exception):
    """The session failed."""


class Session:
    """A session of nox in which `uv` writes what is *wanted* to the file of ``--output-file``."""

    def __init__(self, folder, wanted, words):
        self.folder, self.wanted, self.posargs = folder, wanted, list(words)

    def create_tmp(self):
        (self.folder / "tmp").mkdir(exist_ok=True)
        return str(self.folder / "tmp")

    def install(self, *_words):
        """Install nothing."""

    def run(self, *words):
        assert words[:3] == ("uv", "pip", "compile")
        written = Path(words[words.index("--output-file") + 1])
        assert written.read_text() == Path(written.name).read_text()  # pins that still fit stay
        written.write_text(self.wanted.get(written.name, written.read_text()))

    def error(self, text):
        raise FailedError(text)


@pytest.fixture
def locks(monkeypatch, tmp_path):
    """Run the session in a folder with a lock file each, of which uv would write some otherwise."""
    nox = types.ModuleType("nox")
    nox.session = lambda **_: lambda function: function
    nox.options, nox.Session = types.SimpleNamespace(), object
    monkeypatch.setitem(sys.modules, "nox", nox)  # it is no tool of the tests' environment
    spec = importlib.util.spec_from_file_location("noxfile_of_test", NOXFILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tmp_path)
    for name in module.LOCKS:
        Path(name).write_text("pinned")

    def run(wanted=(), words=()):
        module.locks(Session(tmp_path, dict(wanted), words))
        return {name: Path(name).read_text() for name in module.LOCKS}

    return run


def test_lock_files_that_fit_pass(locks):
    """Nothing is written."""
    assert set(locks().values()) == {"pinned"}


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-ci.lock"])
def test_stale_lock_file_fails_the_session(locks, name):
    """It is named, with how to write it, and stays as it is."""
    with pytest.raises(
        FailedError, match=f"^{name}: not what pyproject.toml asks for; write them: nox -s locks -- write$"
    ):
        locks({name: "other"})

    assert Path(name).read_text() == "pinned"


def test_stale_lock_file_is_written_where_that_is_wanted(locks):
    """That one alone."""
    found = locks({"requirements.lock": "other"}, ["write"])

    assert {name: text for name, text in found.items() if text != "pinned"} == {"requirements.lock": "other"}
