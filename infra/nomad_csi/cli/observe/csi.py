"""``nomad-csi csi``: each RPC of CSI as a command."""

import contextlib
import functools
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, options, usage
from nomad_csi.cli.observe.csi_calls import csi_commands, csi_options, csi_output, csi_secrets
from nomad_csi.csi import channel, endpoint, explain, forward, identity, rpc

ENDPOINT = "CSI_ENDPOINT"
"""Environment variable with the endpoint: the one that CSI itself names, and that Nomad gives to plugins."""

TIMEOUT_S = 60.0

LEAST_S = 0.05
"""For a call that begins when hardly any time is left."""


COMMON = (
    command.option(
        "--endpoint ENDPOINT",
        f"unix:///run/csi.sock, a path, HOST:PORT or {forward.FORM} (default: the variable {ENDPOINT})",
        envvar=ENDPOINT,
    ),
    options.seconds("timeout", " for the plugin", default=TIMEOUT_S),
    command.option("--wait-ready", "before the call, wait until it is there and ready"),
    command.option(
        "--request FILE",
        "JSON or YAML of the request with CSI's own field names, - for standard input; options go before it",
    ),
    command.option("--show-request", "print the request first, without its secrets"),
    command.as_json(),
)


def _made(name: str, of: csi_commands.RpcCommand) -> command.Command:
    secrets = (csi_secrets.options, inputs.insecure) if of.rpc.takes_secrets else ()
    asks = (options.yes,) if of.question else ()
    add = command.together(*of.arguments, *COMMON, *secrets, *asks)
    return command.command(name=name, help=f"{of.summary}.")(add(functools.partial(_call, of)))


def _service(name: str) -> command.Group:
    made: dict[str, click.Command] = {each: _made(each, of) for each, of in csi_commands.SERVICES[name].items()}
    summary = csi_commands.SUMMARIES[name]
    return command.Group(name, commands=made, help=f"{summary[0].upper()}{summary[1:]}.")


def _call(of: csi_commands.RpcCommand, arguments: command.Arguments) -> int:
    """Call the RPC, print the answer, and return 0, 2 where no plugin answered, or 100 and the gRPC code of a no."""
    if of.instead:
        raise errors.RefusedError(f"{of.rpc.name} is not called: {of.instead}")
    given = csi_secrets.read(arguments) if of.rpc.takes_secrets else {}
    document = csi_options.document(arguments, csi_options.fields(arguments), given)
    request = rpc.request_of(of.rpc, document, str(arguments.request or ""))
    output = csi_output.Output(secrets=tuple(document.get(channel.SECRETS, {}).values()), as_json=arguments.json)
    if not arguments.endpoint:
        fix = f"or set {ENDPOINT}"
        usage.refuse([errors.Problem(path="--endpoint", got="nothing", allowed=endpoint.FORMS, fix=fix)])
    is_insecure = _refuse_readable_secrets(arguments, document)
    if arguments.show_request:
        output.show(rpc.document_of(request), sys.stderr)
    if of.question and not options.agreed(of.question, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was asked of the plugin")
    try:
        reply = of.shown(_answer(arguments, of, request, is_insecure=is_insecure))
    except errors.CsiError as error:
        output.fail(explain.explained(error, of.rpc.name) if error.code else error)
        return explain.exit_code(error)
    output.show(reply, sys.stdout)
    return 0 if of.is_good(reply) else errors.EXIT_CHANGES


def _refuse_readable_secrets(arguments: command.Arguments, document: Mapping[str, Any]) -> bool:
    """Raise `errors.RefusedError` where secrets could be read on the way; return whether the operator accepts that."""
    if not document.get(channel.SECRETS):
        return False
    is_insecure = inputs.is_insecure(arguments)
    with contextlib.suppress(errors.CsiError):  # what is wrong with the endpoint is reported by the call
        endpoint.refuse_secrets(endpoint.parse(arguments.endpoint), insecure=is_insecure)
    return is_insecure


def _answer(
    arguments: command.Arguments, of: csi_commands.RpcCommand, request: Any, *, is_insecure: bool
) -> rpc.Document:
    """Return the reply as a document; of a list, all its pages as one."""
    with forward.reached(arguments.endpoint) as reached:
        where = endpoint.parse(reached.local)
        deadline = time.monotonic() + arguments.timeout_s
        try:
            left_s = arguments.timeout_s
            if arguments.wait_ready:
                identity.until_ready(where, wait_s=left_s)
                left_s = max(deadline - time.monotonic(), LEAST_S)
            endpoint.check(where)
            with channel.connect(where, attempt_s=left_s + 0.5, insecure=is_insecure) as connection:
                found = list(_replies(connection, arguments, of, request, timeout_s=left_s))
        except errors.CsiError as error:
            raise reached.renamed(error) from error
    entries = {"entries": [entry for page in found for entry in page["entries"]]} if of.is_list else {}
    return found[-1] | entries


def _replies(
    connection: channel.CsiConnection,
    arguments: command.Arguments,
    of: csi_commands.RpcCommand,
    request: Any,
    *,
    timeout_s: float,
) -> Iterator[rpc.Document]:
    if of.is_list and not arguments.one_page:
        for page in rpc.pages(connection, of.rpc, request, timeout_s=timeout_s):
            yield rpc.document_of(page)
    else:
        yield rpc.document_of(rpc.call(connection, of.rpc, request, timeout_s=timeout_s))


run = command.Group(commands={name: _service(name) for name in csi_commands.SERVICES})
