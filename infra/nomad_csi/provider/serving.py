"""The server of the plugin's process: on a free port of the loopback interface, until it is ended."""

import asyncio
import contextlib
import os
import signal
import sys
from concurrent import futures

import grpc.aio
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import provider_pb2_grpc

from nomad_csi.provider import hosting, servicer

THREADS = 64
"""More than the engine's parallel steps (4 per core by default): a waiting step must not block others."""


def serve(arguments: list[str]) -> None:
    """
    Serve the engine until it ends this process. Raises `OSError` if it cannot be sent the port.

    The engine's address is the first of *arguments* that is no flag; an engine that attaches sends it later.
    """
    engine_address = next((argument for argument in arguments if not argument.startswith("-")), "")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(arguments, engine_address))


async def _serve(arguments: list[str], engine_address: str) -> None:
    asyncio.get_running_loop().set_default_executor(futures.ThreadPoolExecutor(THREADS))
    server = grpc.aio.server(options=_GRPC_CHANNEL_OPTIONS)
    plugin = servicer.Servicer(hosting.Hosted(), arguments, engine_address, os.environ)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(plugin, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        os.write(sys.stdout.fileno(), f"{port}\n".encode())  # not kept in a buffer: an error comes once, and here
        await _interrupted()
    finally:
        plugin.interrupt()
        await server.stop(None)


async def _interrupted() -> None:
    """Wait for a signal to end. Where the system has no such handlers, Python's KeyboardInterrupt ends the wait."""
    asked = asyncio.Event()
    with contextlib.suppress(NotImplementedError):
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, asked.set)
    await asked.wait()
