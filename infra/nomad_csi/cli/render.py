"""``nomad-csi render``, and ``nomad-csi snippet``: the text that a spec becomes."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from nomad_csi import errors, exit_codes
from nomad_csi.cli.common import command, inputs, output, specs
from nomad_csi.plan import snippet
from nomad_csi.render import disk, documents, files
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
        problem = errors.Problem(path="--out", got=got, allowed="a directory, or `out` in the spec")
        raise command.UsageError((problem,), "nomad-csi render")
    external_ids = inputs.read_external_ids(arguments.stack_output)
    rendered = files.render_plan(inputs.read_plan(arguments.spec), external_ids, templates=arguments.templates)
    if arguments.check:
        check = _check_as_json if arguments.json else _check
        return check(out, rendered)
    changed = disk.write_all(out, rendered, overwrite=arguments.overwrite)
    left_over = files.left_over(out, rendered)
    if arguments.json:
        found = dict.fromkeys(changed, ("wrote", "")) | dict.fromkeys(left_over, ("left over", ""))
        _print_json(out, rendered, found, is_ok=True)
        return 0
    for path in rendered:
        if path in changed:
            print(f"wrote      {out / path}")
    if unchanged := len(rendered) - len(changed):
        print(f"unchanged  {listing.counted(unchanged, 'file')}")
    for path in left_over:
        print(f"left over  {out / path}: {GONE}; delete it")
    return 0


def _check_as_json(folder: Path, rendered: Mapping[str, str]) -> int:
    found = {item.path: (str(item.reason), item.diff) for item in files.stale(folder, rendered)}
    _print_json(folder, rendered, found, is_ok=not found)
    return exit_codes.CHANGES if found else 0


def _print_json(folder: Path, rendered: Iterable[str], found: dict[str, tuple[str, str]], *, is_ok: bool) -> None:
    """Print every file with its status and diff: those *found*, and the unchanged others of *rendered*."""
    rows = dict.fromkeys(rendered, ("unchanged", "")) | found
    shown = [{"path": path, "status": status, "diff": diff} for path, (status, diff) in rows.items()]
    output.print_json({"ok": is_ok, "folder": str(folder), "files": shown})


def _check(folder: Path, rendered: Mapping[str, str]) -> int:
    reasons: dict[files.Reason, int] = {}
    for item in files.stale(folder, rendered):
        print(f"{item.reason}: {folder / item.path}\n{item.diff}", end="")
        reasons[item.reason] = reasons.get(item.reason, 0) + 1
    if not reasons:
        print(f"{listing.counted(len(rendered), 'file')} up to date")
        return 0
    extra = reasons.pop("left over", 0)
    if reasons:
        shown = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
        advice = "render again without --check"
        if "edited by hand" in reasons:
            advice += "; of those edited by hand, move the edits into the spec first, then add --overwrite"
        print(f"{sum(reasons.values())} of {len(rendered)} files are stale ({shown}); {advice}")
    if extra:
        print(
            f"{listing.counted(extra, 'file')} left over, named above: {GONE}; delete {'it' if extra == 1 else 'them'}"
        )
    return exit_codes.CHANGES


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
    found = snippet.make_snippet(
        [item.registration for item in volumes], key[1], reads=arguments.read_only, destination=arguments.destination
    )
    print(documents.snippet(found), end="")
    return 0


def _one(arguments: command.Arguments) -> tuple[Path, tuple[str, str]]:
    """Return the spec, and the volume. Raises `command.UsageError` for more or less than one of each."""
    paths, keys = specs.paths(arguments), specs.volumes(arguments)
    command.refuse(
        errors.Problem(path=name, got=str(len(found)), allowed="one")
        for name, found in (("SPEC", paths), ("VOLUME", keys))
        if len(found) != 1
    )
    return paths[0], keys[0]
