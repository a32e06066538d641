"""``nomad-csi verify --on-nodes``: plugins asked on their own clients, by the probe job."""

import sys
from collections.abc import Mapping
from typing import Any

from nomad_csi.cli.common import command
from nomad_csi.cli.observe import probe_on_nodes
from nomad_csi.probing import probe_job_plugins

EVERY_MIN_S = 60.0
"""Between rounds of --watch at least: each one places and ends a task on every client."""

SECTION = "on all clients at once"

options = command.together(
    command.option(
        "--on-nodes",
        "ask every instance over its own socket too, by a job that runs once on their clients and is purged; what "
        "Nomad says and what the socket said are compared, and a client that gives no answer is a finding",
        section=SECTION,
        without={"print_job": ": the job would need a token that starts jobs on every client"},
    ),
    probe_on_nodes.client_options(SECTION, " for that job on all clients, each round anew"),
)


def wrong(arguments: command.Arguments) -> Mapping[str, str]:
    """Return options whose values do not go together, and how they do."""
    found = {}
    if arguments.on_nodes and arguments.watch and (arguments.every_s or 0.0) < EVERY_MIN_S:
        found["--watch"] = f"--every-s of {EVERY_MIN_S:g} or more with --on-nodes: a round runs a job on every client"
    if arguments.on_nodes and arguments.image and not arguments.state_dir:
        found["--state-dir"] = "the clients' state_dir with --image: a container cannot find it"
    return found


def _silent(_line: str) -> None:
    """Say nothing: a watch says itself since when it asks, and may draw on the terminal."""


def how(arguments: command.Arguments, place: Any) -> probe_job_plugins.OnNodes | None:
    """Return how instances are asked, in namespace and region of the connection *place*; ``None``: not by a job."""
    if not arguments.on_nodes:
        return None
    return probe_job_plugins.OnNodes(
        job=probe_on_nodes.job_of(arguments, place, timeout_s=arguments.probe_timeout_s),
        timeout_s=arguments.timeout_s,
        tell=_silent if arguments.watch else lambda line: print(line, file=sys.stderr),
    )
