"""``nomad-csi probe``: one plugin over its socket, all plugins of this machine, or one plugin on all its clients."""

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.cli import probe_on_nodes
from nomad_csi.cli.common import argument_secrets, codes, inputs, strict, usage, waits
from nomad_csi.csi import forward, on_node, probe, report, validation
from nomad_csi.findings import errors_of, printing

TIMEOUT_S = 5.0
"""For all questions to one plugin, where nobody says otherwise."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    what = parser.add_mutually_exclusive_group(required=True)
    text = f"one plugin: unix:///run/csi.sock, a path, HOST:PORT, or {forward.FORM}"
    what.add_argument("endpoint", metavar="ENDPOINT", nargs="?", default="", help=text)
    text = "every plugin of this machine: the folder STATE_DIR/csi/plugins of its Nomad client"
    what.add_argument("--folder", type=Path, metavar="FOLDER", help=text)
    text = "one plugin of the cluster, asked on all its clients by a job that is purged afterwards"
    what.add_argument("--on-nodes", metavar="PLUGIN", help=text)
    codes.add(what, "all findings of a probe, the end of docs/csi.md")
    waits.add(parser, "probe-timeout", default=TIMEOUT_S)
    parser.add_argument("--expect-name", default="", help="the name that the plugin must answer")
    parser.add_argument("--role", choices=("controller", "node", "monolith"), help="the role that it must have")
    parser.add_argument("--json", action="store_true", help="print all answers as JSON")
    strict.add(parser)
    text = (
        "compare the answers with the volumes that Nomad has registered of this plugin; a controller is asked for each"
    )
    parser.add_argument("--plugin", default="", metavar="ID", help=text)
    text = "with --plugin, YAML or JSON: secrets by namespace/volume_id; also read from the variable NOMAD_CSI_SECRETS"
    parser.add_argument("--secrets", type=argument_secrets.file, metavar="FILE", help=text)
    probe_on_nodes.configure(parser)
    inputs.add_nomad(parser.add_argument_group("Nomad, with --plugin and --on-nodes"))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Ask, and print the answers; or explain a finding."""
    if codes.explain(arguments, "probe"):
        return 0
    _check(arguments)
    if arguments.on_nodes:
        return probe_on_nodes.run(arguments)
    if arguments.folder:
        return _all_here(arguments)
    return _one(arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Raise `usage.UsageError` for options that would be ignored."""
    given = {name: getattr(arguments, name.replace("-", "_")) for name in ("expect-name", "role", "plugin", "secrets")}
    wrong = {name: "an ENDPOINT" for name, value in given.items() if value and not arguments.endpoint}
    if arguments.secrets and not arguments.plugin:
        wrong["secrets"] = "--plugin"
    if not arguments.on_nodes:
        wrong |= dict.fromkeys(probe_on_nodes.given(arguments), "--on-nodes")
    problems = [
        errors.Problem(
            path=f"--{name}",
            got="",
            allowed=f"it only with {with_what}",
            fix="one plugin's deadline is --probe-timeout-s" if name == "timeout-s" else "",
        )
        for name, with_what in wrong.items()
    ]
    usage.refuse(problems, "probe")


def _one(arguments: argparse.Namespace) -> int:
    with forward.reached(arguments.endpoint) as reached:
        asked = probe.probe(
            reached.local,
            timeout_s=arguments.probe_timeout_s,
            expect_name=arguments.expect_name,
            role=arguments.role,
        )
        why = "" if asked.ready else reached.why_broken()
        found = dataclasses.replace(asked, endpoint=arguments.endpoint, detail=why or asked.detail)
        compared = _compared(arguments, found, reached.local) if arguments.plugin else None
    document = found.as_json() | ({"findings": compared.as_json()["findings"]} if compared else {})
    told = "".join(f"\n{printing.as_line(item)}" for item in compared.findings) if compared else ""
    print(json.dumps(document, indent=2, ensure_ascii=False) if arguments.json else f"{found.as_line()}{told}")
    findings = compared.findings if compared else ()
    is_good = found.ready and not errors_of(findings)
    return strict.exit_code(arguments, 0 if is_good else errors.EXIT_CHANGES, findings)


def _compared(arguments: argparse.Namespace, found: report.ProbeReport, local: str) -> Any:
    """Return a `probing.probed.ProbedPlugin` of the answer and what Nomad has registered."""
    from nomad_csi.cli.common import documents, erasing  # noqa: PLC0415  # a probe without a cluster does not pay for it
    from nomad_csi.probing import probe_deep  # noqa: PLC0415

    with inputs.connect(arguments) as nomad:
        erasing.warn(nomad)
        return probe_deep.of_endpoint(
            nomad,
            arguments.plugin,
            found,
            local=local,
            secrets=documents.secrets(arguments.secrets),
            timeout_s=arguments.probe_timeout_s,
        )


def _all_here(arguments: argparse.Namespace) -> int:
    try:
        volumes = validation.unpacked()
    except ValueError as error:
        raise errors.NomadCsiError(str(error)) from None
    found = on_node.ask_all(arguments.folder, timeout_s=arguments.probe_timeout_s, volumes=volumes)
    print(json.dumps(found.as_json()) if arguments.json else "\n".join(found.as_lines()))
    return 0 if found.all_ready else errors.EXIT_CHANGES
