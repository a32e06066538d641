"""``nomad-csi snippet``."""

from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, specs, usage
from nomad_csi.plan import snippet
from nomad_csi.render import documents

ABOUT = """\
The blocks have the access and attachment mode that the spec gives the volume; of several the first. A set
(`count`, `each`) is named by its own id, `default/data`, and claimed with per_alloc; `default/data[0]` is
one volume of it.
"""


@command.command(epilog=ABOUT)
@specs.words(
    "[SPEC] VOLUME",
    "volume or namespace/volume that the job is to use, or a set by its id; before it the spec, or a stack config that "
    "holds one (default: the spec of this directory)",
)
@command.option("--read-only", "for a job that only reads")
@command.option("--destination PATH", "where the tasks see it (default: its name below /, a block device below /dev)")
def run(arguments: command.Arguments) -> int:
    """Print the blocks."""
    spec, key = _one(arguments)
    volumes = inputs.chosen_volumes(inputs.read_plan(spec).volumes, [key])
    found = snippet.make_snippet(
        [item.registration for item in volumes], key[1], reads=arguments.read_only, destination=arguments.destination
    )
    print(documents.snippet(found), end="")
    return 0


def _one(arguments: command.Arguments) -> tuple[Path, tuple[str, str]]:
    """Return the spec, and the volume. Raises `usage.UsageError` for more or less than one of each."""
    paths, keys = specs.paths(arguments), specs.volumes(arguments)
    usage.refuse(
        errors.Problem(path=name, got=str(len(found)), allowed="one")
        for name, found in (("SPEC", paths), ("VOLUME", keys))
        if len(found) != 1
    )
    return paths[0], keys[0]
