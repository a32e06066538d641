"""What the engine has said so far in one operation, such as a preview or an update. A process serves one at a time."""

import threading
from collections.abc import Callable, Mapping
from concurrent import futures
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")
_Inputs = Mapping[str, Any]
_NOTHING: _Inputs = {}


class Operation:
    """The objects of an operation, by type token and URN. May be used by several threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._declared: dict[str, dict[str, _Inputs]] = {}
        self._recorded: dict[str, Mapping[str, Any]] = {}
        self._created: set[tuple[str, str]] = set()
        self._answers: dict[str, futures.Future[Any]] = {}

    def begin(self) -> None:
        """Forget the operation before."""
        with self._lock:
            self._declared.clear()
            self._recorded.clear()
            self._created.clear()
            self._answers.clear()

    def declare(self, token: str, urn: str, inputs: Mapping[str, Any]) -> None:
        """Remember that the program declares the object *urn* with checked *inputs*."""
        with self._lock:
            self._declared.setdefault(token, {})[urn] = inputs

    def record(self, urn: str, outputs: Mapping[str, Any]) -> None:
        """Remember that the state has the object *urn* with *outputs*."""
        with self._lock:
            self._recorded[urn] = outputs

    def create(self, token: str, identity: str) -> None:
        """Remember that *identity* was created, or taken over."""
        with self._lock:
            self._created.add((token, identity))

    def declared(self, token: str, urn: str) -> Mapping[str, Any] | None:
        """Return the inputs that the program declares for *urn*; ``None`` where it has not declared it so far."""
        with self._lock:
            return self._declared.get(token, {}).get(urn)

    def all_declared(self, token: str) -> tuple[Mapping[str, Any], ...]:
        """Return the inputs of every object of the type *token* that the program has declared so far."""
        with self._lock:
            return tuple(self._declared.get(token, {}).values())

    def recorded(self, urn: str) -> Mapping[str, Any]:
        """Return the outputs that the state has of *urn*; empty where it was not compared in this operation."""
        with self._lock:
            return self._recorded.get(urn, _NOTHING)

    def was_created(self, token: str, identity: str) -> bool:
        """Return whether this operation has created *identity*, or taken it over."""
        with self._lock:
            return (token, identity) in self._created

    def once(self, question: str, ask: Callable[[], _Answer]) -> _Answer:
        """Return what *ask* returned, or raise what it raised, the first time in this operation."""
        with self._lock:
            answer = self._answers.get(question)
            is_first = answer is None
            answer = self._answers.setdefault(question, futures.Future())
        if is_first:
            try:
                answer.set_result(ask())
            except BaseException as error:  # noqa: BLE001  # raised again where the answer is awaited
                answer.set_exception(error)
        found: _Answer = answer.result()
        return found
