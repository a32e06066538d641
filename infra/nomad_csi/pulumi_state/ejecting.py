"""The steps of an ejection: back up the state, write the files, have Pulumi forget, look again. Asks Pulumi alone."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.pulumi_state import eject
from nomad_csi.pulumi_state.stack_cli import PulumiStack
from nomad_csi.render import files


@dataclass(frozen=True, kw_only=True)
class Prospect:
    """What an ejection would do."""

    exported: Mapping[str, Any]
    """The state as it is, secrets encrypted."""

    ejection: eject.Ejection
    files: eject.EjectedFiles

    def as_json(self) -> dict[str, Any]:
        """Return it as data."""
        return self.ejection.as_json() | {"files": list(self.files.texts), "remarks": list(self.files.remarks)}


def look(stack: PulumiStack, source: str) -> Prospect:
    """
    Return what ejecting *stack* would do; *source* names it in errors. Changes nothing.

    Raises `errors.RefusedError` where it cannot be done now.
    """
    exported = stack.export()
    ejection = eject.plan(exported, source)
    has_secrets = eject.holds_secrets(ejection)
    names = eject.names_of_secrets(stack.export(show_secrets=True)) if has_secrets else {}
    return Prospect(exported=exported, ejection=ejection, files=eject.files_of(ejection, names))


def run(stack: PulumiStack, found: Prospect, *, folder: Path, backup: Path, tell: Callable[[str], None]) -> None:
    """
    Do what *found* says: files below *folder*, the whole state in *backup* first.

    Running it again after it was broken off goes on with what is left. Raises `errors.RefusedError` where a file is in
    the way, or where the state changed meanwhile, before anything is forgotten.
    """
    if stack.export()["deployment"].get("resources") != found.exported["deployment"].get("resources"):
        raise errors.RefusedError("the stack changed meanwhile; nothing was removed: check it, then eject again")
    _back_up(backup, found.exported)
    tell(f"state kept in {backup}: `pulumi stack import --file {backup}` brings it back")
    changed = files.write_all(folder, found.files.texts)
    tell(f"{len(changed)} of {len(found.files.texts)} files written below {folder}")
    stack.forget(found.ejection.urns, protected=found.ejection.has_protected)
    left = [resource["urn"] for resource in stack.export()["deployment"].get("resources") or ()]
    if left != list(found.ejection.kept):
        raise errors.NomadCsiError(
            f"the state is not what it should be now: {', '.join(sorted(set(left) ^ set(found.ejection.kept)))}; "
            f"`pulumi stack import --file {backup}` brings the old one back"
        )


def _back_up(path: Path, exported: Mapping[str, Any]) -> None:
    """Write the state to *path*, for its owner alone, and never over another file."""
    text = json.dumps(exported, indent=2) + "\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise errors.RefusedError(f"{path} is there already; name another file with --backup") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
