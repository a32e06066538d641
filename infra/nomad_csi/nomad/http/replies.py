"""
Read Nomad's JSON. A value of an unexpected type is an error that names the request and the path in the reply.

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

_PLAIN = re.compile(r"\w+")

_TIME_END_S = 253_402_300_800
"""The year 10000, which `datetime` does not support."""

_Record = TypeVar("_Record")

_TYPES = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}


class ReplyObject(dict[str, Any]):
    """A JSON object of a reply, with its path in the reply."""

    __slots__ = ("path", "reply")

    def __init__(self, values: Mapping[str, Any], reply: request.Reply, path: str = "") -> None:
        super().__init__(values)
        self.reply = reply
        self.path = path
        """Such as ``TaskGroups[0].Tasks``; empty for the whole reply."""

    def text(self, key: str) -> str:
        """Return the string at *key*."""
        return str(self._value(key, str) or "")

    def number(self, key: str) -> int:
        """Return the whole number at *key*."""
        return int(self._value(key, int) or 0)

    def time(self, key: str) -> dt.datetime:
        """Return the time in UTC from the seconds since 1970 at *key*."""
        seconds = self.number(key)
        if not 0 <= seconds < _TIME_END_S:
            _refuse(self.reply, self._path(key), "seconds since 1970", seconds)
        return dt.datetime.fromtimestamp(seconds, tz=dt.UTC)

    def boolean(self, key: str) -> bool:
        """Return the boolean at *key*."""
        return bool(self._value(key, bool))

    def required(self, key: str) -> str:
        """Return the string at *key*, which must not be empty."""
        return self.text(key) or _refuse(self.reply, self._path(key), "a string that is not empty", self.get(key))

    def table(self, key: str) -> "ReplyObject":
        """Return the object or map at *key*."""
        return ReplyObject(self._value(key, dict) or {}, self.reply, self._path(key))

    def texts(self, key: str) -> dict[str, str]:
        """Return the map of strings at *key*, without its ``null`` entries."""
        table = self.table(key)
        return {name: table.text(name) for name, value in table.items() if value is not None}

    def strings(self, key: str) -> tuple[str, ...]:
        """Return the list of strings at *key*, without its ``null`` entries."""
        return tuple(value for _, value in _items(self.reply, self._path(key), self._value(key, list), str))

    def rows(self, key: str) -> "tuple[ReplyObject, ...]":
        """Return the objects of the list at *key*, without its ``null`` entries."""
        return _objects(self.reply, self._path(key), self._value(key, list))

    def first(self, key: str) -> "ReplyObject":
        """Return the first object of the list at *key*, which must not be empty."""
        rows = self.rows(key)
        return rows[0] if rows else _refuse(self.reply, self._path(key), "a list with an object", self.get(key))

    def _value(self, key: str, kind: type) -> Any:
        """Return the value at *key*; ``None`` where it is absent."""
        value = self.get(key)
        if value is not None and type(value) is not kind:
            _refuse(self.reply, self._path(key), _TYPES[kind], value)
        return value

    def _path(self, key: str) -> str:
        if not _PLAIN.fullmatch(key):
            return f"{self.path}[{key[:40]!r}]"
        return f"{self.path}.{key}" if self.path else key


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
    if not isinstance(reply.data, list | None):
        _refuse(reply, "", "a list", reply.data)
    return _objects(reply, "", reply.data)


def checked(reply: request.Reply) -> ReplyObject:
    """Return the object in *reply*. Raises `errors.NomadApiError` if it is something else."""
    if not isinstance(reply.data, dict):
        _refuse(reply, "", "an object", reply.data)
    return ReplyObject(reply.data, reply)


def record(kind: type[_Record], item: ReplyObject, given: Mapping[str, Any], **names: str) -> _Record:
    """
    Return the dataclass *kind* with its fields from *item*, except those that are *given*.

    A field is at the key that Go derives from its name (``node_id``: ``NodeID``), or at that of *names*.
    """
    fields = _fields(kind)  # type: ignore[arg-type]  # a type is hashable
    read = {name: reader(item, names.get(name, key)) for name, key, reader in fields if name not in given}
    return kind(**read, **given)


_READERS: Mapping[Any, Callable[[ReplyObject, str], Any]] = {
    str: ReplyObject.text,
    int: ReplyObject.number,
    bool: ReplyObject.boolean,
    Mapping[str, str]: ReplyObject.texts,
    tuple[str, ...]: ReplyObject.strings,
}


@functools.cache
def _fields(kind: type[Any]) -> tuple[tuple[str, str, Callable[[ReplyObject, str], Any]], ...]:
    """Return name, key and reader of the fields of *kind* that are read unchanged."""
    types = typing.get_type_hints(kind)
    names = (field.name for field in dataclasses.fields(kind))
    return tuple((name, _key(name), _READERS[types[name]]) for name in names if types[name] in _READERS)


def _key(name: str) -> str:
    return "".join("ID" if part == "id" else part.capitalize() for part in name.split("_"))


def _objects(reply: request.Reply, path: str, values: list[Any] | None) -> tuple[ReplyObject, ...]:
    return tuple(ReplyObject(value, reply, where) for where, value in _items(reply, path, values, dict))


def _items(reply: request.Reply, path: str, values: list[Any] | None, kind: type) -> list[tuple[str, Any]]:
    """Return the values of a list that are not ``null``, which must be of *kind*, each with its path."""
    items = [(f"{path}[{position}]", value) for position, value in enumerate(values or ()) if value is not None]
    for where, value in items:
        if type(value) is not kind:
            _refuse(reply, where, _TYPES[kind], value)
    return items


def _refuse(reply: request.Reply, path: str, expected: str, value: Any) -> NoReturn:
    """Raise the error. Values are not repeated: a reply may contain secrets."""
    raise errors.NomadApiError(
        reply.call.method,
        reply.call.path,
        f"expected {expected} {f'at {path}' if path else 'as answer'}, got {_TYPES.get(type(value), 'nothing')}",
        status=reply.status,
        kind="refused" if classify.changes_nothing(reply.call) else "ambiguous",
        advice=_ADVICE,
    )
