"""``python -m nomad_csi_sandbox.nomad``: the emulator of a Nomad agent as a process. Loopback only."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from nomad_csi_sandbox.aws import process
from nomad_csi_sandbox.nomad import cluster as clusters
from nomad_csi_sandbox.nomad import server
from nomad_csi_sandbox.nomad.clients import nodes


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; then end every task, and return 0."""
    options = _parser().parse_args(arguments)
    ended = process.end_on_signal()
    token = options.token_file.read_text() if options.token_file else ""
    settings = clusters.Settings(data_dir=options.data_dir.resolve(), nodes=options.node, token=token)
    print("emulator of a Nomad agent (not HashiCorp's): plain processes, no isolation, no mounts", flush=True)
    serving = server.Server(clusters.Cluster(settings), port=options.port, is_guarded=options.guarded)
    with serving, process.announced(options.ready_file, serving.port):
        ended.wait()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m nomad_csi_sandbox.nomad", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)")
    parser.add_argument(
        "--data-dir", type=Path, required=True, help="folder for allocations and sockets; keep it short"
    )
    parser.add_argument("--ready-file", type=Path, help="write the port and the process id here, as JSON, when ready")
    text = "a client to simulate, NAME=ZONE=INSTANCE_ID; once for each"
    parser.add_argument("--node", type=nodes.NodeSpec.from_text, action="append", required=True, help=text)
    text = "file with the token that may do everything; every other is refused (default: no ACLs)"
    parser.add_argument("--token-file", type=Path, metavar="FILE", help=text)
    text = "refuse what a web page could have sent: other hosts, other origins, bodies that are not JSON"
    parser.add_argument("--guarded", action="store_true", help=text)
    return parser


if __name__ == "__main__":
    sys.exit(main())
