"""Kills at random points: few of them in every run of the tests, as many as the variables say in ``make soak``."""

import importlib.util
import os
import random
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def neighbour(name):
    """Return a file of another folder of tests as a module: tests are no package."""
    spec = importlib.util.spec_from_file_location(f"soak_{name.replace('/', '_')}", TESTS / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def agents():
    """The two sides of the contract: `StandIn` and `Real`."""
    return neighbour("contract/agents")


@pytest.fixture(scope="session")
def sandboxes():
    """Whole sandboxes: `make` and `take_down`."""
    return neighbour("e2e/conftest")


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
