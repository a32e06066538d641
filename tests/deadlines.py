"""The deadline of what a test waits for and is not about: it ends a test that hangs, and must not depend on the load."""

import hypothesis
import pytest

PATIENT_S = 240
"""
In seconds: before pytest's timeout of 300 s, which does not say what was waited for.

Sixty were too few for tests at nice 19 beside ten busy processes, which leave them some percent of a core. The emulator
of Nomad itself waits 120 s for the controller of a plugin.
"""

MANY_RUNS = pytest.mark.timeout(1800)
"""For a test that runs a command again and again: a run for each of its requests."""

BUSY = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
"""For property tests: neither an example nor its making is too slow."""
