"""Fixtures that several folders share."""

from tests.scripted import context, expectation, heard, plugin_cluster, scripted  # noqa: F401
