"""``nomad-csi register``."""

import argparse
import collections
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli import inputs
from nomad_csi.deploy import batch_documents, batch_register, batch_secrets, volume_file
from nomad_csi.plan import registration
from nomad_csi.spec import draft
from nomad_csi.verify import table

SECRETS = "NOMAD_CSI_SECRETS"
"""Environment variable with secrets, as JSON in the form of a secrets file."""

WIDTH = 120
"""Columns of the table."""


@dataclass
class _Wanted:
    """What the arguments name."""

    documents: list[registration.VolumeRegistration] = field(default_factory=list)
    needed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    made_by_plugin: list[str] = field(default_factory=list)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    text = "a spec or stack config (.yaml), a volume file, or a folder of volume files"
    parser.add_argument("paths", type=Path, nargs="+", metavar="SPEC|FILE", help=text)
    inputs.add_stack_output(parser)
    inputs.add_nomad(parser)
    text = f"YAML or JSON: secrets by namespace/volume_id; also read from the variable {SECRETS}"
    parser.add_argument("--secrets", type=Path, metavar="FILE", help=text)
    parser.add_argument(
        "--deadline-s",
        type=_seconds,
        default=batch_register.DEADLINE_S,
        metavar="S",
        help=f"give up after so many seconds (default: {batch_register.DEADLINE_S:g})",
    )
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Register, and print what became of each volume."""
    given = _secrets(arguments.secrets)
    with inputs.connect(arguments) as nomad:
        wanted = _read(arguments, nomad.connection.namespace)
        documents = batch_secrets.filled(wanted.documents, given, wanted.needed)
        outcomes = batch_register.register(
            nomad, documents, deadline_s=arguments.deadline_s, tell=lambda line: print(line, file=sys.stderr)
        )
    if arguments.json:
        shown = {
            "volumes": [outcome.as_json() for outcome in outcomes],
            "made_by_plugin": wanted.made_by_plugin,
        }
        print(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        print(_as_table(outcomes, wanted.made_by_plugin))
    return exit_code(outcomes)


def exit_code(outcomes: Iterable[batch_register.Outcome]) -> int:
    """Return 0 where all is as wanted, 1 where Nomad says no to some, 2 where some could not be done or found out."""
    found = tuple(outcomes)
    if any(outcome.is_broken for outcome in found):
        return errors.EXIT_ERROR
    return 0 if all(outcome.is_as_wanted for outcome in found) else errors.EXIT_CHANGES


def _read(arguments: argparse.Namespace, namespace: str) -> _Wanted:
    """Return what *arguments* name. Raises `errors.SpecError` with the problems of all files together."""
    wanted = _Wanted()
    broken: list[errors.SpecError] = []
    external_ids = inputs.read_external_ids(arguments.stack_output)
    for path in _files(arguments.paths):
        try:
            if path.suffix in {".yaml", ".yml"}:
                found = batch_documents.of_plan(inputs.read_plan(path), external_ids)
                wanted.documents += found.documents
                wanted.made_by_plugin += found.made_by_plugin
            else:
                for item in volume_file.read(path, namespace=namespace):
                    wanted.documents.append(item.document)
                    wanted.needed[f"{item.document.namespace}/{item.document.volume_id}"] = item.secret_names
        except errors.SpecError as error:
            broken.append(error)
    if len(broken) == 1:
        raise broken[0]
    if broken:
        problems = tuple(
            errors.Problem(
                path=f"{error.source}: {problem.path}", got=problem.got, allowed=problem.allowed, fix=problem.fix
            )
            for error in broken
            for problem in error.problems
        )
        raise errors.SpecError(problems, source=f"{len(broken)} files")
    return wanted


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield *paths*, and for a folder the volume files below it."""
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.volume.hcl"))
        else:
            yield path


def _secrets(path: Path | None) -> batch_secrets.Given:
    """Return the secrets of the environment, and of the file at *path*, which goes before it."""
    given: dict[str, dict[str, str]] = {}
    sources = [(os.environ.get(SECRETS, ""), SECRETS), ("" if path is None else inputs.text(path), str(path))]
    for text, source in sources:
        if text.strip():
            for key, values in batch_secrets.read(draft.read_yaml(text, source), source).items():
                given[key] = given.get(key, {}) | dict(values)
    return given


def _as_table(outcomes: Sequence[batch_register.Outcome], made_by_plugin: Sequence[str]) -> str:
    """Return the outcomes as text: a line for each volume that something happened to, and the sum."""
    rows: list[table.Row] = [(outcome.key, outcome.status, _told(outcome)) for outcome in outcomes if _is_told(outcome)]
    rows += [(key, "left out", "the plugin makes it: `pulumi up`, or `nomad volume create`") for key in made_by_plugin]
    counts = collections.Counter(outcome.status for outcome in outcomes)
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    total = f"{len(outcomes)} volume{'' if len(outcomes) == 1 else 's'}{f': {told}' if told else ''}"
    return "\n".join([table.columns([("volume", "outcome", "remarks"), *rows], WIDTH), total] if rows else [total])


def _is_told(outcome: batch_register.Outcome) -> bool:
    return outcome.status != "unchanged" or bool(outcome.ignored)


def _told(outcome: batch_register.Outcome) -> str:
    hidden = f"not comparable, sent: {', '.join(outcome.hidden)}" if outcome.hidden else ""
    changes = outcome.changes if outcome.status == "updated" else ()
    parts = (outcome.reason, *changes, *outcome.ignored, hidden)
    return "; ".join(part for part in parts if part) or "-"


def _seconds(text: str) -> float:
    """Return *text* as a positive number of seconds. Raises `argparse.ArgumentTypeError`."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return value
