"""What the servicer must know of a resource type: how to make, read, change and remove it, and which inputs matter."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nomad_csi_sandbox.aws.provider import clients

Properties = dict[str, Any]
"""Property names are Pulumi's (camelCase), values are JSON values."""


def _nothing(_aws: clients.Clients, _identity: str, _inputs: Mapping[str, Any]) -> None:
    """Have nothing more to do."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One resource type of the real provider, as far as the stack uses it."""

    token: str
    """Pulumi's type token, such as ``aws:ebs/volume:Volume``."""

    service: str
    """Name of the AWS service in errors: ``EC2``, ``EFS``, ``IAM``."""

    title: str
    """Name of the type in errors, such as ``EBS Volume``."""

    inputs: frozenset[str]
    """Inputs that are understood here, without ``region`` and ``tags``. Others are refused, not ignored."""

    outputs: frozenset[str]
    """Properties that only AWS decides, without ``region`` and ``tagsAll``; unknown in a preview of a create."""

    create: Callable[[clients.Clients, Properties], str]
    """Make the object from the inputs and return its id. Nothing may follow that can fail: that belongs to `finish`."""

    read: Callable[[clients.Clients, str], Properties | None]
    """Return the live properties (tags, if any, as ``tagsAll``); ``None`` or a NotFound error when it is gone."""

    delete: Callable[[clients.Clients, str, Properties], None]
    """Remove the object with this id and these recorded properties."""

    finish: Callable[[clients.Clients, str, Properties], None] = _nothing
    """What follows a create: waiting, settings that have a call of their own. A failure leaves the object recorded."""

    update: Callable[[clients.Clients, str, Properties, Properties], None] | None = None
    """Turn the object from the old inputs to the new ones, repeating what an interrupted `finish` left out."""

    required: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    """Inputs whose change needs a new object, ``region`` aside."""

    filled_in: frozenset[str] = frozenset()
    """Inputs that AWS decides when they are left out: leaving one out of the program later changes nothing."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    autonamed: str = ""
    """Input that gets ``<resource name>-<seven hex digits>`` when it is left out."""

    delete_before_replace: bool = False
    canonical: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """For inputs that may be written in several ways: a form that is equal when the meaning is."""

    has_tags: bool = True
    has_region: bool = True

    @property
    def known_inputs(self) -> frozenset[str]:
        """All inputs that are understood here."""
        extra = {"region": self.has_region, "tags": self.has_tags}
        return self.inputs | {name for name, has in extra.items() if has}

    def same(self, name: str, one: Any, other: Any) -> bool:
        """Whether two values of the input *name* mean the same to AWS."""
        canonical = self.canonical.get(name, compact)
        return bool(canonical(one or None) == canonical(other or None))


def compact(value: Any) -> Any:
    """Return *value* without empty parts: ``{"path": "/", "creationInfo": None}`` is ``{"path": "/"}``."""
    if isinstance(value, Mapping):
        return {name: compact(part) for name, part in value.items() if not is_empty(part)} or None
    if isinstance(value, list | tuple):
        return [compact(part) for part in value] or None
    return None if is_empty(value) else value


def is_empty(value: Any) -> bool:
    """Whether *value* says nothing. 0 and ``False`` say something."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def present(**arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call that say something; boto3 takes no ``None``."""
    return {name: value for name, value in arguments.items() if not is_empty(value)}


def as_set(values: Any) -> Any:
    """Return a list of strings without its order; a value that is not known yet stays as it is."""
    return values if isinstance(values, str) else sorted(set(values or ()))


def as_document(text: Any) -> Any:
    """Return what a JSON document says, whatever its layout; text that is no JSON stays as it is."""
    try:
        return json.loads(text or "null")
    except ValueError:
        return text
