"""``nomad-csi verify --html``: the cluster's storage on one page."""

import os
from importlib import metadata

from nomad_csi import exit_codes
from nomad_csi.cli.common import command, inputs, output, specs
from nomad_csi.cli.common import options as shared_options
from nomad_csi.diagnosis import cluster_report, page, page_data
from nomad_csi.nomad import sandbox_mark
from nomad_csi.render import disk
from nomad_csi.render import page as html

options = command.together(
    command.option(
        "--html FILE",
        "write a page of it; --json prints its data",
        without=("watch", "on_nodes", "prometheus"),
    ),
    command.option("--title TEXT", "its title (default: region or address)", default="", needs=("html",)),
    command.option(
        "--smoke FILE",
        "output of `nomad-csi smoke --json`, to show it; may be repeated",
        multiple=True,
        needs=("html",),
    ),
    specs.aws_options,
)


def run(arguments: command.Arguments) -> int:
    """Read the cluster, and write the page."""
    question = cluster_report.ReportOptions(
        plan=inputs.read_plan(arguments.spec) if arguments.spec else None,
        spec=str(arguments.spec or ""),
        external_ids=inputs.read_external_ids(arguments.stack_output),
        aws=specs.aws_choice(arguments, arguments.spec),
        smoke=tuple(page_data.read_smoke(inputs.text(path), str(path)) for path in arguments.smoke),
        title=arguments.title,
        sandbox=os.environ.get(sandbox_mark.ENVIRONMENT, ""),
    )
    with inputs.reading(arguments, [arguments.spec] if arguments.spec else ()) as nomad:
        found = cluster_report.build_report(nomad, question)
    text = html.html(page.render_page(found), shown_rows=page.ROWS, tool_version=metadata.version("nomad-csi"))
    shown = output.without_secrets(text)
    disk.write(arguments.html, shown)
    wrote = f"wrote {arguments.html} ({len(shown.encode()) / 1e3:.1f} kB): {found.status[0]}"
    output.show(arguments, found.as_json(), wrote)
    code = exit_codes.CHANGES if found.errors else exit_codes.ERROR if found.unexpected else 0
    return shared_options.exit_code(arguments, code, found.findings)
