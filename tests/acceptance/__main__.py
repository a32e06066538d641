"""
``python -m tests.acceptance run`` and ``sweep``. ``make accept-aws`` and ``make accept-aws-sweep`` call them.

Exit codes: 0: done; 1: a step failed, or something is left; 3: not confirmed, nothing was made.
"""

import argparse
import os
import secrets
import sys
from pathlib import Path

import boto3
import yaml

from tests.acceptance import run as runs
from tests.acceptance import sweep

REFUSED = 3


def main():
    """Read the command line and do what it says; return the exit code."""
    parser = argparse.ArgumentParser(prog="make accept-aws", description=__doc__, allow_abbrev=False)
    parser.add_argument("command", choices=("run", "sweep"))
    parser.add_argument("--zone", help="availability zone that has a client of Nomad; needed to run")
    parser.add_argument(
        "--region", default=os.environ.get("AWS_REGION"), help="default: AWS_REGION, or that of the zone"
    )
    parser.add_argument("--plugin", type=Path, help="YAML with keys of the plugin, such as constraints or image")
    parser.add_argument("--folder", type=Path, default=Path("dist/accept"), help="where runs have their folders")
    parser.add_argument("--run", default="", help="id of the run to sweep (default: storage of all that have expired)")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    given = parser.parse_args()
    if given.command == "run" and not given.zone:
        parser.error("--zone: needed to run")
    region = given.region or (given.zone or "")[:-1]
    if given.command == "sweep":
        return swept(_run(given, given.run, region) if given.run else None, region)
    run = _run(given, f"accept-{secrets.token_hex(4)}", region)
    if not _confirmed(run, given.yes):
        return REFUSED
    run.folder.mkdir(parents=True)
    try:
        runs.main_job(run)
    except runs.FailedError as error:
        print(error, file=sys.stderr)
        swept(run, region)
        return 1
    except KeyboardInterrupt:
        print(f"interrupted; sweep it: make accept-aws-sweep RUN={run.run_id}", file=sys.stderr)
        return 130
    return swept(run, region)


def _run(given, run_id, region):
    plugin = yaml.safe_load(given.plugin.read_text()) if given.plugin else {}
    return runs.Run(run_id, given.folder.resolve() / run_id, region, given.zone or "", plugin)


def _confirmed(run, yes):
    """Say what is made, where, and what it costs at most; ask."""
    account = boto3.client("sts", run.region).get_caller_identity()["Account"]
    print(
        f"run {run.run_id} in account {account}, {run.region}, and on the Nomad at {os.environ.get('NOMAD_ADDR', 'its default')}:\n"
        f"two EBS volumes of {runs.GROWN_GIB} GiB at most and a snapshot, destroyed at the end; tagged {runs.RUN_TAG}={run.run_id}.\n"
        f"Left alone until they expire after {runs.LIFE_H} h, they cost {runs.most_usd():.3f} USD at most; prices are not asked for.\n"
        f"A plugin of its own, {run.run_id}, runs privileged containers on the clients.",
        flush=True,
    )
    if yes:
        return True
    print(f"Type {run.run_id} to go on: ", end="", flush=True)
    if sys.stdin.readline().strip() == run.run_id:
        return True
    print("not confirmed; nothing was made")
    return False


def swept(run, region):
    """Remove what is left of *run*, or storage of all runs that expired; return 0 where nothing is left."""
    if run is not None:
        sweep.consumers(run.run_id)
        sweep.stack(run)
        sweep.registrations(run.run_id)
    gone, kept = sweep.storage(region, run.run_id if run else "")
    for item in gone:
        print(f"swept {item}")
    for item in kept:
        print(f"left {item}", file=sys.stderr)
    print(f"{len(kept)} left")
    return bool(kept)


sys.exit(main())
