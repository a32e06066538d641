"""
Rules across the parts of a spec, its drivers and AWS, and how they run. Pure.

Some values of a Pulumi program are not known yet: its outputs.

A rule that reads a value which is not known ends there, without a problem. It runs again once more is known.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, TypeVar

import pydantic

T = TypeVar("T")

Location = tuple[str | int, ...]
"""The keys and indexes that lead to a value: ``("efs", "mount_targets", 0, "subnet_id")``."""


class UnknownValueError(Exception):
    """A rule reads a value that is not known."""


def known(*rules: Iterable[T], ended: Callable[[UnknownValueError], T] | None = None) -> Iterator[T]:
    """
    Yield what *rules* find; each ends where it reads a value that is not known.

    *ended* makes a finding of such an end; without it, nothing says so.
    """
    for rule in rules:
        try:
            yield from rule
        except UnknownValueError as error:
            if ended is not None:
                yield ended(error)


def partly(value: T, late: Collection[Location]) -> T:
    """
    Return *value* such that reading what is at one of the locations *late*, or contains it, raises `UnknownValueError`.

    A model, and a tuple of models, may be read where another part of it is not known.
    """
    if not late:
        return value
    if () in late:
        raise UnknownValueError
    if isinstance(value, pydantic.BaseModel):
        return _Partly(value, late)  # type: ignore[return-value]  # it has the same attributes
    if isinstance(value, tuple) and all(len(location) > 1 for location in late):
        return tuple(partly(item, _below(late, index)) for index, item in enumerate(value))  # type: ignore[return-value]
    raise UnknownValueError


def _below(late: Collection[Location], step: str | int) -> frozenset[Location]:
    return frozenset(location[1:] for location in late if location[0] == step)


class _Partly:
    """A model of which some values are not known yet."""

    def __init__(self, model: pydantic.BaseModel, late: Collection[Location]) -> None:
        self._model = model
        self._late = late

    def __getattr__(self, name: str) -> Any:
        attribute = inspect.getattr_static(type(self._model), name, None)
        if isinstance(attribute, property) and attribute.fget:
            return attribute.fget(self)
        return partly(getattr(self._model, name), _below(self._late, name))
