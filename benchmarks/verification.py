"""
Statuses at scale: three plugins on 1,000 clients that come and go, and 100 sockets of which some hang.

On the Nomad emulator, with instances that no process stands behind; the sockets are real.
"""

import dataclasses
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import yaml

from benchmarks import fleet, timing, verification_commands
from nomad_csi.csi import probe
from nomad_csi.hcl import documents
from nomad_csi.health import gather
from nomad_csi.plan import storage
from nomad_csi_sandbox.nomad import cluster, crowd, server

CLIENTS = (100, 1000)
LIMIT_S = 10.0
"""For a status of all clients, however many of `CLIENTS`."""

LIMIT_MIB = 200.0
CHANGES_PER_S = 20
DEADLINE_S = 5.0
RUNS = 20
SLOW_S = 1.0
ONE_BY_ONE_S = 1.0
"""Deadline of each in the loop, so that it ends: its seconds are given as they would be with the other one."""

SPEC = {
    "plugins": [
        {
            "id": f"aws-efs{number}",
            "driver": "aws-efs",
            "aws_region": "us-east-1",
            "task_driver": {"name": "raw_exec", "command": "efs", "client_data_dir": "/d"},
            "constraints": [{"attribute": "${attr.kernel.name}", "value": "linux"}],
            "verify": {"min_healthy_percent": 99},
        }
        for number in range(3)
    ]
}


def measure() -> Iterator[str]:
    """Yield the results. Raises `RuntimeError` where one of them passes its limit."""
    for count in CLIENTS:
        yield from _crowded(count)
    yield from verification_commands.measure()
    yield from _sockets()


def _crowded(count: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        spec = Path(folder, "storage.yaml")
        spec.write_text(yaml.safe_dump(SPEC), encoding="utf-8")
        host = cluster.Cluster(cluster.Settings(data_dir=Path(folder), nodes=()))
        serving = server.Server(host)
        over = threading.Event()
        try:
            many = crowd.Crowd(host, count)
            for plugin in storage.plan_document(SPEC).plugins:
                for job in plugin.jobs:
                    many.run(documents.job_file(job), plugin.expectation.provider, "v3.4.1")
            host.requests.clear()
            changing = threading.Thread(target=_change, args=(many, over))
            changing.start()
            cost = _verify(serving.url, spec)
            over.set()
            changing.join()
            calls = len(host.requests)
        finally:
            over.set()
            serving.close()
    yield (
        f"3 plugins on {count} clients, {CHANGES_PER_S} of which come and go each second: {cost.seconds:.1f} s "
        f"({cost.cpu_s:.1f} s of a processor), {cost.peak_mib:.0f} MiB, {calls} calls"
    )
    timing.hold(f"verify of {count} clients", cost.seconds, LIMIT_S, "s")
    timing.hold(f"verify of {count} clients", cost.peak_mib, LIMIT_MIB, "MiB")


def _verify(url: str, spec: Path) -> timing.Cost:
    """Run the command; it fails where a status is an error."""
    return timing.of_nomad_csi(["verify", str(spec), "--json"], cwd=spec.parent, address=url)


def _change(many: crowd.Crowd, over: threading.Event) -> None:
    while not over.wait(1 / CHANGES_PER_S):
        many.leave(many.join())


def _sockets() -> Iterator[str]:
    kinds = {"h": (50, "ready"), "s": (25, "ready"), "d": (15, "missing"), "q": (10, "silent")}
    expected = {f"{kind}{number}": status for kind, (count, status) in kinds.items() for number in range(count)}
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="nf") as folder:
        plugins = fleet.Fleet(Path(folder))
        try:
            plugins.serve([name for name in expected if name[0] == "h"], 0.0)
            plugins.serve([name for name in expected if name[0] == "s"], SLOW_S)
            plugins.dead([name for name in expected if name[0] == "d"])
            plugins.hung([name for name in expected if name[0] == "q"])
            yield from _asked(plugins, expected)
        finally:
            plugins.close()


def _asked(plugins: fleet.Fleet, expected: dict[str, str]) -> Iterator[str]:
    wanted = storage.plan_document(SPEC).plugins[0].expectation
    wanted = dataclasses.replace(wanted, client_data_dir=str(plugins.data_dir), evidence="csi")
    took, wrong = [], 0
    for _ in range(RUNS):
        began = time.perf_counter()
        [seen] = gather.probe_all([(wanted, fleet.told(expected))], timeout_s=DEADLINE_S)
        took.append(time.perf_counter() - began)
        wrong += {name: seen.probed[name, "node"].status for name in expected} != expected
    limit_s = 1.1 * DEADLINE_S + 0.5
    yield (
        f"100 sockets (50 healthy, 25 answer after {SLOW_S:g} s, 15 dead, 10 hang), deadline {DEADLINE_S:g} s: at most "
        f"{max(took):.2f} s of {limit_s:.2f} allowed, median {sorted(took)[RUNS // 2]:.2f} s; {wrong} of {RUNS} runs "
        "with a false status"
    )
    timing.hold("100 sockets", max(took), limit_s, "s")
    timing.hold("100 sockets", wrong, 0, "runs with a false status")
    began = time.perf_counter()
    for name in expected:
        probe.probe(plugins.path(name), timeout_s=ONE_BY_ONE_S + SLOW_S, role="node")
    loop_s = time.perf_counter() - began
    hung = sum(status == "silent" for status in expected.values())
    scaled_s = loop_s + hung * (DEADLINE_S - ONE_BY_ONE_S - SLOW_S)
    times = scaled_s / sorted(took)[RUNS // 2]
    yield f"the same one after the other: {loop_s:.1f} s, {scaled_s:.1f} s with that deadline: {times:.0f}x"
