"""Run a target on one input, or on as many as fit into a time, and keep what was found."""

import contextlib
import hashlib
import json
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.fuzz import targets

CORPUS = Path(__file__).parent / "corpus"
"""Inputs that once showed a fault, by target: ``corpus/nomad/NAME.json``."""

LIMIT_S = 10.0
"""Seconds of processor time of this process that one input may take."""


@contextlib.contextmanager
def started(name):
    """Hold the target *name*, ready to be checked."""
    with contextlib.ExitStack() as stack:
        yield targets.TARGETS[name](stack)


def finding(target, given):
    """Return what is wrong with the target on the input *given*: its kind and a text; ``("", "")``: nothing."""
    began = time.process_time()
    try:
        said = target.check(given)
    except Exception:  # noqa: BLE001  # what would be a traceback is the finding
        return "traceback", traceback.format_exc()
    took_s = time.process_time() - began
    if took_s > LIMIT_S:
        return "overrun", f"{took_s:.1f} s of processor time"
    return (said.partition(":")[0], said) if said else ("", "")


def fuzz(name, *, seed, cpu_s=float("inf"), inputs=10**12, keep=None):
    """
    Check inputs of the target *name* from *seed* on, until one of the limits; return what happened.

    New findings are written to the folder *keep*, one for each kind and last line.
    """
    counts, seen = Counter(), set()
    began = time.process_time()
    with started(name) as target:
        while counts["inputs"] < inputs and time.process_time() - began < cpu_s:
            given = target.make(random.Random(f"{seed} {counts['inputs']}"))  # noqa: S311  # to be repeated
            counts["inputs"] += 1
            kind, said = finding(target, given)
            if not kind:
                continue
            counts[kind] += 1
            what = (kind, said.strip().splitlines()[-1][:80])
            if what not in seen and keep is not None:
                text = json.dumps(given, indent=1, sort_keys=True)
                file = keep / name / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text + "\n", encoding="utf-8")
                sys.stdout.write(f"{name}: {kind}: {file}\n{said}\n")
            seen.add(what)
    counts["cpu_s"] = round(time.process_time() - began)
    return counts
