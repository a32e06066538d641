"""A report on a large cluster: seconds, calls and size. On the Nomad emulator, with nothing behind its clients."""

import collections
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from nomad_csi import cli
from tests.diagnosis import report_picture as demo

SIZES = ((100, 1000), (1000, 10_000))
"""Clients and volumes."""


def measure() -> Iterator[str]:
    """Yield the results."""
    for clients, volumes in SIZES:
        with demo.running(clients, volumes) as (host, serving), tempfile.TemporaryDirectory() as folder:
            host.requests.clear()
            page = Path(folder, "report.html")
            began = time.perf_counter()
            cli.main(["verify", "--no-aws", "--address", serving.url, "--html", str(page)])
            seconds = time.perf_counter() - began
            kinds = collections.Counter(item["path"].startswith("/v1/volume/csi/") for item in host.requests)
            yield (
                f"{clients} clients, {volumes} volumes: {seconds:.1f} s, {kinds[False]} calls and {kinds[True]} for "
                f"claimed volumes, {page.stat().st_size / 1e6:.1f} MB"
            )
