"""``nomad-csi report``."""

import os
from importlib import metadata
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, options, output, usage
from nomad_csi.ownership import sandbox_mark
from nomad_csi.render import disk
from nomad_csi.render import page as html
from nomad_csi.report import cluster_report, model, page


@command.Typed
def _count(given: str) -> int:
    if not given.isascii() or not given.isdigit():
        raise usage.wrong("a number, 0 or more", given)
    return int(given)


@command.command()
@inputs.optional_spec(", to compare with (default: what the jobs that run ask for)")
@inputs.stack_output
@command.option("--out FILE", "where to write it (default: standard output)")
@command.as_json()
@options.strict
@command.option(
    "--smoke FILE", "output of `nomad-csi smoke --json`, to show what it verified; may be repeated", multiple=True
)
@inputs.aws_region("ask AWS in this region too, with the AWS SDK's usual credentials (default: not)")
@command.option(
    "--claimed-max N",
    f"claimed volumes that are read at most, to see who holds them (default: {cluster_report.CLAIMED_MAX})",
    type=_count,
    default=cluster_report.CLAIMED_MAX,
)
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Read the cluster, and write the report."""
    question = cluster_report.ReportOptions(
        plan=inputs.read_plan(arguments.spec) if arguments.spec else None,
        spec=str(arguments.spec or ""),
        external_ids=inputs.read_external_ids(arguments.stack_output),
        aws_region=arguments.aws_region,
        claimed_max=arguments.claimed_max,
        smoke=tuple(model.read_smoke(inputs.text(path), str(path)) for path in arguments.smoke),
        sandbox=os.environ.get(sandbox_mark.ENVIRONMENT, ""),
    )
    with inputs.reading(arguments, [arguments.spec] if arguments.spec else ()) as nomad:
        found = cluster_report.build_report(nomad, question)
    _write(_text(found, as_data=arguments.json), arguments.out, found.status[0])
    code = errors.EXIT_CHANGES if found.errors else errors.EXIT_ERROR if found.unexpected else 0
    return options.exit_code(arguments, code, found.findings)


def _text(found: model.ClusterReport, *, as_data: bool) -> str:
    if as_data:
        return output.as_json(found.as_json()) + "\n"
    return html.html(page.render_page(found), shown_rows=page.ROWS, tool_version=metadata.version("nomad-csi"))


def _write(text: str, path: Path | None, status: str) -> None:
    if path is None:
        print(text, end="")
        return
    shown = output.without_secrets(text)
    disk.write(path, shown)
    print(f"wrote {path} ({len(shown.encode()) / 1e3:.1f} kB): {status}")
