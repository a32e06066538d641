"""
A row of the table of resource types, and the `kinds.Kind` that follows from it.

A row names calls of boto3 and properties of the type. A property ``cidrBlock`` is ``CidrBlock`` for AWS, unless the row
says another name. In the arguments of a call a text ``$name`` is the property of that name. ``$id`` is the id, ``$1``
and ``$2`` are its parts, ``$tags`` and ``$dropped`` are the wanted tags and the names of those
not wanted any more. Arguments without a value are left out.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jmespath

from nomad_csi import errors
from nomad_csi_sandbox.aws.provider import clients, kinds, tags

Work = Callable[[clients.Clients, str, Mapping[str, Any]], Any]
"""What a call of boto3 alone cannot do: region, id and inputs to do it with."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of boto3."""

    operation: str
    """Method of the client, such as ``create_vpc``."""

    arguments: Mapping[str, Any]

    def __call__(self, client: Any, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send it with *values* in the places of its arguments."""
        reply: Mapping[str, Any] = getattr(client, self.operation)(**_filled(self.arguments, values))
        return reply


def call(operation: str, **arguments: Any) -> Call:
    """Return the call of *operation* with *arguments*."""
    return Call(operation=operation, arguments=arguments)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Inputs that have a call of their own, which follows the create and is sent again when one of them changes."""

    inputs: str
    """Names of the inputs, separated by blanks."""

    do: Call | Work
    sent: bool = False
    """Whether the create has got them already, so that this call is only for later changes."""


@dataclass(frozen=True, kw_only=True)
class Tagging:
    """How objects of a type get their tags."""

    tag: Call
    untag: Call
    listed: Call | None = None
    """Asks for the tags, where the call that reads the object does not show them."""

    path: str = "Tags"
    """Where the tags are in its answer, or in the object."""

    key: str = "Key"
    value: str = "Value"

    def pairs(self, inputs: Mapping[str, Any]) -> list[dict[str, str]]:
        """Return the wanted tags as AWS takes them."""
        return [{self.key: pair["Key"], self.value: pair["Value"]} for pair in tags.to_list(inputs)]

    def values(self, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``$tags`` and ``$dropped``."""
        dropped = tags.dropped(old_inputs, inputs)
        return {"tags": self.pairs(inputs), "dropped": dropped, "droppedPairs": [{"Key": name} for name in dropped]}

    def read(self, client: Any, values: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, str]:
        """Return the tags of the object *found*."""
        answer = self.listed(client, values) if self.listed else found
        return {pair[self.key]: pair[self.value] for pair in jmespath.search(self.path, answer) or []}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A resource type of the real provider."""

    token: str
    """Pulumi's type token, such as ``aws:ec2/vpc:Vpc``."""

    client: str
    """boto3's name of the service."""

    title: str
    """Name of the type in errors."""

    inputs: str
    """Inputs, separated by blanks. ``!`` behind a name: required. ``?``: AWS decides when it is left out."""

    create: Call | Callable[[clients.Clients, Mapping[str, Any]], str]
    """The call that makes the object. It gets every input that has no call of its own, beside its own arguments."""

    identity: str
    """The id: a JMESPath in the answer to `create`, or a text with names of inputs or of the answer in braces."""

    separator: str = ""
    """What is between the two parts of an id that has parts."""

    read: Call
    found: str
    """JMESPath of the object in the answer; ``{id}``, ``{1}``, ``{2}`` are filled in. None: it is gone."""

    delete: Sequence[Call | Work]
    outputs: str = ""
    """Properties that only AWS decides."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Where a property is in the object that was read, as JMESPath, and the argument of `create`, if it is a name."""

    shown: Mapping[str, str] = field(default_factory=dict)
    """The same, only of the object that was read."""

    arn: str = ""
    """``service:resource``, where AWS does not tell the ARN: ``ec2:vpc/{id}``."""

    settings: Sequence[Setting] = ()
    more: Callable[[clients.Clients, str, Mapping[str, Any]], kinds.Properties] | None = None
    """Further properties of the object that was read."""

    tagging: Tagging | None = None
    tags_in_create: Any = None
    """Argument of `create` for the tags, left out without tags; ``None``: the tags are set afterwards."""

    unsent: str = ""
    """Inputs that only a delete looks at."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    autonamed: str = ""
    canonical: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    has_region: bool = True
    delete_before_replace: bool = False

    def kind(self) -> kinds.Kind:
        """Return what the servicer works with."""
        marked = self.inputs.split()
        return kinds.Kind(
            token=self.token,
            service=self.client.upper(),
            title=self.title,
            inputs=frozenset(self._all_inputs()),
            outputs=frozenset(self.outputs.split()),
            required=frozenset(name[:-1] for name in marked if name.endswith("!")),
            filled_in=frozenset(name[:-1] for name in marked if name.endswith("?")),
            fixed=frozenset(self._without({*self._names(self.settings), *self.unsent.split()})),
            defaults=self.defaults,
            autonamed=self.autonamed,
            canonical=self.canonical,
            has_tags=self.tagging is not None,
            has_region=self.has_region,
            delete_before_replace=self.delete_before_replace,
            create=self._create,
            finish=self._finish,
            read=self._read,
            update=self._update,
            delete=self._delete,
        )

    def _all_inputs(self) -> list[str]:
        return [name.rstrip("!?") for name in self.inputs.split()]

    def _sent(self) -> list[str]:
        """Return the inputs that the create gets."""
        later = [setting for setting in self.settings if not setting.sent]
        return self._without({*self._names(later), *self.unsent.split()})

    @staticmethod
    def _names(settings: Sequence[Setting]) -> set[str]:
        return {name for setting in settings for name in setting.inputs.split()}

    def _without(self, names: set[str]) -> list[str]:
        return [name for name in self._all_inputs() if name not in names]

    def _path(self, name: str) -> str:
        return self.names.get(name, name[0].upper() + name[1:])

    def _create(self, aws: clients.Clients, inputs: kinds.Properties) -> str:
        if not isinstance(self.create, Call):
            return self.create(aws, inputs)
        named = {self._path(name): f"${name}" for name in self._sent() if self._path(name).isalnum()}
        tagged = self.tags_in_create if self.tags_in_create and inputs.get("tagsAll") else {}
        whole = Call(operation=self.create.operation, arguments={**named, **tagged, **self.create.arguments})
        reply = whole(aws.of(self.client), self._values("", {}, inputs))
        if "{" in self.identity:
            return self.identity.format_map({**reply, **inputs})
        return str(jmespath.search(self.identity, reply))

    def _values(self, identity: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        tagged = self.tagging.values(old_inputs, inputs) if self.tagging else {}
        return {**inputs, **self._parts(identity), **tagged}

    def _parts(self, identity: str) -> dict[str, str]:
        """Return the id and its two parts: ``role:name`` is a role and a name. Raises `errors.AwsError` without two."""
        first, _, second = identity.partition(self.separator) if self.separator else (identity, "", "")
        if self.separator and identity and not second:
            raise errors.AwsError(f"id: expected {self.identity}, got {identity!r}")
        return {"id": identity, "1": first, "2": second}

    def _finish(self, aws: clients.Clients, identity: str, inputs: kinds.Properties) -> None:
        self._set([one for one in self.settings if not one.sent], aws, identity, {}, inputs)
        if self.tagging and self.tags_in_create is None:
            self._retag(aws, identity, {}, inputs)

    def _update(self, aws: clients.Clients, identity: str, old: kinds.Properties, inputs: kinds.Properties) -> None:
        self._set(self.settings, aws, identity, old, inputs)
        self._retag(aws, identity, old, inputs)

    def _set(
        self,
        settings: Sequence[Setting],
        aws: clients.Clients,
        identity: str,
        old: Mapping[str, Any],
        inputs: Mapping[str, Any],
    ) -> None:
        for setting in settings:
            if any(old.get(name) != inputs.get(name) for name in setting.inputs.split()):
                self._do(setting.do, aws, identity, self._values(identity, old, inputs))

    def _retag(self, aws: clients.Clients, identity: str, old: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        values = self._values(identity, old, inputs)
        if self.tagging and values["dropped"]:
            self.tagging.untag(aws.of(self.client), values)
        if self.tagging and values["tags"]:
            self.tagging.tag(aws.of(self.client), values)

    def _read(self, aws: clients.Clients, identity: str) -> kinds.Properties | None:
        client, parts = aws.of(self.client), self._parts(identity)
        path = self.found
        for name, text in parts.items():
            path = path.replace(f"{{{name}}}", text)
        found = jmespath.search(path, self.read(client, parts))
        if not found:
            return None
        searched = {
            name: _plain(jmespath.search(self.shown.get(name, self._path(name)), found)) for name in self._shown()
        }
        live = {name: value for name, value in searched.items() if value is not None}
        if self.arn:
            service, _, resource = self.arn.partition(":")
            live["arn"] = aws.arn(service, resource.format(id=identity, **live))
        if self.tagging:
            live["tagsAll"] = self.tagging.read(client, parts | live, found)
        return live | (self.more(aws, identity, found) if self.more else {})

    def _shown(self) -> list[str]:
        return [*self._all_inputs(), *self.outputs.split()]

    def _delete(self, aws: clients.Clients, identity: str, state: kinds.Properties) -> None:
        for one in self.delete:
            self._do(one, aws, identity, self._values(identity, {}, state))

    def _do(self, work: Call | Work, aws: clients.Clients, identity: str, values: Mapping[str, Any]) -> None:
        if isinstance(work, Call):
            work(aws.of(self.client), values)
        else:
            work(aws, identity, values)


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(template, str) and template.startswith("$"):
        value = values.get(template[1:])
        return int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(template, Mapping):
        parts = {name: _filled(part, values) for name, part in template.items()}
        return {name: part for name, part in parts.items() if not kinds.is_empty(part)}
    if isinstance(template, list | tuple):
        return [part for part in (_filled(one, values) for one in template) if not kinds.is_empty(part)]
    return template


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.datetime) else value
