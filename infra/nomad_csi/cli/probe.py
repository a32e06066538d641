"""``nomad-csi csi probe``: one plugin over its socket, all plugins of this machine, or one on all its clients."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from nomad_csi import exit_codes
from nomad_csi.cli.common import command, documents, inputs, options, output
from nomad_csi.csi import forward, probe, records
from nomad_csi.findings import Finding, errors_of, printing
from nomad_csi.plan import program_jobs

TIMEOUT_S = 5.0
"""Default timeout for all requests to one plugin."""


ON_NODES = "with --on-nodes"

COMMAND = "nomad-csi on the clients, or in the image (default: nomad-csi)"
IMAGE = "run it in this image with Docker (default: raw_exec, installed on the clients)"


def job_options(section: str, needs: Sequence[str] = ("on_nodes",)) -> command.Declare[Any]:
    """Return the decorator that adds the options to run nomad-csi on the clients."""
    of_job = functools.partial(command.option, section=section, needs=needs)
    return command.together(
        of_job("--command PATH", COMMAND, default="nomad-csi"),
        of_job("--image IMAGE", IMAGE),
    )


def client_options(section: str, purpose: str) -> command.Declare[Any]:
    """Return the decorator that adds socket path and timeout for all clients; *purpose* continues its help."""
    of_nodes: Any = {"section": section, "needs": ("on_nodes",)}
    text = "the clients' state_dir (default: DATA_DIR/client); needed with --image"
    return command.together(
        command.option("--state-dir PATH", text, **of_nodes),
        options.duration("timeout", purpose, default_s=program_jobs.WAIT_S, **of_nodes),
    )


_on_nodes_options = command.together(
    job_options(ON_NODES),
    client_options(ON_NODES, " for all clients"),
    command.option(
        "--print-job", "print the job file for all clients, and run nothing", section=ON_NODES, needs=("on_nodes",)
    ),
)


@command.command()
@command.argument("endpoint [ENDPOINT]", f"one plugin: unix:///run/csi.sock, a path, HOST:PORT, or {forward.FORM}")
@command.option("--folder DIR", "every plugin of this machine: STATE_DIR/csi/plugins of its Nomad client")
@command.option("--on-nodes PLUGIN", "one plugin on all its clients, by a job that is purged afterwards")
@options.duration("probe-timeout", default_s=TIMEOUT_S)
@command.option("--expect-name NAME", "the name that the plugin must answer", needs=("endpoint",))
@command.option(
    "--role controller|node|monolith",
    "the role that it must have",
    needs=("endpoint",),
)
@command.as_json()
@options.strict
@command.option(
    "--volumes-of PLUGIN",
    "compare the answers with the volumes of this plugin in Nomad; a controller is asked for each",
    needs=("endpoint",),
)
@documents.volume_secrets(needs=("volumes_of",))
@_on_nodes_options
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Probe, and print the responses."""
    command.choose("endpoint", "folder", "on_nodes")
    if arguments.on_nodes:
        return _on_nodes(arguments)
    if arguments.folder:
        return _all_here(arguments)
    return _one(arguments)


def _one(arguments: command.Arguments) -> int:
    with forward.reached(arguments.endpoint) as reached:
        answer = probe.probe(
            reached.local,
            timeout_s=arguments.probe_timeout_s,
            expect_name=arguments.expect_name,
            role=arguments.role,
        )
        why = None if answer.ready else reached.why_broken()
        report = dataclasses.replace(answer, endpoint=arguments.endpoint, detail=why or answer.detail)
        findings = _compared(arguments, report, reached.local) if arguments.volumes_of else ()
    document = report.as_json() | ({"findings": printing.as_json(findings)} if arguments.volumes_of else {})
    output.show(arguments, document, "\n".join([report.as_line(), *map(printing.as_line, findings)]))
    is_good = report.ready and not errors_of(findings)
    return options.exit_code(arguments, 0 if is_good else exit_codes.CHANGES, findings)


def _compared(arguments: command.Arguments, report: records.ProbeReport, local: str) -> tuple[Finding, ...]:
    """Return what differs between the response and the registrations in Nomad."""
    from nomad_csi.health import probe_deep  # noqa: PLC0415

    with inputs.reading(arguments) as nomad:
        return probe_deep.probe_endpoint(
            nomad,
            arguments.volumes_of,
            report,
            local=local,
            secrets=documents.given_secrets(arguments.secrets),
            timeout_s=arguments.probe_timeout_s,
        )


def _all_here(arguments: command.Arguments) -> int:
    report = probe.probe_machine(arguments.folder, timeout_s=arguments.probe_timeout_s)
    output.show(arguments, report.as_json(), "\n".join(report.as_lines()))
    if report.problem:
        return exit_codes.ERROR
    return 0 if report.all_ready else exit_codes.CHANGES


def _on_nodes(arguments: command.Arguments) -> int:
    """Run the job, and print the response of every instance."""
    from nomad_csi.hcl import documents  # noqa: PLC0415
    from nomad_csi.health import probe_deep, probe_run  # noqa: PLC0415  # a probe of one socket does not pay for it

    job = job_of(arguments, inputs.target(arguments), timeout_s=arguments.probe_timeout_s)
    if arguments.print_job:
        print(documents.probe_job_file(job), end="")
        return 0
    with inputs.connect(arguments) as nomad:
        how = probe_run.OnNodes(job=job, timeout_s=arguments.timeout_s, report=output.print_progress)
        report = probe_deep.probe_on_nodes(nomad, arguments.on_nodes, how)
    output.show(arguments, report.as_json(), report.as_table())
    return 0 if report.ok else exit_codes.CHANGES


def job_of(arguments: command.Arguments, connection: Any, *, timeout_s: float) -> program_jobs.ProbeJob:
    """
    Return the job that *arguments* describe, in namespace and region of *connection*.

    *timeout_s* is for all requests to one plugin. Raises `click.UsageError` if sockets could not be found.
    """
    if arguments.image and not arguments.state_dir:
        allowed = "the clients' state_dir with --image: a container cannot find it"
        raise command.usage("--state-dir", allowed=allowed)
    return program_jobs.ProbeJob(
        namespace=connection.namespace,
        region=connection.region,
        command=arguments.command,
        image=arguments.image,
        state_dir=arguments.state_dir,
        timeout_s=timeout_s,
    )
