"""``nomad-csi csi probe --on-nodes``: probe a plugin on all its clients."""

import functools
from collections.abc import Sequence
from typing import Any

from nomad_csi import errors, exit_codes
from nomad_csi.cli.common import command, inputs, output, usage
from nomad_csi.cli.common import options as shared_options
from nomad_csi.plan import probe_job

SECTION = "with --on-nodes"

COMMAND = "nomad-csi on the clients, or in the image (default: nomad-csi)"
IMAGE = "run it in this image with Docker (default: raw_exec, installed on the clients)"


def job_options(section: str, needs: Sequence[str] = ("on_nodes",), more: str = "") -> command.Declare[Any]:
    """Return the decorator that adds the options to run nomad-csi on the clients."""
    of_job = functools.partial(command.option, section=section, needs=needs, job="included")
    return command.together(
        of_job("--command PATH", COMMAND + more, default="nomad-csi"),
        of_job("--image IMAGE", IMAGE),
    )


def client_options(section: str, purpose: str) -> command.Declare[Any]:
    """Return the decorator that adds socket path and timeout for all clients; *purpose* continues its help."""
    of_nodes: Any = {"section": section, "needs": ("on_nodes",)}
    text = "the clients' state_dir (default: DATA_DIR/client); needed with --image"
    return command.together(
        command.option("--state-dir PATH", text, **of_nodes),
        shared_options.duration("timeout", purpose, default_s=probe_job.WAIT_S, **of_nodes),
    )


options = command.together(
    job_options(SECTION),
    client_options(SECTION, " for all clients"),
    command.option(
        "--print-job", "print the job file for all clients, and run nothing", section=SECTION, needs=("on_nodes",)
    ),
)


def run(arguments: command.Arguments) -> int:
    """Run the job, and print the response of every instance, and its differences from the registered volumes."""
    from nomad_csi.health import probe_deep, probe_run  # noqa: PLC0415  # a probe of one socket does not pay for it
    from nomad_csi.render import documents  # noqa: PLC0415

    job = job_of(arguments, inputs.target(arguments), timeout_s=arguments.probe_timeout_s)
    if arguments.print_job:
        print(documents.probe_job_file(job), end="")
        return 0
    with inputs.connect(arguments) as nomad:
        how = probe_run.OnNodes(job=job, timeout_s=arguments.timeout_s, is_strict=True, tell=output.print_progress)
        found = probe_deep.probe_on_nodes(nomad, arguments.on_nodes, how)
    output.show(arguments, found.as_json(), found.as_table())
    return shared_options.exit_code(arguments, 0 if found.ok else exit_codes.CHANGES, found.findings)


def job_of(arguments: command.Arguments, connection: Any, *, timeout_s: float) -> probe_job.ProbeJob:
    """
    Return the job that *arguments* describe, in namespace and region of *connection*.

    *timeout_s* is for all requests to one plugin. Raises `usage.UsageError` if sockets could not be found.
    """
    if arguments.image and not arguments.state_dir:
        problem = errors.Problem(
            path="--state-dir", got="", allowed="the clients' state_dir with --image: a container cannot find it"
        )
        usage.refuse([problem])
    return probe_job.ProbeJob(
        namespace=connection.namespace,
        region=connection.region,
        command=arguments.command,
        image=arguments.image,
        state_dir=arguments.state_dir,
        timeout_s=timeout_s,
    )
