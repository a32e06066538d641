"""How ``nomad-csi csi`` prints: as YAML for people or JSON for programs, and never a secret of the request."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

import yaml

from nomad_csi import errors
from nomad_csi.cli.common import output
from nomad_csi.text import redaction


@dataclass(frozen=True, kw_only=True)
class Output:
    """One command's output."""

    as_json: bool
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that a plugin may repeat, in an answer or in an error; short ones are hidden where they are words."""

    def show(self, document: Mapping[str, Any], stream: TextIO) -> None:
        """Print *document*."""
        hidden = self._hidden(document)
        if self.as_json:
            print(output.as_json(hidden), file=stream)
        elif not hidden:
            print("done", file=stream)
        else:
            print(yaml.safe_dump(hidden, sort_keys=False, allow_unicode=True, width=120).rstrip(), file=stream)

    def fail(self, error: errors.CsiError) -> None:
        """Print *error* to standard error; as JSON besides, where a program reads."""
        text = redaction.mask(str(error), self.secrets, short_words=True)
        if self.as_json:
            message = redaction.mask(error.message, self.secrets, short_words=True)
            shown = {"endpoint": error.endpoint, "code": error.code, "message": message, "advice": error.advice}
            output.print_json({"error": shown})
        print(f"error: {text}", file=sys.stderr)

    def _hidden(self, value: Any) -> Any:
        """Return *value* with no secret in any of its texts."""
        if isinstance(value, str):
            return redaction.mask(value, self.secrets, short_words=True)
        if isinstance(value, Mapping):
            return {self._hidden(key): self._hidden(item) for key, item in value.items()}
        return [self._hidden(item) for item in value] if isinstance(value, list) else value
