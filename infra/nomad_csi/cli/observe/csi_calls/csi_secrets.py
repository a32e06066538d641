"""The secrets of one CSI request: from a file or the environment, never from arguments, which everybody can read."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from nomad_csi import errors
from nomad_csi.cli.common import argument_secrets, command, inputs
from nomad_csi.spec import draft

VARIABLE = "X_CSI_SECRETS"
"""As csc has it: ``k=v,k2=v2``; a JSON mapping too, for values with commas."""

INSTEAD = (
    f"secrets are not taken as arguments, which every user of this machine can read: write them to a file "
    f"(--secrets FILE, JSON or YAML of names and texts) or into the variable {VARIABLE}"
)


options = argument_secrets.options(
    f"JSON or YAML: the secrets of this request by name; also read from the variable {VARIABLE}", INSTEAD
)


def read(arguments: command.Arguments) -> dict[str, str]:
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
