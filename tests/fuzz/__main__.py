"""Fuzz: ``python -m tests.fuzz [--cpu-s 600] [--seed N] [TARGET ...]``; findings are written into the corpus."""

import argparse
import sys
import time

from tests.fuzz import running, targets

parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
parser.add_argument("--cpu-s", type=float, default=600.0, help="seconds of processor time for each target")
parser.add_argument("--seed", default=str(int(time.time())), help="the same seed gives the same inputs")
parser.add_argument("names", nargs="*", metavar="TARGET", default=[], help=", ".join(targets.TARGETS))
arguments = parser.parse_args()
total = 0
for name in arguments.names or targets.TARGETS:
    counts = running.fuzz(name, seed=arguments.seed, cpu_s=arguments.cpu_s, keep=running.CORPUS)
    known = {kind: counts.pop(kind, 0) for kind in ("inputs", "cpu_s", "traceback", "overrun", "false healthy")}
    sys.stdout.write(f"{name} (seed {arguments.seed}): {known | counts}\n")
    total += sum(known[kind] for kind in ("traceback", "overrun", "false healthy")) + counts.total()
sys.exit(1 if total else 0)
