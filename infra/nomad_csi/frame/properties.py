"""
Properties of custom resources: models, from which checks, the package schema and the classes of programs derive.

Fields have Python's names; values on the wire and in a state have Pulumi's (camelCase).
"""

import enum
import functools
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pydantic
from pydantic import alias_generators
from pydantic.fields import FieldInfo

from nomad_csi import errors
from nomad_csi.spec import base, names, problems


class Mark(enum.Enum):
    """What a property means to the engine: metadata of a field, beside its type."""

    SECRET = enum.auto()

    REPLACES = enum.auto()
    """A change needs a new object."""

    NOT_COMPARED = enum.auto()
    """A change does not change the object: an option of a step, or the source of a value."""

    NOT_RECORDED = enum.auto()
    """It is no output: only a step reads it."""

    INTERNAL = enum.auto()
    """An output that only the provider reads, in the state: programs do not have it."""


class Properties(base.Model):
    """
    Inputs or outputs of a resource, or an object in them. `names.UNKNOWN` is accepted wherever a value is.

    ``""``, ``false``, an empty list and an empty object mean the same as an absent value, unless the field is required.
    So an observed state, in this form, can be compared with a desired one.
    """

    model_config = pydantic.ConfigDict(alias_generator=alias_generators.to_camel)

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _accept_unknown_object(cls, given: Any, handler: pydantic.ModelWrapValidatorHandler["Properties"]) -> Any:
        if given == names.UNKNOWN:
            return given
        if isinstance(given, Mapping):
            known = base.fields_of(cls)
            given = {
                name: value for name, value in given.items() if value == {} or not _is_absent(known.get(name), value)
            }
        return handler(given)

    @pydantic.field_validator("*", mode="wrap")
    @classmethod
    def _accept_unknown(cls, given: Any, handler: pydantic.ValidatorFunctionWrapHandler) -> Any:
        return given if given == names.UNKNOWN else handler(given)

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[errors.Problem, ...]]:
        """
        Return *given* with defaults filled in and without absent values, and all problems.

        Nothing but the problems where a property is wrong. Checking the result again changes nothing.
        """
        try:
            checked = cls.model_validate(dict(given))
        except pydantic.ValidationError as error:
            return {}, tuple(problems.list_problems(error, cls, "", cls.names_marked(Mark.SECRET)))
        return checked.plain(), tuple(checked.contradictions())

    @classmethod
    def names_marked(cls, mark: Mark) -> frozenset[str]:
        """Return Pulumi's names of the fields that have the *mark*."""
        return frozenset(name for name, field in base.fields_of(cls).items() if mark in field.metadata)

    def contradictions(self) -> Iterator[errors.Problem]:
        """Yield the problems that concern several properties."""
        return iter(())

    def plain(self) -> dict[str, Any]:
        """Return the properties as JSON values, without absent ones."""
        fields = zip(base.fields_of(type(self)).items(), type(self).model_fields, strict=True)
        rows = [(name, field, _plain(getattr(self, attribute))) for (name, field), attribute in fields]
        return {name: value for name, field, value in rows if not _is_absent(field, value)}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.plain() if isinstance(value, Properties) else value


def _is_absent(field: FieldInfo | None, value: Any) -> bool:
    if value is None or field is None or field.is_required():
        return value is None
    return value is False or value in ("", [], {})


def description(kind: type[Properties]) -> str:
    """Return what a *kind* of properties describes, on one line."""
    return " ".join((inspect.getdoc(kind) or "").split())


def has_default(field: FieldInfo) -> bool:
    """Return whether the *field* gets a value where none is given."""
    return not (field.is_required() or _is_absent(field, field.default))


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """Token, inputs and outputs of a kind of custom resource."""

    token: str
    """Pulumi's type token, such as ``nomad-csi:index:VolumeRegistration``."""

    input_model: type[Properties]
    output_model: type[Properties]
    """The outputs that are not inputs."""

    @property
    def description(self) -> str:
        """What the object is."""
        return description(self.input_model)

    @property
    def inputs(self) -> Mapping[str, FieldInfo]:
        """The inputs, by name."""
        return base.fields_of(self.input_model)

    @property
    def outputs(self) -> Mapping[str, FieldInfo]:
        """The outputs that are not inputs, by name."""
        return base.fields_of(self.output_model)

    @functools.cached_property
    def required(self) -> frozenset[str]:
        """Names of the inputs that must be given."""
        return frozenset(name for name, field in self.inputs.items() if field.is_required())

    @functools.cached_property
    def defaults(self) -> frozenset[str]:
        """Names of the inputs that get a value where none is given."""
        return frozenset(name for name, field in self.inputs.items() if has_default(field))

    @functools.cached_property
    def secret(self) -> frozenset[str]:
        """Names of the inputs that are always secret."""
        return self.input_model.names_marked(Mark.SECRET)

    @functools.cached_property
    def not_compared(self) -> frozenset[str]:
        """Names of the inputs whose change does not change the object."""
        return self.input_model.names_marked(Mark.NOT_COMPARED)

    @functools.cached_property
    def replacing(self) -> frozenset[str]:
        """Names of the inputs whose change needs a new object."""
        return self.input_model.names_marked(Mark.REPLACES)

    @functools.cached_property
    def program_outputs(self) -> Mapping[str, FieldInfo]:
        """The outputs that programs have, by name."""
        return {name: field for name, field in self.outputs.items() if Mark.INTERNAL not in field.metadata}

    @functools.cached_property
    def python_names(self) -> Mapping[str, str]:
        """Names of the properties that programs have, by their names in Python."""
        return {names.python_name(name): name for name in (*self.inputs, *self.program_outputs)}

    def spelled(self, name: str, value: Any) -> Any:
        """Return the *value* of the input *name* with Pulumi's names in its objects, where it has Python's."""
        kind = problems.model_in(self.inputs[name].annotation)
        if kind is None or not isinstance(value, Mapping | list | tuple):
            return value
        if not isinstance(value, Mapping):
            return [self.spelled(name, item) for item in value]
        known = {names.python_name(key): key for key in base.fields_of(kind)}
        return {known.get(key, key): item for key, item in value.items()}

    def check(self, new_inputs: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[errors.Problem, ...]]:
        """Return the inputs *new_inputs* as `Properties.check` does."""
        return self.input_model.check(new_inputs)

    def recorded(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of *values* that are outputs as well."""
        left_out = self.input_model.names_marked(Mark.NOT_RECORDED)
        return {name: value for name, value in values.items() if name not in left_out}

    def inputs_in(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs that are recorded in *outputs*."""
        return {name: value for name, value in outputs.items() if name in self.inputs}
