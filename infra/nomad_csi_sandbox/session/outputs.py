"""The outputs of the sandbox's stack as people and programs read them: a secret reads ``[secret]``. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.text import table
from nomad_csi_sandbox.engine import values

WIDTH = 120
HIDDEN = "[secret]"


def shown(value: Any) -> Any:
    """Return *value* of a state with `HIDDEN` in place of each secret in it, encrypted or not."""
    if values.is_secret(value):
        return HIDDEN
    if isinstance(value, Mapping):
        return {name: shown(item) for name, item in value.items()}
    return [shown(item) for item in value] if isinstance(value, list) else value


def as_text(found: Mapping[str, Any], name: str = "") -> str:
    """Return all outputs as a table, or the one called *name* alone. Raises `errors.NomadCsiError` for another name."""
    if name:
        return _text(chosen(found, name))
    if not found:
        return "the stack has no outputs"
    return table.columns([("output", "value"), *((key, _text(value)) for key, value in sorted(found.items()))], WIDTH)


def chosen(found: Mapping[str, Any], name: str) -> Any:
    """Return the output called *name*. Raises `errors.NomadCsiError` where there is none, with those that there are."""
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise errors.NomadCsiError(f"NAME: expected an output of the stack ({known}), got {name!r}")
    return found[name]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
