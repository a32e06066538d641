"""
Read Nomad's JSON as dataclasses, by pydantic. An unexpected type is an error that names the request and the path.

A field is at the key that Go derives from its name (``node_id``: ``NodeID``), or at its ``validation_alias``. Any
value, and any item of a list, may be ``null``; such a value, and an absent one, is the default of its field, as in Go.
"""

import functools
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

import pydantic
from pydantic_core import core_schema

from nomad_csi import errors
from nomad_csi.nomad import classify, request

ADVICE = "check whether NOMAD_ADDR is Nomad's HTTP address, and whether something in front of it changes its replies"

_Read = TypeVar("_Read")


def nomad_name(name: str) -> str:
    """Return the key of the field *name*: ``node_id`` is ``NodeID``."""
    return "".join("ID" if part == "id" else part.capitalize() for part in name.split("_"))


def present(value: Any) -> Any:
    """Return an object or a list without its ``null`` entries."""
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if item is not None}
    return [item for item in value if item is not None] if isinstance(value, list) else value


CONFIG = pydantic.ConfigDict(alias_generator=nomad_name, val_temporal_unit="seconds")
PRESENT = pydantic.BeforeValidator(present)
Texts = Annotated[Mapping[str, str], PRESENT]
Strings = Annotated[tuple[str, ...], PRESENT]
Id = Annotated[str, pydantic.Field(validation_alias="ID")]
GivenId = Annotated[str, pydantic.Field(validation_alias="ID", min_length=1)]


class Record:
    """Base of the dataclasses that are read from an object of a reply."""

    __pydantic_config__ = CONFIG

    @pydantic.model_validator(mode="before")
    @classmethod
    def _prepared(cls, values: Any) -> Any:
        return present(values)


class Derived:
    """Annotation of a field that *convert* derives from a part of the reply that has another *shape*."""

    def __init__(self, shape: Any, convert: Callable[[Any], Any]) -> None:
        self._shape = shape
        self._convert = convert

    def __get_pydantic_core_schema__(
        self, _source: Any, handler: pydantic.GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._convert, handler.generate_schema(self._shape))


def one(
    nomad: request.Nomad, path: str, kind: type[_Read], *, absent: str, query: Mapping[str, str] | None = None
) -> _Read | None:
    """Return the object at *path*; ``None`` if Nomad itself returns *absent* (a proxy may send a bare 404)."""
    try:
        reply = nomad.request("GET", path, query=query)
    except errors.NomadApiError as error:
        if error.status == HTTPStatus.NOT_FOUND and absent in error.message:
            return None
        raise
    return read(reply, kind)


def many(
    nomad: request.Nomad, path: str, kind: type[_Read], *, query: Mapping[str, str] | None = None
) -> tuple[_Read, ...]:
    """Return the objects of the list at *path*."""
    reply = nomad.request("GET", path, query=query)
    values = reply.data if reply.data is not None else []
    objects: tuple[_Read, ...] = _read(reply, _adapter(tuple[kind, ...]), present(values))  # type: ignore[valid-type]
    return objects


def read(reply: request.Reply, kind: type[_Read]) -> _Read:
    """Return the object in *reply*. Raises `errors.NomadApiError` if it is something else."""
    parsed: _Read = _read(reply, _adapter(kind), reply.data)  # type: ignore[arg-type]  # a type is hashable
    return parsed


def _read(reply: request.Reply, adapter: pydantic.TypeAdapter[Any], values: Any) -> Any:
    try:
        return adapter.validate_python(values)
    except pydantic.ValidationError as error:
        first, call = error.errors(include_url=False, include_context=False, include_input=False)[0], reply.call
        path = errors.path_of("", first["loc"]) or "the answer"
        raise errors.NomadApiError(
            call.method,
            call.path,
            f"{path}: {first['msg']}",  # without the value, which may be a secret
            status=reply.status,
            kind="refused" if classify.changes_nothing(call) else "ambiguous",
            advice=ADVICE,
        ) from None


@functools.cache
def _adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(kind)
