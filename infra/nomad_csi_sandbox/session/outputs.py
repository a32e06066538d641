"""The outputs of the sandbox's stack as people and programs read them: a secret reads ``[secret]``. Pure."""

from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.engine import values

HIDDEN = "[secret]"


def shown(value: Any) -> Any:
    """Return *value* of a state with `HIDDEN` instead of each secret in it, encrypted or not."""
    if values.is_secret(value):
        return HIDDEN
    if isinstance(value, Mapping):
        return {name: shown(item) for name, item in value.items()}
    return [shown(item) for item in value] if isinstance(value, list) else value
