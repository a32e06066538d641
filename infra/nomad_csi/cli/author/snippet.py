"""``nomad-csi snippet``."""

from nomad_csi.cli.common import command, inputs
from nomad_csi.plan import snippet
from nomad_csi.render import documents

ABOUT = """\
The blocks have the access and attachment mode that the spec gives the volume; of several the first. A set
(`count`, `each`) is named by its own id, `default/data`, and claimed with per_alloc; `default/data[0]` is
one volume of it.
"""


@command.command(epilog=ABOUT)
@inputs.spec
@command.argument(
    "volume VOLUME",
    "volume or namespace/volume that the job is to use, or a set by its id",
    type=inputs.spec_volume_key,
)
@command.option("--read-only", "for a job that only reads")
@command.option("--destination PATH", "where the tasks see it (default: its name below /, a block device below /dev)")
def run(arguments: command.Arguments) -> int:
    """Print the blocks."""
    plan = inputs.read_plan(arguments.spec)
    volumes = inputs.chosen_volumes(plan.volumes, [arguments.volume])
    found = snippet.make_snippet(
        volumes, arguments.volume[1], reads=arguments.read_only, destination=arguments.destination
    )
    print(documents.snippet(found), end="")
    return 0
