"""
A row of the table of resource types: what a type is for the servicer, and the calls that work on its objects.

A row names calls of boto3 and properties of the type. A property ``cidrBlock`` is ``CidrBlock`` for AWS, unless the row
says another name. In the arguments of a call a text ``$name`` is the property of that name. ``$id`` is the id, ``$1``
and ``$2`` are its parts. ``$tags`` are the wanted tags as pairs, ``$tagsAll`` as a mapping, ``$dropped`` the names of
those not wanted any more, ``$droppedPairs`` the same as pairs. Arguments without a value are left out.
"""

import datetime as dt
import functools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jmespath

from nomad_csi import errors
from nomad_csi_sandbox.aws.provider import clients
from nomad_csi_sandbox.aws.provider.forms import Form, is_empty, present

TIMEOUT_S = 30.0
"""How long an object may take to become available; moto's are at once, the real provider waits half an hour."""

POLL_S = 0.2

Properties = dict[str, Any]
"""Property names are Pulumi's (camelCase), values are JSON values."""

Values = Mapping[str, Any]

Work = Callable[[clients.Clients, str, Values], Any]
"""What a call of boto3 alone cannot do: region, id and inputs to do it with."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of boto3."""

    operation: str
    """Method of the client, such as ``create_vpc``."""

    arguments: Values

    def __call__(self, client: Any, values: Values) -> Values:
        """Send it with *values* in the places of its arguments."""
        reply: Values = getattr(client, self.operation)(**_filled(self.arguments, values))
        return reply


def call(operation: str, **arguments: Any) -> Call:
    """Return the call of *operation* with *arguments*."""
    return Call(operation=operation, arguments=arguments)


@dataclass(frozen=True, kw_only=True)
class Tagging:
    """How objects of a type get their tags."""

    tag: Call
    untag: Call
    listed: Call | None = None
    """Reads the tags, where the call that reads the object does not show them."""

    path: str = "Tags"
    """Where the tags are in its answer, or in the object: pairs, or a mapping."""

    key: str = "Key"
    value: str = "Value"

    def values(self, old_inputs: Values, inputs: Values) -> Properties:
        """Return ``$tags``, ``$dropped`` and ``$droppedPairs``."""
        old, wanted = (one.get("tagsAll") or {} for one in (old_inputs, inputs))
        dropped = sorted(old.keys() - wanted.keys())
        return {
            "tags": [{self.key: name, self.value: value} for name, value in sorted(wanted.items())],
            "dropped": dropped,
            "droppedPairs": [{"Key": name} for name in dropped],
        }

    def read(self, client: Any, values: Values, found: Values) -> dict[str, str]:
        """Return the tags of the object *found*."""
        tags = jmespath.search(self.path, self.listed(client, values) if self.listed else found) or {}
        return dict(tags) if isinstance(tags, Mapping) else {pair[self.key]: pair[self.value] for pair in tags}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A resource type of the real provider, as far as the stack uses it."""

    token: str
    """Pulumi's type token, such as ``aws:ec2/vpc:Vpc``."""

    title: str
    """Name of the type in errors."""

    client: str = ""
    """boto3's name of the service, where it is not the module in the token."""

    inputs: str
    """
    Inputs that are understood here, separated by blanks, without ``region`` and ``tags``. Others are refused.

    ``!`` behind a name: required. ``?``: AWS decides when it is left out, so that leaving it out later changes nothing.
    """

    outputs: str = ""
    """Properties that only AWS decides, without ``region`` and ``tagsAll``; unknown in a preview of a create."""

    refuse: Callable[[clients.Clients, Values], None] | None = None
    """Refuses inputs that AWS refuses and moto takes, before the create."""

    create: Call | Callable[[clients.Clients, Values], str]
    """Makes the object. A call gets every input that has no call of its own, beside its own arguments."""

    identity: str = ""
    """The id: a JMESPath in the answer to `create`, or a text with names of inputs or of the answer in braces."""

    separator: str = ""
    """What is between the two parts of an id that has parts."""

    state: str = ""
    """Where the object that was read says ``available``, before anything follows its create."""

    finish: Work | None = None
    """What follows a create before the settings and can fail: the object is recorded then."""

    settings: Mapping[str, Call | Work] = field(default_factory=dict)
    """
    Inputs that have a call of their own, separated by blanks, and that call, which gets them beside its own arguments.

    It follows the create, and is sent again when AWS does not show what is wanted of one of them: an interrupted create
    is completed by the next update.
    """

    changes: Mapping[str, Call | Work] = field(default_factory=dict)
    """The same, of inputs that the create has got already: the call is only for later changes."""

    unsent: str = ""
    """Inputs that only a delete uses, and no change needs a call."""

    read: Call | Work
    """Reads the object; a NotFound error: it is gone."""

    found: str = "@"
    """JMESPath of the object in the answer; ``{id}``, ``{1}``, ``{2}`` are filled in. None: it is gone."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Where a property is in the object that was read, as JMESPath, and the argument of calls. ``@.Name`` is none."""

    empty: str = ""
    """Properties that are an empty text where AWS shows none."""

    derived: Mapping[str, str] = field(default_factory=dict)
    """
    Properties that AWS does not show, as texts.

    In braces: other properties, the parts of the id, and partition, region, account and suffix of AWS's end points.
    """

    more: Callable[[clients.Clients, str, Values], Properties] | None = None
    """Further properties of the object that was read."""

    delete: Sequence[Call | Work]
    """What removes the object; it is given the recorded properties."""

    tagging: Tagging | None = None
    tags_in_create: Values = field(default_factory=lambda: {"Tags": "$tags"})
    """Arguments of `create` for the tags, if it is a call, left out without tags. Otherwise they are set afterwards."""

    defaults: Values = field(default_factory=dict)
    autonamed: str = ""
    """Input that gets ``<resource name>-<seven hex digits>`` when it is left out."""

    forms: Mapping[str, Form] = field(default_factory=dict)
    """Inputs that AWS writes in another way, or that can be written in several ways."""

    delete_before_replace: bool = False

    @functools.cached_property
    def _client(self) -> str:
        return self.client or self.token.split(":")[1].split("/")[0]

    @property
    def service(self) -> str:
        """Name of the service in errors, as aws-sdk-go-v2 has it."""
        return {"backup": "Backup", "secretsmanager": "Secrets Manager"}.get(self._client, self._client.upper())

    @property
    def has_region(self) -> bool:
        """Whether objects of the type are in a region; those of IAM are in all."""
        return self._client != "iam"

    @functools.cached_property
    def input_names(self) -> frozenset[str]:
        """The inputs."""
        return frozenset(name.rstrip("!?") for name in self.inputs.split())

    @functools.cached_property
    def output_names(self) -> frozenset[str]:
        """The outputs."""
        return frozenset(self.outputs.split())

    @functools.cached_property
    def required(self) -> frozenset[str]:
        """Inputs that a program must have."""
        return self._marked("!")

    @functools.cached_property
    def filled_in(self) -> frozenset[str]:
        """Inputs that AWS decides when they are left out."""
        return self._marked("?")

    @functools.cached_property
    def fixed(self) -> frozenset[str]:
        """Inputs whose change needs a new object, ``region`` aside."""
        return self.input_names - self._names(self.settings) - self._names(self.changes) - {*self.unsent.split()}

    @property
    def has_tags(self) -> bool:
        """Whether objects of the type have tags."""
        return self.tagging is not None

    @property
    def known_inputs(self) -> frozenset[str]:
        """All inputs that are understood here."""
        extra = {"region": self.has_region, "tags": self.has_tags}
        return self.input_names | {name for name, has in extra.items() if has}

    def same(self, name: str, one: Any, other: Any) -> bool:
        """Whether two values of the input *name* mean the same to AWS."""
        meaning = self._form(name).meaning
        return bool(meaning(one or None) == meaning(other or None))

    def _form(self, name: str) -> Form:
        return self.forms.get(name, Form())

    def _marked(self, mark: str) -> frozenset[str]:
        return frozenset(name[:-1] for name in self.inputs.split() if name.endswith(mark))

    @staticmethod
    def _names(calls: Mapping[str, Any]) -> set[str]:
        return {name for names in calls for name in names.split()}

    def make(self, aws: clients.Clients, inputs: Properties) -> str:
        """Make the object from the inputs and return its id. What can fail later belongs to `complete`."""
        if self.refuse:
            self.refuse(aws, inputs)
        if not isinstance(self.create, Call):
            return self.create(aws, inputs)
        sent = self.fixed | self._names(self.changes)
        tagged = self.tags_in_create if self.tagging and inputs.get("tagsAll") else {}
        whole = call(self.create.operation, **tagged, **self.create.arguments)
        reply = self._do(whole, sent, aws, "", self._values("", {}, inputs))
        if "{" in self.identity:
            return self.identity.format_map({**reply, **inputs})
        return str(jmespath.search(self.identity, reply))

    def _path(self, name: str) -> str:
        return self.names.get(name, name[0].upper() + name[1:])

    def _values(self, identity: str, old_inputs: Values, inputs: Values) -> Properties:
        written = {name: self._form(name).to_aws(value) for name, value in inputs.items()}
        tagged = self.tagging.values(old_inputs, inputs) if self.tagging else {}
        return {**written, **self._parts(identity), **tagged}

    def _parts(self, identity: str) -> dict[str, str]:
        """Return the id and its two parts: ``role:name`` is a role and a name. Raises `errors.AwsError` without two."""
        first, _, second = identity.partition(self.separator) if self.separator else (identity, "", "")
        if self.separator and identity and not second:
            raise errors.AwsError(f"id: expected {self.identity}, got {identity!r}")
        return {"id": identity, "1": first, "2": second}

    def complete(self, aws: clients.Clients, identity: str, inputs: Properties) -> None:
        """Do what follows a create: waiting, settings that have a call of their own."""
        values = self._values(identity, {}, inputs)
        if self.state:
            self._await_available(aws, identity)
        if self.finish:
            self.finish(aws, identity, values)
        for names, work in self.settings.items():
            if any(inputs.get(name) is not None for name in names.split()):
                self._do(work, names.split(), aws, identity, values)
        if not isinstance(self.create, Call):
            self._retag(aws, values)

    def _await_available(self, aws: clients.Clients, identity: str) -> None:
        """Wait. Raises `errors.AwsError` after 30 s."""
        deadline = time.monotonic() + TIMEOUT_S
        while (state := self.find(aws, identity)[self.state]) != "available":
            if time.monotonic() > deadline:
                raise errors.AwsError(f"{identity}: still {state} after {TIMEOUT_S:.0f} s, expected available")
            aws.pause(POLL_S)

    def update(self, aws: clients.Clients, identity: str, old: Properties, inputs: Properties) -> None:
        """Turn the object from the old inputs to the new ones, and complete what an interrupted create left out."""
        live = self.look(aws, identity) or {}
        current = {**old, **live}
        outputs = {name: value for name, value in live.items() if name in self.output_names}
        values = self._values(identity, old, {**outputs, **inputs})
        for names, work in {**self.changes, **self.settings}.items():
            if any(self._is_due(name, current, inputs) for name in names.split()):
                self._do(work, names.split(), aws, identity, values)
        self._retag(aws, values)

    def _is_due(self, name: str, current: Values, inputs: Values) -> bool:
        left_to_aws = name in self.filled_in and inputs.get(name) is None
        return not left_to_aws and not self.same(name, current.get(name), inputs.get(name))

    def _retag(self, aws: clients.Clients, values: Values) -> None:
        if self.tagging and values["dropped"]:
            self.tagging.untag(aws.of(self._client), values)
        if self.tagging and values["tags"]:
            self.tagging.tag(aws.of(self._client), values)

    def look(self, aws: clients.Clients, identity: str) -> Properties | None:
        """Return the live properties (tags, if any, as ``tagsAll``); ``None`` or a NotFound error when it is gone."""
        found, parts = self.find(aws, identity), self._parts(identity)
        if not found:
            return None
        live = self._properties(found)
        live |= self._derived(aws, parts | live)
        if self.tagging:
            live["tagsAll"] = self.tagging.read(aws.of(self._client), parts | live, found)
        return live | (self.more(aws, identity, found) if self.more else {})

    def find(self, aws: clients.Clients, identity: str) -> Any:
        """Return the object as AWS shows it."""
        parts, path = self._parts(identity), self.found
        for name, text in parts.items():
            path = path.replace(f"{{{name}}}", text)
        return jmespath.search(path, self._do(self.read, (), aws, identity, parts))

    def _properties(self, found: Values) -> Properties:
        searched = {
            name: _plain(jmespath.search(self._path(name), found)) for name in self.input_names | self.output_names
        }
        live = {name: self._form(name).to_pulumi(value) for name, value in searched.items() if value is not None}
        return dict.fromkeys(self.empty.split(), "") | live

    def _derived(self, aws: clients.Clients, known: Values) -> Properties:
        if not self.derived:
            return {}
        place = {"partition": aws.partition, "region": aws.region, "suffix": aws.dns_suffix}
        everything = {**known, **place, "account": aws.caller()["Account"]}
        return {name: text.format_map(everything) for name, text in self.derived.items()}

    def remove(self, aws: clients.Clients, identity: str, state: Properties) -> None:
        """Remove the object with this id and these recorded properties."""
        for work in self.delete:
            self._do(work, (), aws, identity, self._values(identity, {}, state))

    def _do(self, work: Call | Work, names: Iterable[str], aws: clients.Clients, identity: str, values: Values) -> Any:
        """Do *work*; a call gets the inputs *names*."""
        if not isinstance(work, Call):
            return work(aws, identity, values)
        named = {self._path(name): f"${name}" for name in names if self._path(name).isalnum()}
        return call(work.operation, **{**named, **work.arguments})(aws.of(self._client), values)


def _filled(template: Any, values: Values) -> Any:
    if isinstance(template, str) and template.startswith("$"):
        return values.get(template[1:])
    if isinstance(template, Mapping):
        return present(**{name: _filled(part, values) for name, part in template.items()})
    if isinstance(template, list | tuple):
        return [part for part in (_filled(one, values) for one in template) if not is_empty(part)]
    return template


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.datetime) else value
