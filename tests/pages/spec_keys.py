"""The meaning of a key of the spec, for the reference page and for arguments of components. Pure."""

from collections.abc import Mapping
from typing import Any


def bounds(value: Mapping[str, Any]) -> str:
    """Return the bounds of a number, after a comma; empty: none."""
    low = value.get("minimum", value.get("exclusiveMinimum"))
    high = value.get("maximum")
    if low is not None and high is not None:
        return f", {low} to {high}"
    return f", at least {low}" if low is not None else ""


def meaning(value: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """Return the description of a key; where it has none, that of the model of its value."""
    choices = (value, *value.get("anyOf", ()), value.get("items", {}))
    text = value.get("description", "")
    if not text:
        names = [item["$ref"].rpartition("/")[2] for item in choices if "$ref" in item]
        text = next((parts[name]["description"] for name in names), "")
    allowed = next((item["patternErrorMessage"] for item in choices if "patternErrorMessage" in item), "")
    sentence = f"Allowed: {allowed}." if allowed else ""
    return f"{text} {sentence}".strip().replace("`None`", "absent")
