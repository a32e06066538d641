"""Refusals as gRPC statuses, and the interceptor that sends and logs them. Part of the CSI driver emulator."""

import sys
from collections.abc import Callable
from typing import Any

import grpc


class StatusError(Exception):
    """A call that is refused with a gRPC status, of that name."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = grpc.StatusCode[code]


def invalid(message: str) -> StatusError:
    """Return the refusal of an argument."""
    return StatusError("INVALID_ARGUMENT", message)


def not_played(what: str) -> StatusError:
    """Return the refusal of something that the real driver can do and this emulator cannot."""
    return StatusError("UNIMPLEMENTED", f"the emulator does not emulate {what}")


def log(message: str) -> None:
    """Write one line to the task's log."""
    print(message, file=sys.stderr, flush=True)


class Refusals(grpc.ServerInterceptor):
    """Turns a `StatusError` into the call's status, and logs it as the drivers do."""

    def intercept_service(self, continuation: Callable[[Any], Any], details: Any) -> Any:
        """Wrap the handler of one call; ``None``, an unknown method, stays."""
        handler = continuation(details)
        if handler is None:
            return None

        def answer(request: Any, context: Any) -> Any:
            try:
                return handler.unary_unary(request, context)
            except StatusError as error:
                log(f"GRPC error: {details.method}: {error.code.name}: {error}")
                context.abort(error.code, str(error))

        return grpc.unary_unary_rpc_method_handler(
            answer, request_deserializer=handler.request_deserializer, response_serializer=handler.response_serializer
        )
