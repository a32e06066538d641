"""
Limits of AWS calls: a deadline over the whole of a call and of a task, and replies of AWS's own shape.

The timeouts of botocore restart with each received piece, and it returns whatever JSON it decodes.
"""

import contextlib
import contextvars
import datetime as dt
import http
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from typing import Any

from nomad_csi import errors, side_by_side

CALL_S = 60.0
"""Seconds of a call, with its credentials, all of its retries and their pauses."""

TASK_S = 150.0
"""Seconds of all calls of one task, such as to read the volumes of an account page by page."""

_UNTIL: contextvars.ContextVar[float] = contextvars.ContextVar("_UNTIL")
"""On the monotonic clock."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "timestamp": (dt.datetime,),
    "list": (list,),
    "map": (dict,),
    "structure": (dict,),
}
"""Names of types in botocore's models, and their values."""


class ShapeError(Exception):
    """A reply that is not of the operation's shape. Names the place and no value."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """End each call in the block after *seconds* of it at the latest; a block in a block never extends them."""
    token = _UNTIL.set(_until(seconds))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def left_s() -> float:
    """Return the seconds that are left to the call, or to the task where no call is under way."""
    return max(_until(CALL_S) - time.monotonic(), 0.0)


def _until(seconds: float) -> float:
    return min(_UNTIL.get(float("inf")), time.monotonic() + seconds)


class _Client:
    """Base class of clients: each call ends at its deadline."""

    meta: Any

    def _make_api_call(self, operation_name: str, api_params: Mapping[str, Any]) -> Any:
        call: Callable[..., Any] = super()._make_api_call  # type: ignore[misc]  # of botocore's BaseClient
        where = f"{operation_name} in {self.meta.region_name}"
        with within(CALL_S):
            return _ended(lambda: call(operation_name, api_params), where, left_s())


def _ended(call: Callable[[], Any], where: str, seconds: float) -> Any:
    """Return the result of *call*. Raises `errors.AwsError` after *seconds*; `_refuse_late` sends no more of it."""
    outcome: futures.Future[Any] = futures.Future()
    run = contextvars.copy_context().run
    threading.Thread(target=run, args=(side_by_side.settle, call, outcome), daemon=True).start()
    late = errors.AwsError(f"{where}: no complete answer within {seconds:.3g} s")
    try:
        return outcome.result(seconds)
    except _LateError:
        raise late from None
    except TimeoutError:
        if outcome.done():
            raise
        raise late from None


class _LateError(errors.AwsError):
    """The deadline passed before a request was sent."""


def _refuse_late(**_: object) -> None:
    if not left_s():
        raise _LateError("the deadline of the call has passed")


def _check_reply(http_response: Any, parsed: Any, model: Any, **_: object) -> None:
    if http_response.status_code < http.HTTPStatus.MULTIPLE_CHOICES:
        check_shape(model.output_shape, parsed, model.name)


def bind(session: Any) -> None:
    """Have all clients of *session*, of boto3, keep these limits, those that fetch its credentials as well."""

    # Source: boto3 guide, "Extensibility", 2026-11: the event, and its base classes; botocore 1.44.5,
    # `BaseClient._make_api_call` and `Endpoint._get_response`: an error of ``before-send`` ends the call.
    def add(base_classes: list[type], **_: object) -> None:
        base_classes.insert(0, _Client)

    session.events.register("creating-client-class", add)
    session.events.register_last("before-send", _refuse_late)


def check_replies(client: Any) -> Any:
    """Return *client*, whose calls from now on raise `ShapeError` for a reply that is not of the service's model."""
    # First of the service's handlers: botocore's own decodes the policies in a reply (`handlers.json_decode_policies`).
    service = client.meta.service_model.service_id.hyphenize()
    client.meta.events.register_first(f"after-call.{service}", _check_reply, unique_id="nomad-csi-shape")
    return client


def check_shape(shape: Any, value: Any, place: str) -> None:
    """Raise `ShapeError` unless *value* is of *shape*, of a botocore model; a member may be missing."""
    if shape is None:
        return
    expected = _TYPES.get(shape.type_name)
    is_number = isinstance(value, bool) and shape.type_name != "boolean"
    if expected and (is_number or not isinstance(value, expected)):
        raise ShapeError(f"expected a {shape.type_name} at {place}, got a {type(value).__name__}")
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            if name in value:
                check_shape(member, value[name], f"{place}.{name}")
    elif shape.type_name == "list":
        for position, item in enumerate(value):
            check_shape(shape.member, item, f"{place}[{position}]")
    elif shape.type_name == "map":
        for item in value.values():
            check_shape(shape.value, item, f"{place}.*")
