"""
How values are written: by Pulumi, by AWS, and which of them mean the same.

A value that is not known yet is a text (`wire.UNKNOWN`) and stays as it is.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any


def is_empty(value: Any) -> bool:
    """Whether *value* says nothing. 0 and ``False`` say something."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def present(**arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call that say something; boto3 takes no ``None``."""
    return {name: value for name, value in arguments.items() if not is_empty(value)}


def compact(value: Any) -> Any:
    """Return *value* without empty parts: ``{"path": "/", "creationInfo": None}`` is ``{"path": "/"}``."""
    if isinstance(value, Mapping):
        return {name: compact(part) for name, part in value.items() if not is_empty(part)} or None
    if isinstance(value, list | tuple):
        return [compact(part) for part in value] or None
    return None if is_empty(value) else value


@dataclass(frozen=True, kw_only=True)
class Form:
    """The ways in which an input is written."""

    to_aws: Callable[[Any], Any] = lambda value: value
    to_pulumi: Callable[[Any], Any] = lambda value: value
    meaning: Callable[[Any], Any] = compact
    """Something that is equal for values that mean the same."""


def _as_document(text: Any) -> Any:
    """Return what a JSON document says, whatever its layout; text that is no JSON stays as it is."""
    try:
        return json.loads(text or "null")
    except ValueError:
        return text


def _as_set(values: Any) -> Any:
    return values if isinstance(values, str) else sorted((compact(one) for one in values or ()), key=str)


def to_text(document: Any) -> str:
    """Return a JSON document as text; botocore parses some."""
    return document if isinstance(document, str) else json.dumps(document)


DOCUMENT = Form(to_pulumi=to_text, meaning=_as_document)
"""A JSON document: a text or, in a program, a mapping."""

SET = Form(meaning=_as_set)
"""A list whose order does not matter."""


@dataclass(frozen=True, kw_only=True)
class Nested:
    """Mappings in mappings: Pulumi's names begin with a small letter, AWS's with a capital one."""

    names: Mapping[str, str] | None = None
    """Names of AWS that are no capitalized ones, by Pulumi's."""

    only: bool = False
    """Whether other names than these are left out of what AWS shows."""

    lists: Collection[str] = ()
    """Lists of one element, which Pulumi shows as the element."""

    tags: Collection[str] = ()
    """Maps of tags: their keys are the operator's, and AWS has them as lists of pairs."""

    def to_aws(self, value: Any, name: str = "") -> Any:
        """Return *value*, a property called *name*, as AWS takes it; what says nothing is left out."""
        if name in self.tags:
            return [{"Key": key, "Value": text} for key, text in sorted(value.items())]
        if isinstance(value, Mapping):
            return {
                (self.names or {}).get(key, key[:1].upper() + key[1:]): self.to_aws(part, key)
                for key, part in value.items()
                if not is_empty(part)
            }
        if isinstance(value, list):
            return [self.to_aws(part) for part in value]
        return [value] if name in self.lists else value

    def to_pulumi(self, value: Any, name: str = "") -> Any:
        """Return *value*, a property called *name* there, as Pulumi has it."""
        if name in self.tags:
            return {pair["Key"]: pair["Value"] for pair in value}
        if isinstance(value, Mapping):
            ours = {theirs: key for key, theirs in (self.names or {}).items()}
            named = {ours.get(key, key[:1].lower() + key[1:]): part for key, part in value.items()}
            kept = {key: part for key, part in named.items() if not self.only or key in (self.names or {})}
            return {key: self.to_pulumi(part, key) for key, part in kept.items()}
        if isinstance(value, list):
            return value[0] if name in self.lists else [self.to_pulumi(part) for part in value]
        return value

    def form(self, meaning: Callable[[Any], Any] = compact) -> Form:
        """Return the form of an input that is such a mapping, or a list of them."""
        return Form(to_aws=self.to_aws, to_pulumi=self.to_pulumi, meaning=meaning)
