"""An event loop for tests that make outputs: a conftest imports the fixture."""

import asyncio
import warnings

import pytest


@pytest.fixture(autouse=True)
def _event_loop():
    """Set a loop where there is none: asyncio.run() takes it away, and Python 3.14 makes none."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        try:
            asyncio.get_event_loop()
        except RuntimeError:
            asyncio.set_event_loop(asyncio.new_event_loop())
