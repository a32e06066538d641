"""Fixtures that several folders share."""

from tests.plugin_samples import instance, node  # noqa: F401
from tests.scripted import scripted  # noqa: F401
