"""Arguments that are each well-formed and do not go together: typed wrong, as what argparse refuses."""

from collections.abc import Iterable

from nomad_csi import errors


class UsageError(errors.SpecError):
    """A command was typed wrong; the exit code is that of ``sysexits.h``."""


def refuse(problems: Iterable[errors.Problem], command: str) -> None:
    """Raise `UsageError` where there are *problems* with the options of *command*, such as ``verify``."""
    if found := tuple(problems):
        raise UsageError(found, f"nomad-csi {command}")
