"""Fixtures that several folders share."""

from tests.scripted import cluster  # noqa: F401
