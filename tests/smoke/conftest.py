"""Fixtures that several folders share."""

from tests.scripted import cluster, scripted  # noqa: F401
