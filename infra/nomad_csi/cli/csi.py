"""``nomad-csi csi``: each RPC of CSI as a command."""

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.cli.common import confirm, inputs, usage, waits
from nomad_csi.cli.csi_calls import csi_arguments, csi_commands, csi_output, csi_secrets
from nomad_csi.csi import channel, endpoint, explain, forward, rpc, waiting

ENDPOINT = "CSI_ENDPOINT"
"""Environment variable with the endpoint: the one that CSI itself names, and that Nomad gives to plugins."""

TIMEOUT_S = 60.0

LEAST_S = 0.05
"""For a call that begins when hardly any time is left."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the services, and below each its commands."""
    services = parser.add_subparsers(metavar="SERVICE", required=True)
    for service, commands in csi_commands.SERVICES.items():
        named = services.add_parser(service, help=csi_commands.SUMMARIES[service])
        below = named.add_subparsers(metavar="COMMAND", required=True)
        for name, command in commands.items():
            _add(below.add_parser(name, help=command.summary, description=f"{command.summary}."), command)


def _add(parser: argparse.ArgumentParser, command: csi_commands.Command) -> None:
    for add in command.arguments:
        add(parser)
    text = f"unix:///run/csi.sock, a path, HOST:PORT or {forward.FORM} (default: the variable {ENDPOINT})"
    parser.add_argument("--endpoint", default=os.environ.get(ENDPOINT, ""), help=text)
    waits.add(parser, "timeout", " for the plugin", default=TIMEOUT_S)
    parser.add_argument("--wait-ready", action="store_true", help="before the call, wait until it is there and ready")
    text = "JSON or YAML of the request with CSI's own field names, - for standard input; options go before it"
    parser.add_argument("--request", type=Path, metavar="FILE", help=text)
    parser.add_argument("--show-request", action="store_true", help="print the request first, without its secrets")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    if command.rpc.takes_secrets:
        csi_secrets.add(parser)
        inputs.add_insecure(parser)
    if command.question:
        parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=run, command=command)


def run(arguments: argparse.Namespace) -> int:
    """Call the RPC, print the answer, and return 0, 2 where no plugin answered, or 100 and the gRPC code of a no."""
    command: csi_commands.Command = arguments.command
    if command.instead:
        raise errors.RefusedError(f"{command.rpc.name} is not called: {command.instead}")
    given = csi_secrets.read(arguments) if command.rpc.takes_secrets else {}
    document = csi_arguments.document(arguments, command.fields(arguments), given)
    request = rpc.request_of(command.rpc, document, str(arguments.request or ""))
    output = csi_output.Output(secrets=tuple(document.get(channel.SECRETS, {}).values()), as_json=arguments.json)
    if not arguments.endpoint:
        fix = f"or set {ENDPOINT}"
        usage.refuse([errors.Problem(path="--endpoint", got="nothing", allowed=endpoint.FORMS, fix=fix)], "csi")
    is_insecure = _refuse_readable_secrets(arguments, document)
    if arguments.show_request:
        output.show(rpc.document_of(request), sys.stderr)
    if command.question and not confirm.agreed(command.question, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was asked of the plugin")
    try:
        reply = command.shown(_answer(arguments, command, request, is_insecure=is_insecure))
    except errors.CsiError as error:
        output.fail(explain.explained(error, command.rpc.name) if error.code else error)
        return explain.exit_code(error)
    output.show(reply, sys.stdout)
    return 0 if command.is_good(reply) else errors.EXIT_CHANGES


def _refuse_readable_secrets(arguments: argparse.Namespace, document: Mapping[str, Any]) -> bool:
    """Raise `errors.RefusedError` where secrets could be read on the way; return whether the operator accepts that."""
    if not document.get(channel.SECRETS):
        return False
    is_insecure = inputs.is_insecure(arguments)
    with contextlib.suppress(errors.CsiError):  # what is wrong with the endpoint is reported by the call
        endpoint.refuse_secrets(endpoint.parse(arguments.endpoint), insecure=is_insecure)
    return is_insecure


def _answer(
    arguments: argparse.Namespace, command: csi_commands.Command, request: Any, *, is_insecure: bool
) -> rpc.Document:
    """Return the reply as a document; of a list, all its pages as one."""
    with forward.reached(arguments.endpoint) as reached:
        where = endpoint.parse(reached.local)
        deadline = time.monotonic() + arguments.timeout_s
        try:
            left_s = arguments.timeout_s
            if arguments.wait_ready:
                waiting.until_ready(where, wait_s=left_s)
                left_s = max(deadline - time.monotonic(), LEAST_S)
            endpoint.check(where)
            with channel.connect(where, attempt_s=left_s + 0.5, insecure=is_insecure) as connection:
                found = list(_replies(connection, arguments, command, request, timeout_s=left_s))
        except errors.CsiError as error:
            raise reached.renamed(error) from error
    entries = {"entries": [entry for page in found for entry in page["entries"]]} if command.is_list else {}
    return found[-1] | entries


def _replies(
    connection: channel.CsiConnection,
    arguments: argparse.Namespace,
    command: csi_commands.Command,
    request: Any,
    *,
    timeout_s: float,
) -> Iterator[rpc.Document]:
    if command.is_list and not arguments.one_page:
        for page in rpc.pages(connection, command.rpc, request, timeout_s=timeout_s):
            yield rpc.document_of(page)
    else:
        yield rpc.document_of(rpc.call(connection, command.rpc, request, timeout_s=timeout_s))
