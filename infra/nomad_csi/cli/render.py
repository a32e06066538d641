"""``nomad-csi render``, and ``nomad-csi snippet``: the text that a spec becomes."""

from collections.abc import Sequence
from pathlib import Path

from nomad_csi import exit_codes
from nomad_csi.cli.common import command, inputs, output, specs
from nomad_csi.hcl import disk, documents
from nomad_csi.plan import snippet
from nomad_csi.text import listing

GONE = "no volume or plugin of the spec has it"


@command.command()
@specs.spec
@inputs.stack_output
@command.option("--out DIR", "directory of the rendered files (default: `out` of the spec)")
@inputs.templates
@command.option("--check", "write nothing; exit 1 with a diff when files are stale")
@command.option("--overwrite", "write over files that were edited by hand")
@command.as_json()
def run(arguments: command.Arguments) -> int:
    """Write or check the files."""
    out: Path | None = arguments.out or specs.out(arguments.spec)
    if out is None or (out.exists() and not out.is_dir()):
        got = "nothing" if out is None else f"the file {out}"
        raise command.usage("--out", got=got, allowed="a directory, or `out` in the spec")
    external_ids = inputs.read_external_ids(arguments.stack_output)
    rendered = documents.render_plan(inputs.read_plan(arguments.spec), external_ids, templates=arguments.templates)
    if arguments.check:
        stale = tuple(documents.stale(out, rendered))
        differences = {item.path: (str(item.reason), item.diff) for item in stale}
        text = _stale_text(out, stale, len(rendered))
    else:
        changed = disk.write_all(out, rendered, overwrite=arguments.overwrite)
        differences = dict.fromkeys(changed, ("wrote", "")) | dict.fromkeys(
            documents.left_over(out, rendered), ("left over", "")
        )
        lines = [f"wrote      {out / path}" for path in rendered if path in changed]
        if unchanged := len(rendered) - len(changed):
            lines.append(f"unchanged  {listing.counted(unchanged, 'file')}")
        lines += [f"left over  {out / path}: {GONE}; delete it" for path in differences if path not in rendered]
        text = "\n".join(lines)
    is_ok = not arguments.check or not differences
    rows = dict.fromkeys(rendered, ("unchanged", "")) | differences
    shown = [{"path": path, "status": status, "diff": diff} for path, (status, diff) in rows.items()]
    output.show(arguments, {"ok": is_ok, "folder": str(out), "files": shown}, text)
    return 0 if is_ok else exit_codes.CHANGES


def _stale_text(folder: Path, stale: Sequence[documents.Stale], total: int) -> str:
    """Return the difference of each of the *stale* files, and what to do about them."""
    if not stale:
        return f"{listing.counted(total, 'file')} up to date"
    text = "".join(f"{item.reason}: {folder / item.path}\n{item.diff}" for item in stale)
    return (
        f"{text}{listing.counted(len(stale), 'stale file')}; render again without --check; of those edited by hand, "
        "move the edits into the spec first, then add --overwrite; delete those left over\n"
    )


SNIPPET = """\
The blocks have the access and attachment mode that the spec gives the volume; of several the first. A set
(`count`, `each`) is named by its own id, `default/data`, and claimed with per_alloc; `default/data[0]` is
one volume of it.
"""


@command.command(epilog=SNIPPET)
@specs.words(
    "[SPEC] VOLUME",
    "volume or namespace/volume that the job is to use, or a set by its id; before it the spec, or a stack config that "
    "holds one (default: the spec of this directory)",
)
@command.option("--read-only", "for a job that only reads")
@command.option("--destination PATH", "where the tasks see it (default: its name below /, a block device below /dev)")
def run_snippet(arguments: command.Arguments) -> int:
    """Print the blocks."""
    spec, key = _one(arguments)
    volumes = inputs.chosen_volumes(inputs.read_plan(spec).volumes, [key])
    blocks = snippet.make_snippet(
        [item.registration for item in volumes], key[1], reads=arguments.read_only, destination=arguments.destination
    )
    print(documents.snippet(blocks), end="")
    return 0


def _one(arguments: command.Arguments) -> tuple[Path, tuple[str, str]]:
    """Return the spec, and the volume. Raises `click.UsageError` for more or less than one of each."""
    paths, keys = specs.paths(arguments), specs.volumes(arguments)
    if len(paths) != 1 or len(keys) != 1:
        raise command.usage("", got=f"{len(paths)} and {len(keys)}", allowed="one SPEC and one VOLUME")
    return paths[0], keys[0]
