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


def test_finding_is_noticed_and_kept(tmp_path, monkeypatch):
    """A target that fails on one input of three is told, and the input is written where it is replayed from."""

    class Broken:
        def __init__(self, _stack):
            self.count = 0

        def make(self, chance):
            return chance.random()

        def check(self, _given):
            self.count += 1
            if self.count == 2:
                raise KeyError("x")
            return "false healthy: x" if self.count == 3 else ""

    monkeypatch.setitem(targets.TARGETS, "broken", Broken)

    counts = running.fuzz("broken", seed=1, inputs=3, keep=tmp_path)

    assert (counts["inputs"], counts["traceback"], counts["false healthy"]) == (3, 1, 1)
    assert len(list((tmp_path / "broken").glob("*.json"))) == 2
