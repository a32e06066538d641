"""
Plans of arguments that may be outputs: made at once, or as soon as the outputs are known.

A resource gets parts of a plan. Each part waits for the arguments that it depends on, and for no other: so a preview
shows all that is known, a secret marks only what it reaches, and storage does not wait for the plugin that serves it.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar, Union

import pulumi
from pulumi.output import Unknown

from nomad_csi import errors
from nomad_csi.components import program

T = TypeVar("T")
PlanT = TypeVar("PlanT")
Later: TypeAlias = Union[T, "pulumi.Output[T]"]  # no operator takes a string
"""A value, or an output of it where it depends on one."""


def has_output(value: Any) -> bool:
    """Return whether *value*, or any part of it, is an output."""
    if isinstance(value, Mapping):
        return any(map(has_output, value.values()))
    if isinstance(value, list | tuple):
        return any(map(has_output, value))
    return is_output(value)


def is_output(value: Any) -> bool:
    """Return whether *value* itself is known later, or is not known in this preview."""
    return isinstance(value, pulumi.Output | Unknown) or inspect.isawaitable(value)


def when_known(value: Any, function: Callable[[Any], T]) -> Later[T]:
    """Return *function* of *value*: at once where no part of it is an output, else an output of the result."""
    if not has_output(value):
        return function(value)
    lifted: pulumi.Output[Any] = pulumi.Output.from_input(_containers(value))
    return lifted.apply(lambda known: _result(lifted, known, function))


async def _result(lifted: pulumi.Output[Any], known: Any, function: Callable[[Any], T]) -> T:
    """Return *function* of *known*, the value of *lifted*; its error is one line, without what is secret."""
    try:
        return function(_settled(known))
    except errors.NomadCsiError as error:
        shown = error
        if isinstance(error, errors.SpecError) and await lifted.is_secret():
            shown = errors.SpecError(tuple(map(without_value, error.problems)), error.source)
        raise program.late_error(shown) from None


def after(check: pulumi.Output[Any], value: Later[T]) -> pulumi.Output[T]:
    """Return *value*, which fails where *check* is known and fails; it depends on nothing else of *check*."""

    async def checked(known: T) -> T:
        await check.future()
        return known

    return pulumi.Output.from_input(value).apply(checked, run_with_unknowns=True)


def _containers(value: Any) -> Any:
    """Return *value* with mappings and sequences of the classes that the SDK looks into."""
    if isinstance(value, Mapping):
        return {name: _containers(item) for name, item in value.items()}
    return [_containers(item) for item in value] if isinstance(value, list | tuple) else value


def _settled(value: Any) -> Any:
    """Return *value* of outputs with integers for whole floats, as the wire has floats only, and without None."""
    if isinstance(value, Mapping):
        return {name: _settled(item) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_settled(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def without_value(problem: errors.Problem) -> errors.Problem:
    """Return *problem* without the value given, which is secret."""
    return dataclasses.replace(problem, got="[secret]")


class Lifted(Generic[PlanT]):
    """A plan, and the arguments that it is made of."""

    def __init__(
        self,
        arguments: Mapping[str, Any],
        *,
        plan: Callable[[Mapping[str, Any]], PlanT],
        judge: Callable[[Mapping[str, Any]], object],
        sketch: Callable[[Mapping[str, Any]], PlanT],
        path: str = "",
    ) -> None:
        """
        Make the plan as soon as all *arguments* are known. Raises `errors.SpecError` for what is wrong before.

        *plan* makes it of all arguments, by all rules; *judge* reports the problems of the known ones, in which outputs
        may be. *sketch* makes a plan of some of the arguments, of which only the parts that depend on these are right:
        it checks values, but no rules between arguments, as some are missing.
        """
        self.arguments = arguments
        self.path = path
        """Where the storage is in the spec that the plan was made of; empty: arguments of a component."""
        self._sketch = sketch
        self._sketches: dict[tuple[str, ...], Later[PlanT]] = {}
        """By the names of their arguments: many parts depend on the same ones."""
        self._judged: pulumi.Output[Any] | None = None
        if has_output(arguments):
            judge(arguments)
            lifted: pulumi.Output[Any] = pulumi.Output.from_input(_containers(arguments))
            self._judged = lifted.apply(
                lambda known: _result(lifted, known, judge) if has_output(known) else None, run_with_unknowns=True
            )
        self.whole: Later[PlanT] = when_known(arguments, plan)
        """The plan; an output where an argument is one."""

    def gate(self, value: Later[T]) -> Later[T]:
        """Return *value*, which fails with the problems of the arguments as soon as these are known."""
        if self._judged is None or not isinstance(self.whole, pulumi.Output):
            return value
        return after(self._judged, after(self.whole, value))

    def part(self, get: Callable[[PlanT], Any], *names: str) -> Later[Any]:
        """
        Return a part of the plan, which depends on the arguments *names*, each a name or ``CONTAINER.NAME``.

        Where it is an output, it fails with the problems of the arguments once these are known.
        """
        if not isinstance(self.whole, pulumi.Output):
            return get(self.whole)
        if names not in self._sketches:
            self._sketches[names] = when_known(_chosen(self.arguments, names), self._sketch)
        sketch = self._sketches[names]
        value = sketch.apply(get) if isinstance(sketch, pulumi.Output) else get(sketch)
        # What is empty is left out by those who use it; nothing has to wait for it.
        return self.gate(value) if isinstance(value, pulumi.Output) or value else value

    def but(self, *names: str) -> tuple[str, ...]:
        """Return the names of all arguments except *names*."""
        return tuple(name for name in self.arguments if name not in names)


def _chosen(arguments: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return those of *arguments* that are named; of ``a.b`` only ``b``, unless ``a`` is an output as a whole."""
    chosen: dict[str, Any] = {}
    for name in names:
        top, _, inner = name.partition(".")
        value = arguments.get(top)
        if value is None:
            continue
        if not inner or not isinstance(value, Mapping):
            chosen[top] = value
        elif value.get(inner) is not None:
            chosen.setdefault(top, {})[inner] = value[inner]
        else:
            chosen.setdefault(top, {})
    return chosen


def ready(planned: program.Planned) -> Lifted[Any]:
    """Return a plan that was made before, by all rules."""
    plan = planned.plan
    return Lifted({}, plan=lambda _: plan, judge=lambda _: None, sketch=lambda _: plan, path=planned.path)
