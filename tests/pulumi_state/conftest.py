"""Fixtures that several folders share."""

from tests.scripted import scripted  # noqa: F401
