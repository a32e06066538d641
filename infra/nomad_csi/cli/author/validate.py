"""``nomad-csi validate``."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, output, usage
from nomad_csi.plan import model
from nomad_csi.render import files
from nomad_csi.text import listing

ABOUT = """\
Checks each SPEC against all rules, and renders its files in memory: nothing is written, and
neither Nomad nor AWS is asked. Exits 2 where a spec has problems.
"""

UNKNOWN_ID = "known-after-pulumi-up"
"""Placeholder for the external id of storage that Pulumi is to create."""

_NAMES_LINE = re.compile(r"^line (\d+), (column \d+)")
_NO_LINE = re.compile(r"|byte \d+")


@command.command(epilog=ABOUT)
@command.argument("specs SPEC...", "a spec, or a Pulumi stack config that holds one")
@inputs.templates
@command.as_json()
def run(arguments: command.Arguments) -> int:
    """Print the content of each spec, or all problems of it."""
    found = [_validate(path, arguments.templates) for path in arguments.specs]
    is_ok = all(spec["ok"] for spec in found)
    if arguments.json:
        output.print_json({"ok": is_ok, "specs": found})
    else:
        for spec in found:
            _print(spec)
    return 0 if is_ok else errors.EXIT_ERROR


def _print(spec: dict[str, Any]) -> None:
    for problem in spec["problems"]:
        line = f":{problem['line']}" if problem["line"] else ""
        print(f"error: {spec['spec']}{line}: {problem['message']}", file=sys.stderr)
    if spec["ok"]:
        counts = ", ".join(listing.counted(spec[f"{noun}s"], noun) for noun in ("plugin", "volume"))
        print(f"{spec['spec']}: valid, {counts}")


def _validate(path: Path, templates: Path | None) -> dict[str, Any]:
    """Return the content of the spec in *path*, or its problems, as JSON values."""
    counts: dict[str, int] = {}
    problems: list[dict[str, Any]] = []
    try:
        plan = inputs.read_plan(path)
        counts = {"plugins": len(plan.plugins), "volumes": len(plan.volumes)}
        problems += map(_problem, _refused_files(plan, templates))
    except errors.SpecError as error:
        lines = _lines(path, [problem.path for problem in error.problems])
        located = [
            _problem(_NAMES_LINE.sub(r"\2", text), item.path, lines[item.path])
            for text, item in zip(error.lines, error.problems, strict=True)
        ]
        problems += sorted(located, key=lambda problem: problem["line"] or 0)
    except OSError as error:
        problems.append(_problem(usage.describe_file_error(error, {})))
    return {"spec": str(path), "ok": not problems, **counts, "problems": problems}


def _problem(message: str, path: str = "", line: int | None = None) -> dict[str, Any]:
    return {"path": path, "line": line, "message": message}


def _refused_files(plan: model.StoragePlan, templates: Path | None) -> Iterator[str]:
    """Yield why files of *plan* cannot be rendered, each reason once, with the first file that it applies to."""
    made_by_pulumi = (item for item in plan.volumes if not item.registration.external_id and not item.made_by_plugin)
    rendered = files.render_plan(plan, {item.key: UNKNOWN_ID for item in made_by_pulumi}, templates=templates)
    reasons: dict[str, str] = {}
    for name in rendered:
        try:
            rendered[name]
        except errors.NomadCsiError as error:
            reasons.setdefault(str(error), name)
    yield from (f"{name}: {reason}" for reason, name in reasons.items())


def _lines(path: Path, places: list[str]) -> dict[str, int | None]:
    """Return the line of the spec in *path* for each of the *places* of its problems; ``None`` for the whole file."""
    named = {place: _NAMES_LINE.fullmatch(place) for place in places}
    found = {place: int(line[1]) if line else None for place, line in named.items()}
    if inside := {place for place in places if not found[place] and not _NO_LINE.fullmatch(place)}:
        found |= inputs.lines(path, inside)
    return found
