"""``nomad-csi csi``: each RPC of CSI as a command."""

import contextlib
import functools
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

import click
import yaml

from nomad_csi import errors
from nomad_csi.cli.common import argument_secrets, command, inputs, options, output, usage
from nomad_csi.cli.observe import csi_commands
from nomad_csi.csi import channel, endpoint, explain, forward, identity, rpc
from nomad_csi.spec import draft
from nomad_csi.text import foreign, redaction

ENDPOINT = "CSI_ENDPOINT"
"""Environment variable with the endpoint: the one that CSI names, and that Nomad sets for plugins."""

TIMEOUT_S = 60.0

LEAST_S = 0.05
"""Minimum timeout of a call that begins near the deadline."""


# The secrets of one request: from a file or the environment, never from arguments, which all users can read.


SECRETS = "X_CSI_SECRETS"
"""As in csc: ``k=v,k2=v2``; a JSON mapping too, for values with commas."""

INSTEAD = (
    f"secrets are not taken as arguments, which every user of this machine can read: write them to a file "
    f"(--secrets FILE, JSON or YAML of names and texts) or into the variable {SECRETS}"
)


secrets_options = argument_secrets.options(
    f"JSON or YAML: the secrets of this request by name; also read from the variable {SECRETS}", INSTEAD
)


def _read_secrets(arguments: command.Arguments) -> dict[str, str]:
    """Return the secrets of the environment, and of the file, which takes precedence. Raises `errors.SpecError`."""
    found = _parse_variable(os.environ.get(SECRETS, ""))
    if arguments.secrets is not None:
        source = str(arguments.secrets)
        found |= _checked(draft.read_yaml(inputs.text(arguments.secrets), source), source)
    return found


def _parse_variable(text: str) -> dict[str, str]:
    if not text.strip():
        return {}
    if text.lstrip().startswith("{"):
        return _checked(draft.read_yaml(text, SECRETS), SECRETS)
    pairs: Sequence[tuple[str, str, str]] = [part.partition("=") for part in text.split(",")]
    return _checked({name: value if equals else None for name, equals, value in pairs}, SECRETS)


def _checked(document: Any, source: str) -> dict[str, str]:
    is_table = isinstance(document, Mapping) and all(
        isinstance(part, str) for pair in document.items() for part in pair
    )
    if not is_table or not all(document):
        allowed = "names and texts" if source != SECRETS else "name=text pairs with commas between, or JSON"
        raise errors.SpecError((errors.Problem(path="", got="[secret]", allowed=allowed),), source)
    return dict(document)


# Output of responses: YAML for people or JSON for programs, and never a secret of the request.


LONGEST_STRING = 4096
"""Characters shown of a string. Source: CSI specification 1.12, "Size Limits": 128 bytes, a map 4 KiB; 2026-11."""

_EXACT = ("id", "ids", "_token")


@dataclass(frozen=True, kw_only=True)
class _Output:
    """One command's output."""

    as_json: bool
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that a plugin may repeat, in a response or in an error; short ones are hidden only as whole words."""

    def show(self, document: Mapping[str, Any], stream: TextIO) -> None:
        """Print *document*."""
        hidden = self._hidden(document)
        if self.as_json:
            print(output.as_json(hidden), file=stream)
        elif not hidden:
            print("done", file=stream)
        else:
            print(yaml.safe_dump(hidden, sort_keys=False, allow_unicode=True, width=120).rstrip(), file=stream)

    def fail(self, error: errors.CsiError) -> None:
        """Print *error* to standard error; with ``--json`` also as JSON."""
        if self.as_json:
            shown = {"endpoint": error.endpoint, "code": error.code, "message": error.message, "advice": error.advice}
            output.print_json({"error": self._hidden(shown)})
        print(f"error: {redaction.mask(str(error), self.secrets, short_words=True)}", file=sys.stderr)

    def _hidden(self, value: Any, name: str = "") -> Any:
        """Return *value* without secrets in its strings; ids and page tokens lose only those of the request."""
        if isinstance(value, str):
            hide = redaction.mask if name.endswith(_EXACT) else redaction.redact
            return foreign.shortened(hide(value, self.secrets, short_words=True), LONGEST_STRING)
        if isinstance(value, Mapping):
            return {self._hidden(key): self._hidden(item, key) for key, item in value.items()}
        return [self._hidden(item, name) for item in value] if isinstance(value, list) else value


# The commands.


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
    secrets = (secrets_options, inputs.insecure) if of.called.takes_secrets else ()
    asks = (options.yes,) if of.question else ()
    add = command.together(csi_commands.options_of(of.called.fields), *COMMON, *secrets, *asks)
    return command.command(name=name, help=f"{of.summary}.")(add(functools.partial(_call, of)))


def _service(name: str) -> command.Group:
    made: dict[str, click.Command] = {each: _made(each, of) for each, of in csi_commands.SERVICES[name].items()}
    summary = csi_commands.SUMMARIES[name]
    return command.Group(name, commands=made, help=f"{summary[0].upper()}{summary[1:]}.")


def _call(of: csi_commands.RpcCommand, arguments: command.Arguments) -> int:
    """Call the RPC, print the response, and return 0, 2 if no plugin answered, or 100 and the gRPC code of an error."""
    if of.instead:
        raise errors.RefusedError(f"{of.called.name} is not called: {of.instead}")
    given = _read_secrets(arguments) if of.called.takes_secrets else {}
    document = csi_commands.document(arguments, csi_commands.fields(arguments), given)
    request = rpc.request_of(of.called, document, str(arguments.request or ""))
    shown = _Output(secrets=tuple(document.get(channel.SECRETS, {}).values()), as_json=arguments.json)
    if not arguments.endpoint:
        fix = f"or set {ENDPOINT}"
        usage.refuse([errors.Problem(path="--endpoint", got="nothing", allowed=endpoint.FORMS, fix=fix)])
    is_insecure = _refuse_readable_secrets(arguments, document)
    if arguments.show_request:
        shown.show(rpc.document_of(request), sys.stderr)
    if of.question and not options.agreed(of.question, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was asked of the plugin")
    try:
        reply, is_good = of.judged(_answer(arguments, of, request, is_insecure=is_insecure))
    except errors.CsiError as error:
        shown.fail(explain.explained(error, of.called.name) if error.code else error)
        return explain.exit_code(error)
    shown.show(reply, sys.stdout)
    return 0 if is_good else errors.EXIT_CHANGES


def _refuse_readable_secrets(arguments: command.Arguments, document: Mapping[str, Any]) -> bool:
    """Raise `errors.RefusedError` if secrets could be read in transit; return whether the operator accepts that."""
    if not document.get(channel.SECRETS):
        return False
    is_insecure = inputs.is_insecure(arguments)
    with contextlib.suppress(errors.CsiError):  # a problem of the endpoint is reported by the call
        endpoint.refuse_secrets(endpoint.parse(arguments.endpoint), insecure=is_insecure)
    return is_insecure


def _answer(
    arguments: command.Arguments, of: csi_commands.RpcCommand, request: Any, *, is_insecure: bool
) -> rpc.Document:
    """Return the response as a document; of a list, all its pages as one."""
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
        for page in rpc.pages(connection, request, timeout_s=timeout_s):
            yield rpc.document_of(page)
    else:
        yield rpc.document_of(channel.call(connection, request, timeout_s=timeout_s))


run = command.Group(commands={name: _service(name) for name in csi_commands.SERVICES})
