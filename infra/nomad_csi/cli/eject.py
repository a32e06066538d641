"""``nomad-csi eject``."""

import datetime as dt
import sys
from collections.abc import Iterator
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import command, options, output
from nomad_csi.pulumi_state import eject, stack_cli
from nomad_csi.spec import names
from nomad_csi.text import listing, table

ABOUT = """\
Nothing is written to Nomad or to AWS: jobs run on, registrations stay, storage stays. What is
removed from the state is restored with `pulumi stack import` of the backup.
"""


@command.command(epilog=ABOUT)
@command.option("--out DIR", "directory for the job and volume files, such as the one you commit", required=True)
@options.pulumi_stack()
@command.option(
    "--backup FILE",
    "where the state is kept as it was (default: state-before-eject-TIME.json in the current directory)",
)
@options.dry_run()
@options.yes
@command.as_json()
def run(arguments: command.Arguments) -> int:
    """Show the changes, confirm, eject."""
    stack = stack_cli.PulumiStack(folder=arguments.project, name=arguments.stack)
    ejection = eject.plan_ejection(stack, arguments.stack or "the selected stack")
    output.show(arguments, ejection.as_json(), "\n".join(_shown(ejection, arguments.out)))
    if arguments.dry_run or not ejection.forgotten:
        return 0
    question = (
        f"This removes {listing.counted(len(ejection.forgotten), 'resource')} from the state. As long as the "
        "program declares them, do not run `pulumi up`: it would create new storage, and take over or refuse what is "
        "there."
    )
    if not options.agreed(question, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was removed")
    backup = arguments.backup or Path(f"state-before-eject-{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%SZ}.json")
    eject.run(stack, ejection, folder=arguments.out, backup=backup, report=output.print_progress)
    print(_afterwards(arguments.out), file=sys.stderr)
    return 0


def _shown(ejection: eject.Ejection, folder: Path) -> Iterator[str]:
    rows = [("forgotten", resource["type"], names.read_urn(resource["urn"]).name) for resource in ejection.forgotten]
    rows += [("kept", urn.type, urn.name) for urn in map(names.read_urn, ejection.kept)]
    if rows:
        yield table.columns([("state", "type", "name"), *rows])
    for path in ejection.files:
        yield f"file  {folder / path}"
    for left in ejection.left:
        tags = ", ".join(f"{key}={value}" for key, value in sorted(left["tags"].items())) or "none"
        yield f"stays in AWS  {left['type']}  {left['id']}  tags: {tags}"
    for remark in ejection.remarks:
        yield f"remark  {remark}"
    yield f"{len(ejection.forgotten)} forgotten, {len(ejection.kept)} kept"


def _afterwards(folder: Path) -> str:
    return (
        "Done. Take plugins and volumes out of the program now. From here on: "
        f"`nomad-csi apply {folder}/ --adopt` (owner records still name the stack), and "
        f"`nomad job run` of the files below {folder / 'jobs'}. The jobs still have the owner record of this stack: "
        "the first `nomad job run` of a file removes it, and restarts the tasks of that job."
    )
