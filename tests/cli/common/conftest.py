"""Fixtures of the tests here."""

from tests.scripted import scripted  # noqa: F401
