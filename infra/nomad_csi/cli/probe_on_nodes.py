"""``nomad-csi probe --on-nodes``: ask a plugin on all its clients."""

import argparse
import json
import sys
from typing import Any

from nomad_csi import errors
from nomad_csi.cli.common import inputs, strict, usage, waits
from nomad_csi.plan import probe_job

DEFAULTS = {"command": "nomad-csi", "image": "", "state-dir": "", "timeout-s": probe_job.WAIT_S, "print-job": False}
"""The options of a job, which mean nothing elsewhere."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    group = parser.add_argument_group("with --on-nodes")
    text = "nomad-csi on the clients, or in the image: a path, or a name on the PATH of the agent (default: nomad-csi)"
    group.add_argument("--command", default=DEFAULTS["command"], metavar="PATH", help=text)
    text = "run it in this image with Docker; default: raw_exec, which needs it installed on the clients"
    group.add_argument("--image", default="", metavar="IMAGE", help=text)
    text = "the clients' state_dir (default: DATA_DIR/client, found by itself); needed with --image"
    group.add_argument("--state-dir", default="", metavar="PATH", help=text)
    waits.add(group, "timeout", " for all clients", default=probe_job.WAIT_S)
    group.add_argument("--print-job", action="store_true", help="print the job file for all clients, and run nothing")


def given(arguments: argparse.Namespace) -> list[str]:
    """Return the options of a job that were given."""
    values = {name: getattr(arguments, name.replace("-", "_")) for name in DEFAULTS}
    return [name for name, value in values.items() if value != DEFAULTS[name]]


def run(arguments: argparse.Namespace) -> int:
    """Run the job, and print what every instance answered, and what that has against the registered volumes."""
    from nomad_csi.probing import probe_deep  # noqa: PLC0415  # a probe of one socket does not pay for it
    from nomad_csi.render import documents  # noqa: PLC0415

    job = job_of(arguments, inputs.target(arguments), timeout_s=arguments.probe_timeout_s)
    if arguments.print_job:
        print(documents.probe_job_file(job), end="")
        return 0
    with inputs.connect(arguments) as nomad:
        found = probe_deep.on_nodes(
            nomad,
            arguments.on_nodes,
            job,
            wait_s=arguments.timeout_s,
            tell=lambda line: print(line, file=sys.stderr),
        )
    print(json.dumps(found.as_json(), indent=2, ensure_ascii=False) if arguments.json else found.as_table())
    return strict.exit_code(arguments, 0 if found.ok else errors.EXIT_CHANGES, found.findings)


def job_of(arguments: argparse.Namespace, place: Any, *, timeout_s: float) -> probe_job.ProbeJob:
    """
    Return the job that *arguments* describe, in namespace and region of the connection *place*.

    *timeout_s* is for all questions to one plugin. Raises `usage.UsageError` where sockets could not be found.
    """
    if arguments.image and not arguments.state_dir:
        problem = errors.Problem(
            path="--state-dir", got="", allowed="the clients' state_dir with --image: a container cannot find it"
        )
        usage.refuse([problem], "probe")
    return probe_job.ProbeJob(
        namespace=place.namespace,
        region=place.region,
        command=arguments.command,
        image=arguments.image,
        state_dir=arguments.state_dir,
        timeout_s=timeout_s,
    )
