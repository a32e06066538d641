"""
300 EBS volumes in the sandbox while EC2 refuses three calls in ten, and a plan without changes after that.

The plan is made by `nomad-csi plan`, and for comparison by the engine's preview of the same program.

How many is said by ``SOAK_EBS_VOLUMES``. AWS stands in, and so do engine and agent unless the real ones are on PATH.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import urllib3
import yaml

from benchmarks import sandbox, timing
from nomad_csi_sandbox.aws import account, session, throttle
from nomad_csi_sandbox.session import parts

COUNT = int(os.environ.get("SOAK_EBS_VOLUMES", "300"))
SHARE = 0.3
PLAN_AIM_S = 5
ROUNDS = 3
OWNER = "nomad-csi/sandbox"


def measure() -> Iterator[str]:
    """Yield the results: calls of EC2, seconds and memory."""
    decided = parts.decide()
    yield f"engine {decided['engine']}, nomad {decided['nomad']}, {COUNT} volumes, {SHARE:.0%} of EC2's calls refused"
    with tempfile.TemporaryDirectory(prefix="nc") as name:
        project = Path(name, "sandbox")
        run = sandbox.project(project)
        try:
            timing.of_command([*run, "up"], cwd=project)
            found = subprocess.run([*run, "exec", "--", "env", "-0"], check=True, capture_output=True, text=True)
            variables = dict(line.split("=", 1) for line in found.stdout.split("\0") if "=" in line)
            yield from _measured(project, run, variables["AWS_ENDPOINT_URL"])
        finally:
            down = timing.of_command([*run, "down"], cwd=project)
        yield f"down {down.seconds:.1f} s"


def _measured(project: Path, run: list[str], url: str) -> Iterator[str]:
    _ask(url, "PUT", throttle.THROTTLE_PATH, {"service": "ec2", "share": SHARE, "seed": 1})
    _ask(url, "DELETE", throttle.CALLS_PATH)
    _multiply(project / "Pulumi.sandbox.yaml")
    up = timing.of_command([*run, "up"], cwd=project)
    calls = _ask(url, "GET", throttle.CALLS_PATH)
    yield f"up {up.seconds:.1f} s ({up.cpu_s:.1f} s of CPU), largest process {up.peak_mib:.0f} MiB; {_told(calls)}"
    _ask(url, "PUT", throttle.THROTTLE_PATH, {"service": "ec2", "share": 0})
    yield f"volumes in EC2 afterwards: {len(_volumes(url))} of {COUNT}"
    _ask(url, "PUT", throttle.THROTTLE_PATH, {"service": "ec2", "share": SHARE, "seed": 2})
    _ask(url, "DELETE", throttle.CALLS_PATH)
    looks = [timing.of_command([*run, "preview"], cwd=project) for _ in range(ROUNDS)]
    best = min(looks, key=lambda look: look.seconds)
    looked = _ask(url, "GET", throttle.CALLS_PATH)
    yield (
        f"preview without changes {best.seconds:.1f} s ({best.cpu_s:.1f} s of CPU), "
        f"largest process {best.peak_mib:.0f} MiB; in {ROUNDS} previews {_told(looked)}"
    )
    _ask(url, "PUT", throttle.THROTTLE_PATH, {"service": "ec2", "share": 0})
    outputs = project / ".sandbox/outputs.json"
    command = str(Path(sys.executable).with_name("nomad-csi"))
    words = ["plan", ".sandbox/Pulumi.sandbox.yaml", "--stack-output", str(outputs), "--owner", OWNER]
    plans = [timing.of_command([*run, "exec", "--", command, *words], cwd=project) for _ in range(ROUNDS)]
    plan = min(plans, key=lambda look: look.seconds)
    yield (
        f"nomad-csi plan without changes {plan.seconds:.1f} s ({plan.cpu_s:.1f} s of CPU; aim {PLAN_AIM_S} s): "
        f"{best.seconds / plan.seconds:.1f} times as fast as the preview"
    )


def _multiply(config: Path) -> None:
    document = yaml.safe_load(config.read_text())
    storage = document["config"]["nomad-csi:storage"]
    first = storage["volumes"][0]
    storage["volumes"] = [first | {"id": f"data-{index}"} for index in range(COUNT)]
    config.write_text(yaml.safe_dump(document))


def _volumes(url: str) -> list[str]:
    """Return the ids of the volumes that carry the driver's tag, which those of instances do not."""
    client = session.isolated(account.CREDENTIAL, account.CREDENTIAL).client(
        "ec2", region_name="us-east-1", endpoint_url=url
    )
    pages = client.get_paginator("describe_volumes").paginate(
        Filters=[{"Name": "tag-key", "Values": ["ebs.csi.aws.com/cluster"]}]
    )
    return [found["VolumeId"] for page in pages for found in page["Volumes"]]


def _told(calls: Mapping[str, Mapping[str, int]]) -> str:
    """Return how many calls of EC2 there were, and how many for each volume."""
    asked = {name: count for name, count in calls["asked"].items() if name.startswith("ec2 ")}
    refused = sum(calls["refused"].values())
    each = ", ".join(f"{name.removeprefix('ec2 ')} {count / COUNT:.2f}" for name, count in sorted(asked.items()))
    return f"{sum(asked.values())} calls of EC2, {refused} of them refused; for each volume: {each}"


def _ask(url: str, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    with urllib3.PoolManager(retries=False) as pool:
        reply = pool.request(method, url + path, json=body, timeout=10)
    return dict(json.loads(reply.data))
