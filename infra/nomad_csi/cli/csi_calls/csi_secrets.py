"""The secrets of one CSI request: from a file or the environment, never from arguments, which everybody can read."""

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.cli.common import inputs
from nomad_csi.spec import draft

VARIABLE = "X_CSI_SECRETS"
"""As csc has it: ``k=v,k2=v2``; a JSON mapping too, for values with commas."""

INSTEAD = (
    f"secrets are not taken as arguments, which every user of this machine can read: write them to a file "
    f"(--secrets FILE, JSON or YAML of names and texts) or into the variable {VARIABLE}"
)


class _Refused(argparse.Action):
    """An option that says what to do instead, and repeats nothing of what it was given."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print, and exit."""
        parser.error(INSTEAD)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the option for a file with secrets, and the one that is refused."""
    text = f"JSON or YAML: the secrets of this request by name; also read from the variable {VARIABLE}"
    parser.add_argument("--secrets", type=_file, metavar="FILE", help=text)
    parser.add_argument("--secret", action=_Refused, help=argparse.SUPPRESS)


def _file(given: str) -> Path:
    path = Path(given)
    if ("=" in given or given.lstrip().startswith("{")) and not path.exists():
        raise argparse.ArgumentTypeError(INSTEAD)
    return path


def read(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the secrets of the environment, and of the file, which goes before it. Raises `errors.SpecError`."""
    found = _of_variable(os.environ.get(VARIABLE, ""))
    if arguments.secrets is not None:
        source = str(arguments.secrets)
        found |= _checked(draft.read_yaml(inputs.text(arguments.secrets), source), source)
    return found


def _of_variable(text: str) -> dict[str, str]:
    if not text.strip():
        return {}
    if text.lstrip().startswith("{"):
        return _checked(draft.read_yaml(text, VARIABLE), VARIABLE)
    pairs: Sequence[tuple[str, str, str]] = [part.partition("=") for part in text.split(",")]
    return _checked({name: value if equals else None for name, equals, value in pairs}, VARIABLE)


def _checked(document: Any, source: str) -> dict[str, str]:
    is_table = isinstance(document, Mapping) and all(
        isinstance(part, str) for pair in document.items() for part in pair
    )
    if not is_table or not all(document):
        allowed = "names and texts" if source != VARIABLE else "name=text pairs with commas between, or JSON"
        raise errors.SpecError((errors.Problem(path="", got="[secret]", allowed=allowed),), source)
    return dict(document)
