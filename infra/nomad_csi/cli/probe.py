"""``nomad-csi csi probe``: one plugin over its socket, all plugins of this machine, or one on all its clients."""

import dataclasses
from typing import Any

from nomad_csi import errors, exit_codes
from nomad_csi.cli import probe_on_nodes
from nomad_csi.cli.common import command, inputs, options, output, secrets
from nomad_csi.csi import forward, on_node, probe, report, validation
from nomad_csi.findings import errors_of, printing

TIMEOUT_S = 5.0
"""Default timeout for all requests to one plugin."""


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
@secrets.option(
    "YAML or JSON: secrets by namespace/volume_id (also: the variable NOMAD_CSI_SECRETS)",
    needs=("volumes_of",),
)
@probe_on_nodes.options
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Probe, and print the responses."""
    command.choose("endpoint", "folder", "on_nodes")
    if arguments.on_nodes:
        return probe_on_nodes.run(arguments)
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
        found = dataclasses.replace(answer, endpoint=arguments.endpoint, detail=why or answer.detail)
        compared = _compared(arguments, found, reached.local) if arguments.volumes_of else None
    document = found.as_json() | ({"findings": compared.as_json()["findings"]} if compared else {})
    findings_text = "".join(f"\n{printing.as_line(item)}" for item in compared.findings) if compared else ""
    output.show(arguments, document, f"{found.as_line()}{findings_text}")
    findings = compared.findings if compared else ()
    is_good = found.ready and not errors_of(findings)
    return options.exit_code(arguments, 0 if is_good else exit_codes.CHANGES, findings)


def _compared(arguments: command.Arguments, found: report.ProbeReport, local: str) -> Any:
    """Return a `health.probed.ProbedPlugin` of the response and the registrations in Nomad."""
    from nomad_csi.health import probe_deep  # noqa: PLC0415

    with inputs.reading(arguments) as nomad:
        return probe_deep.probe_endpoint(
            nomad,
            arguments.volumes_of,
            found,
            local=local,
            secrets=secrets.given(arguments.secrets),
            timeout_s=arguments.probe_timeout_s,
        )


def _all_here(arguments: command.Arguments) -> int:
    try:
        volumes = validation.unpacked()
    except ValueError as error:
        raise errors.NomadCsiError(str(error)) from None
    found = on_node.ask_all(arguments.folder, timeout_s=arguments.probe_timeout_s, volumes=volumes)
    output.show(arguments, found.as_json(), "\n".join(found.as_lines()))
    if found.problem:
        return exit_codes.ERROR
    return 0 if found.all_ready else exit_codes.CHANGES
