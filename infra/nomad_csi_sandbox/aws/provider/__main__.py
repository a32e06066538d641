"""
``python -m nomad_csi_sandbox.aws.provider --port 0 --ready-file FILE``: the emulator as a process to attach to.

Needs AWS_ENDPOINT_URL, a loopback address. Attach an engine with ``PULUMI_DEBUG_PROVIDERS=aws:PORT``.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from nomad_csi import errors, exit_codes
from nomad_csi_sandbox.aws import process
from nomad_csi_sandbox.aws.provider import clients, servicer

MESSAGE_LIMIT_BYTES = 400 * 1024 * 1024
"""Largest message on the wire. Source: pulumi Python SDK 3.272, ``pulumi/runtime/_grpc_settings.py``."""

GRACE_S = 2.0
"""How long calls under way may take to end when the process is told to."""


@contextmanager
def serving(endpoint_url: str, environment: Mapping[str, str], port: int = 0) -> Iterator[int]:
    """
    Serve the emulator on 127.0.0.1 while the block runs; the value is the port.

    Raises `errors.RefusedError` when *endpoint_url* is not on this machine.
    """
    threads = futures.ThreadPoolExecutor(max_workers=clients.CONNECTIONS, thread_name_prefix="aws-emulator")
    server = grpc.server(
        threads,
        options=[
            ("grpc.max_receive_message_length", MESSAGE_LIMIT_BYTES),
            ("grpc.max_send_message_length", MESSAGE_LIMIT_BYTES),
            ("grpc.so_reuseport", 0),
        ],
    )
    emulator = servicer.Servicer(process.loopback_url(endpoint_url), environment)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(emulator, server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    try:
        yield bound
    finally:
        server.stop(GRACE_S).wait()
        threads.shutdown()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT. Return the exit code."""
    options = process.options("nomad_csi_sandbox.aws.provider", "an emulator of Pulumi's aws provider", arguments)
    ended = process.end_on_signal()
    try:
        with (
            serving(os.environ.get("AWS_ENDPOINT_URL", ""), os.environ, options.port) as port,
            process.announced(options.ready_file, port),
        ):
            ended.wait()
    except errors.RefusedError as error:
        print(f"error: {error}", file=sys.stderr)
        return exit_codes.USAGE
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
