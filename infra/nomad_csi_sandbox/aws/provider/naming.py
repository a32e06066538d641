"""Nested properties: Pulumi's names begin with a small letter, AWS's with a capital one."""

from collections.abc import Collection, Mapping
from typing import Any


def to_aws(value: Any, *, lists: Collection[str], tags: Collection[str], name: str = "") -> Any:
    """Return *value*, a property called *name*, as AWS takes it; what says nothing is left out."""
    if name in tags:
        return [{"Key": key, "Value": text} for key, text in sorted(value.items())]
    if isinstance(value, Mapping):
        inner = {key: part for key, part in value.items() if part is not None}
        return {
            key[:1].upper() + key[1:]: to_aws(part, lists=lists, tags=tags, name=key) for key, part in inner.items()
        }
    if isinstance(value, list):
        return [to_aws(part, lists=lists, tags=tags) for part in value]
    return [_whole(value)] if name in lists else _whole(value)


def to_pulumi(value: Any, *, lists: Collection[str], tags: Collection[str], name: str = "") -> Any:
    """Return *value*, a property called *name* there, as Pulumi has it."""
    if name in tags:
        return {pair["Key"]: pair["Value"] for pair in value}
    if isinstance(value, Mapping):
        small = {key[:1].lower() + key[1:]: part for key, part in value.items()}
        return {key: to_pulumi(part, lists=lists, tags=tags, name=key) for key, part in small.items()}
    if isinstance(value, list):
        return value[0] if name in lists else [to_pulumi(part, lists=lists, tags=tags) for part in value]
    return value


def _whole(value: Any) -> Any:
    """Return *value* as AWS's models want it: numbers come off Pulumi's wire as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
