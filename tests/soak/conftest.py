"""Kills at random points: few of them in every run of the tests, as many as the variables say in ``make soak``."""

import os
import random
import sys

import pytest


@pytest.fixture
def number():
    """Return the number that a variable of the environment holds: ``number("SOAK_KILLS", 6)``."""
    return lambda name, default: int(os.environ.get(name, default))


@pytest.fixture
def tell(capsys):
    """Print numbers for whoever runs the soak, whether the test passes or not."""

    def say(line):
        with capsys.disabled():
            sys.stdout.write(f"\n{line}\n")

    return say


@pytest.fixture
def chance(tell):
    """A source of random numbers that says how to repeat it."""
    seed = int(os.environ.get("SOAK_SEED", random.SystemRandom().randrange(10**6)))
    tell(f"SOAK_SEED={seed}")
    return random.Random(seed)  # noqa: S311  # no secret
