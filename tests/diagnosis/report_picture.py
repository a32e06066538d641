"""
A cluster to report on, in this process, and the picture of its report: ``python -m tests.diagnosis.report_picture FILE.png``.

The cluster is the emulator's: clients and instances that nothing stands behind. Needs Chromium.
"""

import contextlib
import sys
import tempfile
from pathlib import Path

from nomad_csi import cli
from nomad_csi.hcl import documents
from nomad_csi.plan import storage
from nomad_csi_sandbox.nomad import cluster, crowd, server
from tests import programs
from tests.diagnosis import browser as headless_browser

SIZE = (1100, 1150)

DENIED = (
    "failed to call NodeGetInfo: rpc error: code = Internal desc = could not describe instance: "
    "api error UnauthorizedOperation: User arn:aws:sts::123456789012:assumed-role/nomad-client/i-05 is not "
    "authorized to perform ec2:DescribeInstances"
)
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
_TASK = {"name": "raw_exec", "command": "driver", "client_data_dir": "/d"}
SPEC = {
    "plugins": [
        {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1", "task_driver": _TASK},
        {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1", "task_driver": _TASK},
    ]
}


def headless():
    """Return the first words of a command that runs Chromium without a window."""
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking")
    return [programs.path_of("chromium", "chromium-browser", "google-chrome"), *flags]


@contextlib.contextmanager
def running(clients, volumes):
    """A cluster of so many *clients* in three zones, with two plugins and *volumes*, and nothing wrong; and its server."""
    with tempfile.TemporaryDirectory() as folder:
        host = cluster.Cluster(cluster.Settings(data_dir=Path(folder), nodes=()))
        with server.Server(host) as serving:
            fill(host, clients, volumes)
            host.requests.clear()
            yield host, serving


def fill(host, clients, volumes):
    """Put clients, plugins, volumes and claims into *host*; every second volume is claimed."""
    many = crowd.Crowd(host, clients)
    node_ids = list(host.state.nodes)
    for plugin in storage.plan_document(SPEC).plugins:
        version = "v1.64.0" if plugin.plugin_id == "aws-ebs0" else "v3.4.1"
        for job in plugin.jobs:
            text = documents.job_file(job)
            if job.role == "controller":
                crowd.control(host.state, text, plugin.expectation.provider, version, node_ids[:2])
            else:
                many.run(text, plugin.expectation.provider, version)
    crowd.hold(host.state, [volume(number) for number in range(volumes)])
    held = [(f"data-{number:05}", node_ids[number % clients]) for number in range(0, volumes, 2)]
    crowd.consume(host.state, CONSUMER, held)


def volume(number):
    """Return volume *number* as a registration has it: two of three are EBS volumes, each in one zone."""
    is_ebs = number % 3 > 0
    document = {
        "ID": f"data-{number:05}",
        "Name": f"data-{number:05}",
        "ExternalID": f"vol-{number:017x}" if is_ebs else f"fs-0123456789abcdef0:/data/{number}",
        "PluginID": "aws-ebs0" if is_ebs else "aws-efs0",
        "RequestedCapabilities": [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}],
    }
    if is_ebs:
        zone = {crowd.ZONE_KEY: crowd.ZONES[number // 2 % len(crowd.ZONES)]}
        document["RequestedTopologies"] = {"Required": [{"Segments": zone}]}
        document["Topologies"] = [{"Segments": zone}]
    return document


def hurt(host):
    """Let one instance fail, one client go down with the claims of its jobs, and one be drained."""
    known = host.state
    node_ids = list(known.nodes)
    crowd.fail(known, "aws-ebs0", node_ids[5], DENIED)
    crowd.lose(known, node_ids[8])
    crowd.drain(known, node_ids[9])


def main():
    """Write the picture."""
    with running(24, 24) as (host, serving), tempfile.TemporaryDirectory() as folder:
        hurt(host)
        page = Path(folder, "report.html")
        cli.main(["verify", "--no-aws", "--address", serving.url, "--html", str(page), "--title", "Shop, production"])
        with headless_browser.Browser(headless()) as shown:
            shown.resize(*SIZE)
            shown.prefer("light")
            shown.open(page)
            Path(sys.argv[1]).write_bytes(shown.screenshot())


if __name__ == "__main__":
    main()
