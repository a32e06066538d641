"""What once showed a fault stays harmless, and some new inputs of each target are."""

import json
import random

import pytest

from tests.fuzz import running, targets

INPUTS = 25
"""New inputs of each target in a run; `make soak` checks for an hour."""


@pytest.mark.parametrize("name", targets.TARGETS)
def test_corpus_is_harmless(name):
    """No traceback, no overrun, nothing healthy that is not."""
    files = sorted((running.CORPUS / name).glob("*.json"))
    with running.started(name) as target:
        found = {file.name: running.finding(target, json.loads(file.read_text(encoding="utf-8"))) for file in files}

    assert {file: said for file, said in found.items() if any(said)} == {}


@pytest.mark.parametrize("name", targets.TARGETS)
def test_new_inputs_are_harmless(name, tmp_path):
    """From another seed in each run, which a failure shows."""
    seed = random.randrange(2**32)  # noqa: S311  # tests are to be repeated

    counts = running.fuzz(name, seed=seed, inputs=INPUTS, keep=tmp_path)

    assert {kind: count for kind, count in counts.items() if kind not in {"inputs", "cpu_s"}} == {}, seed
