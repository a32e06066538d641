"""Fixtures that several folders share."""

from tests.scripted import context, heard, scripted  # noqa: F401
