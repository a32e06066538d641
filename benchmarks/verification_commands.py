"""
What verifying commands cost on ten times the clients: calls, processor time and memory, against the smaller cluster.

On the Nomad emulator, with instances that no process stands behind, and probes that have answered when they begin.
"""

import collections
import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from benchmarks import timing
from nomad_csi.hcl import documents
from nomad_csi.plan import storage
from nomad_csi_sandbox.nomad import cluster, crowd, server

CLIENTS = (100, 1000)
VOLUMES = 300
_TASK = {"name": "raw_exec", "command": "driver", "client_data_dir": "/d"}
SPEC = {
    "plugins": [
        {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1", "task_driver": _TASK},
        {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1", "task_driver": _TASK},
    ]
}
VERSIONS = {"aws-ebs0": "v1.64.0", "aws-efs0": "v3.4.1"}
CONSUMER = """job "shop" {
  group "db" {
    task "db" {
      driver = "raw_exec"
      config {
        command = "sleep"
      }
    }
  }
}
"""
COMMANDS = {
    "verify": ("verify", "{spec}"),
    "verify --json": ("verify", "{spec}", "--json"),
    "verify --prometheus": ("verify", "{spec}", "--prometheus"),
    "verify --on-nodes": ("verify", "{spec}", "--on-nodes", "--timeout", "300s"),
    "csi probe --on-nodes": ("csi", "probe", "--on-nodes", "aws-ebs0", "--timeout", "300s"),
    "claims": ("claims",),
    "report": ("verify", "{spec}", "--html", "{folder}/report.html"),
    "report --json": ("verify", "{spec}", "--html", "{folder}/report.html", "--json"),
}


def measure() -> Iterator[str]:
    """Yield a line for each command."""
    small, large = (dict(_costs(count)) for count in CLIENTS)
    for name in COMMANDS:
        (before, calls_before), (after, calls) = small[name], large[name]
        logs = calls["logs"]
        yield (
            f"{name} on {CLIENTS[1]} clients: {after.seconds:.1f} s ({after.cpu_s:.1f} s of a processor, "
            f"{after.cpu_s / before.cpu_s:.1f}x of {CLIENTS[0]} clients), at most {after.peak_mib:.0f} MiB, "
            f"{calls['others']} calls, {calls_before['others']} on {CLIENTS[0]}{f', and {logs} logs' if logs else ''}"
        )


def _costs(count: int) -> Iterator[tuple[str, tuple[timing.Cost, Mapping[str, int]]]]:
    with crowded(count) as (host, folder, url):
        spec = folder / "storage.yaml"
        spec.write_text(yaml.safe_dump(SPEC), encoding="utf-8")
        for name, words in COMMANDS.items():
            host.requests.clear()
            given = [word.format(spec=spec, folder=folder) for word in words]
            cost = timing.of_nomad_csi(given, cwd=folder, address=url)
            kinds = collections.Counter(_kind(item["path"]) for item in host.requests)
            yield name, (cost, kinds)


def _kind(path: str) -> str:
    """Return which call it is: checks a job that runs are as many as its time takes."""
    if path.startswith("/v1/client/fs/logs/"):
        return "logs"
    return "waiting" if "nomad-csi-probe" in path else "others"


@contextlib.contextmanager
def crowded(count: int) -> Iterator[tuple[cluster.Cluster, Path, str]]:
    """Run two plugins, one with controllers, on so many clients, with volumes that are claimed in their zones."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        host = crowd.Answering(cluster.Settings(data_dir=Path(name), nodes=()))
        serving = server.Server(host)
        try:
            many = crowd.Crowd(host, count)
            ids = list(host.state.nodes)
            for plugin in storage.plan_document(SPEC).plugins:
                provider, version = plugin.expectation.provider, VERSIONS[plugin.plugin_id]
                for job in plugin.jobs:
                    text = documents.job_file(job)
                    if job.role == "controller":
                        crowd.control(host.state, text, provider, version, ids[:2])
                    else:
                        many.run(text, provider, version)
            crowd.hold(host.state, [_volume(number) for number in range(VOLUMES)])
            claims = [(f"data-{number:05}", ids[number % len(ids)]) for number in range(VOLUMES)]
            crowd.consume(host.state, CONSUMER, claims[::2])
            yield host, Path(name), serving.url
        finally:
            serving.close()


def _volume(number: int) -> dict[str, object]:
    return {
        "ID": f"data-{number:05}",
        "Name": f"data-{number:05}",
        "ExternalID": f"vol-{number:017x}",
        "PluginID": "aws-ebs0",
        "RequestedCapabilities": [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}],
    }
