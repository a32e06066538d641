"""Whole runs of the sandbox."""

import copy

import pytest

from tests.e2e import sandboxes


@pytest.fixture(name="until")
def _until():
    """Wait for something: ``until(lambda: ...)``."""
    return sandboxes.until


@pytest.fixture
def sandbox(tmp_path):
    """A sandbox of the test's own, not up yet; ended with it."""
    made = sandboxes.make(tmp_path)
    yield made
    sandboxes.end(made)


@pytest.fixture
def alone(sandbox):
    """Return a function that has the sandbox ask for one plugin, played by its emulator, and its volumes; not up yet."""

    def ask(plugin, volumes):
        sandbox.edit(lambda storage: storage.update(plugins=[sandbox.played(plugin)], volumes=copy.deepcopy(volumes)))

    return ask


@pytest.fixture(scope="package")
def _shared(tmp_path_factory):
    made = sandboxes.make(tmp_path_factory.mktemp("shared"))
    try:
        made.up(check=True)
        yield made
    finally:
        sandboxes.end(made)


@pytest.fixture
def running(_shared):
    """The sandbox that tests share, up and as the config asks; each test leaves it so, or it is mended here."""
    before = _shared.config.read_text()
    yield _shared
    _shared.config.write_text(before)
    _shared.up(check=True)


@pytest.fixture
def untouched(_shared):
    """The sandbox that tests share, for tests that leave it as they find it: only the config is put back."""
    before = _shared.config.read_text()
    yield _shared
    _shared.config.write_text(before)
