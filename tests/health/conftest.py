"""Fixtures that several folders share."""

from tests.plugin_samples import expected, instance, node, ran, seen  # noqa: F401
from tests.scripted import cluster, context, expectation, heard, plugin_cluster, scripted  # noqa: F401
