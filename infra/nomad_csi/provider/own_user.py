"""
Serving the user alone whose process a provider is: gRPC interceptors for servers on 127.0.0.1.

A provider holds credentials, and its port is open to all users of the machine: who calls it acts with them, and the
engine sends nothing by which it could be known. Where the system does not say whose a connection is, all are served.
"""

import inspect
import os
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio

from nomad_csi import peers

HOST = "127.0.0.1"

REFUSAL = "this server is for the user who runs it alone, user id {}"


class OwnUser:
    """Which calls are answered. Set `port` before the server starts."""

    port = 0
    """TCP port of the server on `HOST`."""

    def _guarded(self, handler: Any) -> Any:
        """Return *handler* of a unary method, the only kind that Pulumi's protocol has, with the question before it."""
        if handler is None:
            return None
        method = handler.unary_unary

        def answer(request: Any, context: Any) -> Any:
            if self._is_foreign(context):
                context.abort(grpc.StatusCode.PERMISSION_DENIED, REFUSAL.format(os.getuid()))
            return method(request, context)

        async def answer_later(request: Any, context: Any) -> Any:
            if self._is_foreign(context):
                await context.abort(grpc.StatusCode.PERMISSION_DENIED, REFUSAL.format(os.getuid()))
            return await method(request, context)

        guarded = answer_later if inspect.iscoroutinefunction(method) else answer
        return grpc.unary_unary_rpc_method_handler(guarded, handler.request_deserializer, handler.response_serializer)

    def _is_foreign(self, context: Any) -> bool:
        _, host, port = context.peer().split(":")  # ipv4:127.0.0.1:43210
        return peers.is_own_user((host, int(port)), (HOST, self.port)) is False


class Interceptor(OwnUser, grpc.ServerInterceptor):
    """For a server with threads."""

    def intercept_service(self, continuation: Callable[[Any], Any], details: Any) -> Any:
        """Return the guarded handler."""
        return self._guarded(continuation(details))


class AsyncInterceptor(OwnUser, grpc.aio.ServerInterceptor):
    """For a server with an event loop."""

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], details: Any) -> Any:
        """Return the guarded handler."""
        return self._guarded(await continuation(details))
