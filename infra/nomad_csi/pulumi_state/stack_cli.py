"""
A Pulumi stack, accessed through the ``pulumi`` command with its configured backend and login.

No file of a backend is read or written here. Tested with CLI 3.260, 2026-11; `forget` needs one whose ``state delete``
takes several URNs.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.spec import names
from nomad_csi.text import redaction, secrets

EXPORT_TIMEOUT_S = 300.0
PREVIEW_TIMEOUT_S = 1800.0
"""A preview runs the program, and reads drift."""

SHOWN_LINES = 12


@dataclass(frozen=True, kw_only=True)
class PulumiStack:
    """A stack of the project in *folder*."""

    folder: Path
    name: str = ""
    """Empty: the selected stack."""

    def export(self) -> dict[str, Any]:
        """Return the output of ``pulumi stack export``; its secrets are encrypted."""
        state: dict[str, Any] = json.loads(self._run(["stack", "export"], EXPORT_TIMEOUT_S))
        return state

    def forget(self, urns: Sequence[str], *, protected: bool) -> None:
        """
        Delete *urns*, dependents first, from the state only; *protected*: some of them are protected.

        Raises `errors.NomadCsiError` if Pulumi refuses.
        """
        force = ["--force"] if protected else []
        self._run(["state", "delete", "--yes", *force, *urns], EXPORT_TIMEOUT_S)

    def preview(self) -> tuple[dict[str, Any], tuple[Mapping[str, Any], ...]]:
        """Return the import file that a preview writes of all that it would create, and the preview's steps."""
        with tempfile.TemporaryDirectory(prefix="nomad-csi-") as folder:
            path = Path(folder, "imports.json")
            done = self._run(["preview", "--json", "--import-file", str(path)], PREVIEW_TIMEOUT_S)
            steps = json.loads(done).get("steps") or ()
            return json.loads(path.read_text(encoding="utf-8")), tuple(steps)

    def _run(self, args: Sequence[str], timeout_s: float) -> str:
        """Return what ``pulumi`` prints. Raises `errors.NomadCsiError` with the end of its error output."""
        stack = ["--stack", self.name] if self.name else []
        command = ["pulumi", *args, *stack, "--non-interactive", "--color", "never"]
        imports = {names.IMPORTS: "1"} if "--import-file" in args else {}
        environment = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"} | imports
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise errors.NomadCsiError(f"pulumi {args[0]} {args[1]} did not end within {timeout_s:g} s") from None
        if done.returncode:
            raise errors.NomadCsiError(f"pulumi {args[0]} {args[1]} failed: {_error_text(done.stdout, done.stderr)}")
        return done.stdout


def _error_text(output: str, messages: str) -> str:
    """Return the errors in the printed JSON, else the last lines of *messages*."""
    try:
        diagnostics = json.loads(output).get("diagnostics") or ()
        texts = [item["message"] for item in diagnostics if item.get("severity") == "error"]
    except (ValueError, AttributeError):
        texts = []
    lines = [line.strip() for text in texts or [messages or output] for line in text.splitlines() if line.strip()]
    known = [value for name, value in os.environ.items() if secrets.names_secret(name)]
    return redaction.redact("; ".join(lines[-SHOWN_LINES:]), known)
