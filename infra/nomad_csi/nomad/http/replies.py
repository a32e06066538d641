"""
Read Nomad's JSON. A value of an unexpected type is an error that names the request and the place.

Any list, map or value may be ``null``, and lists may contain ``null`` (``Topologies`` do). An absent value reads as the
empty value of its type, as in Go.
"""

import dataclasses
import datetime as dt
import functools
import re
import typing
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NoReturn, TypeVar

from nomad_csi import errors
from nomad_csi.nomad.http import classify, request

_ADVICE = "check whether NOMAD_ADDR is Nomad's HTTP address, and whether something in front of it changes its replies"

_NUMBERS = range(-(2**63), 2**64)
"""Go's ``int64`` and ``uint64``."""

_TIME_END_S = 253_402_300_800
"""The year 10000, which `datetime` does not support."""

_Record = TypeVar("_Record")

_PLAIN = re.compile(r"\w+")

_TYPES = (
    (bool, "a boolean"),
    (int, "a number"),
    (float, "a number"),
    (str, "a string"),
    (list, "a list"),
    (dict, "an object"),
)


class ReplyObject(dict[str, Any]):
    """A JSON object of a reply, with its place in the reply."""

    __slots__ = ("place", "reply")

    def __init__(self, values: Mapping[str, Any], reply: request.Reply, place: str = "") -> None:
        super().__init__(values)
        self.reply = reply
        self.place = place
        """Such as ``TaskGroups[0].Tasks``; empty for the whole reply."""


def one(nomad: request.Nomad, path: str, *, absent: str, query: Mapping[str, str] | None = None) -> ReplyObject | None:
    """Return the object at *path*; ``None`` if Nomad itself returns *absent* (a proxy may send a bare 404)."""
    try:
        reply = nomad.request("GET", path, query=query)
    except errors.NomadApiError as error:
        if error.status == HTTPStatus.NOT_FOUND and absent in error.message:
            return None
        raise
    return checked(reply)


def many(nomad: request.Nomad, path: str, *, query: Mapping[str, str] | None = None) -> tuple[ReplyObject, ...]:
    """Return the objects of the list at *path*."""
    reply = nomad.request("GET", path, query=query)
    return _objects(reply, "", reply.data)


def checked(reply: request.Reply) -> ReplyObject:
    """Return the object in *reply*. Raises `errors.NomadApiError` if it is something else."""
    if not isinstance(reply.data, dict):
        _refuse(reply, "", "an object", reply.data)
    return ReplyObject(reply.data, reply)


def text(node: ReplyObject, key: str) -> str:
    """Return the string at *key*."""
    value = node.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        _refuse(node.reply, _place(node, key), "a string", value)
    return value


def required(node: ReplyObject, key: str) -> str:
    """Return the string at *key*, which must not be empty."""
    value = text(node, key)
    if not value:
        _refuse(node.reply, _place(node, key), "a string that is not empty", node.get(key))
    return value


def number(node: ReplyObject, key: str) -> int:
    """Return the whole number at *key*."""
    value = node.get(key)
    if value is None:
        return 0
    if type(value) is not int or value not in _NUMBERS:
        _refuse(node.reply, _place(node, key), "a whole number of 64 bits", value)
    return value


def boolean(node: ReplyObject, key: str) -> bool:
    """Return the boolean at *key*."""
    value = node.get(key)
    if value is None:
        return False
    if not isinstance(value, bool):
        _refuse(node.reply, _place(node, key), "a boolean", value)
    return value


def table(node: ReplyObject, key: str) -> ReplyObject:
    """Return the object or map at *key*."""
    value = node.get(key)
    if not isinstance(value, dict | None):
        _refuse(node.reply, _place(node, key), "an object", value)
    return ReplyObject(value or {}, node.reply, _place(node, key))


def texts(node: ReplyObject, key: str) -> dict[str, str]:
    """Return the map of strings at *key*, without its ``null`` entries."""
    found = table(node, key)
    return {name: text(found, name) for name, value in found.items() if value is not None}


def strings(node: ReplyObject, key: str) -> tuple[str, ...]:
    """Return the list of strings at *key*, without its ``null`` entries."""
    found = _list(node.reply, _place(node, key), node.get(key))
    for position, value in enumerate(found):
        if not isinstance(value, str | None):
            _refuse(node.reply, f"{_place(node, key)}[{position}]", "a string", value)
    return tuple(value for value in found if value is not None)


def rows(node: ReplyObject, key: str) -> tuple[ReplyObject, ...]:
    """Return the objects of the list at *key*, without its ``null`` entries."""
    return _objects(node.reply, _place(node, key), node.get(key))


def first(node: ReplyObject, key: str) -> ReplyObject:
    """Return the first object of the list at *key*, which must not be empty."""
    found = rows(node, key)
    if not found:
        _refuse(node.reply, _place(node, key), "a list with an object", node.get(key))
    return found[0]


def time_of(node: ReplyObject, key: str) -> dt.datetime:
    """Return the time in UTC from the seconds since 1970 at *key*."""
    seconds = number(node, key)
    if not 0 <= seconds < _TIME_END_S:
        _refuse(node.reply, _place(node, key), "seconds since 1970", seconds)
    return dt.datetime.fromtimestamp(seconds, tz=dt.UTC)


def record(kind: type[_Record], item: ReplyObject, given: Mapping[str, Any], **names: str) -> _Record:
    """
    Return the dataclass *kind* with its fields from *item*, except those that are *given*.

    A field is at the key that Go derives from its name (``node_id``: ``NodeID``), or at that of *names*.
    """
    fields = _fields(kind)  # type: ignore[arg-type]  # a type is hashable
    read = {name: reader(item, names.get(name, key)) for name, key, reader in fields if name not in given}
    return kind(**read, **given)


@functools.cache
def _fields(kind: type[Any]) -> tuple[tuple[str, str, Callable[[ReplyObject, str], Any]], ...]:
    """Return name, key and reader of the fields of *kind* that are read unchanged."""
    types = typing.get_type_hints(kind)
    names = (field.name for field in dataclasses.fields(kind))
    return tuple((name, _key(name), _READERS[types[name]]) for name in names if types[name] in _READERS)


def _key(name: str) -> str:
    return "".join("ID" if part == "id" else part.capitalize() for part in name.split("_"))


_READERS: Mapping[Any, Callable[[ReplyObject, str], Any]] = {
    str: text,
    int: number,
    bool: boolean,
    Mapping[str, str]: texts,
    tuple[str, ...]: strings,
}


def _objects(reply: request.Reply, place: str, value: Any) -> tuple[ReplyObject, ...]:
    found = []
    for position, item in enumerate(_list(reply, place, value)):
        if isinstance(item, dict):
            found.append(ReplyObject(item, reply, f"{place}[{position}]"))
        elif item is not None:
            _refuse(reply, f"{place}[{position}]", "an object", item)
    return tuple(found)


def _list(reply: request.Reply, place: str, value: Any) -> list[Any]:
    if not isinstance(value, list | None):
        _refuse(reply, place, "a list", value)
    return value or []


def _place(node: ReplyObject, key: str) -> str:
    if not _PLAIN.fullmatch(key):
        return f"{node.place}[{key[:40]!r}]"
    return f"{node.place}.{key}" if node.place else key


def _refuse(reply: request.Reply, place: str, expected: str, value: Any) -> NoReturn:
    """Raise the error. Values are not repeated: a reply may contain secrets."""
    got = next((name for kind, name in _TYPES if isinstance(value, kind)), "nothing")
    raise errors.NomadApiError(
        reply.call.method,
        reply.call.path,
        f"expected {expected} {f'at {place}' if place else 'as answer'}, got {got}",
        status=reply.status,
        kind="refused" if classify.changes_nothing(reply.call) else "ambiguous",
        advice=_ADVICE,
    )
