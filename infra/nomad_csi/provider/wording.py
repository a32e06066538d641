"""What an operator gets to read of an error: one clean line, without a secret."""

import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nomad_csi import errors


def sentence(error: errors.NomadCsiError) -> str:
    """Return what *error* says on one line: the engine shows the first line of an error in its table."""
    if isinstance(error, errors.SpecError):
        return f"{error.source or 'the resource'}: {'; '.join(error.lines)}"
    return str(error)


def texts(value: Any) -> Iterator[str]:
    """Yield every text below *value*."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def bug(error: Exception) -> str:
    """Return where *error* was raised and its class. Its text may hold values of the operator, so it stays out."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else "nowhere"
    return f"bug in nomad-csi: {type(error).__name__} at {where}; please report it with this line"
