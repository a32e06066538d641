"""``nomad-csi register``."""

import argparse
import collections
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli import documents, erasing, inputs, owners, waits
from nomad_csi.deploy import batch_outcome, batch_register, batch_secrets, minimum_version, secret_safety
from nomad_csi.text import table

WIDTH = 120
"""Columns of the table."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    text = "a spec or stack config (.yaml), a volume file, or a folder of volume files"
    parser.add_argument("paths", type=Path, nargs="+", metavar="SPEC|FILE", help=text)
    inputs.add_stack_output(parser)
    inputs.add_nomad(parser)
    documents.add_secrets(parser)
    owners.add(parser, adopt="take over volumes that belong to another stack")
    waits.add(parser, "timeout", " for Nomad to take the volumes", default=batch_register.DEADLINE_S)
    text = "read registered volumes with secrets also where an old Nomad can erase these by that; they are sent again"
    parser.add_argument("--accept-erased-secrets", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Register, and print what became of each volume."""
    given = documents.secrets(arguments.secrets)
    with inputs.connect(arguments, arguments.paths, secrets="CSI secrets" if given else "") as nomad:
        wanted = documents.read(arguments.paths, arguments.stack_output, nomad.connection.namespace)
        filled = batch_secrets.filled(wanted.documents, given, wanted.needed)
        for unseen in minimum_version.refuse_older(nomad, wanted.plugins):
            print(unseen, file=sys.stderr)
        erasing.warn(nomad)
        secret_safety.refuse_registered(nomad, filled, is_accepted=arguments.accept_erased_secrets)
        outcomes = batch_register.register(
            nomad,
            filled,
            claimant=owners.claimant(arguments),
            deadline_s=arguments.timeout_s,
            tell=lambda line: print(line, file=sys.stderr),
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


def exit_code(outcomes: Iterable[batch_outcome.Outcome]) -> int:
    """Return 0 where all is as wanted, 1 where Nomad says no to some, 2 where some could not be done or found out."""
    found = tuple(outcomes)
    if any(outcome.is_broken for outcome in found):
        return errors.EXIT_ERROR
    return 0 if all(outcome.is_as_wanted for outcome in found) else errors.EXIT_CHANGES


def _as_table(outcomes: Sequence[batch_outcome.Outcome], made_by_plugin: Sequence[str]) -> str:
    """Return the outcomes as text: a line for each volume that something happened to, and the sum."""
    rows: list[table.Row] = [(outcome.key, outcome.status, _told(outcome)) for outcome in outcomes if _is_told(outcome)]
    rows += [(key, "left out", "the plugin makes it: `pulumi up`, or `nomad volume create`") for key in made_by_plugin]
    counts = collections.Counter(outcome.status for outcome in outcomes)
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    total = f"{len(outcomes)} volume{'' if len(outcomes) == 1 else 's'}{f': {told}' if told else ''}"
    return "\n".join([table.columns([("volume", "outcome", "remarks"), *rows], WIDTH), total] if rows else [total])


def _is_told(outcome: batch_outcome.Outcome) -> bool:
    return outcome.status != "unchanged" or bool(outcome.ignored or outcome.adopted)


def _told(outcome: batch_outcome.Outcome) -> str:
    hidden = f"not comparable, sent: {', '.join(outcome.hidden)}" if outcome.hidden else ""
    changes = outcome.changes if outcome.status == "updated" else ()
    reason = f"{outcome.reason}: --adopt takes it over" if outcome.owner else outcome.reason
    parts = (reason, outcome.adopted, *changes, *outcome.ignored, hidden)
    return "; ".join(part for part in parts if part) or "-"
