"""
``nomad-csi csi``: any RPC of CSI by its name, and the probe of a plugin.

Deleting has guards that a bare RPC lacks: the error names the command that has them.
"""

import sys
import textwrap
import time
from collections.abc import Mapping
from typing import Any, TextIO

import click
import yaml

from nomad_csi import errors, exit_codes
from nomad_csi.cli import probe
from nomad_csi.cli.common import command, inputs, options, output
from nomad_csi.csi import channel, endpoint, forward, rpc, services
from nomad_csi.spec import draft
from nomad_csi.text import redaction

TIMEOUT_S = 60.0

INSTEAD_OF_ARGUMENTS = (
    "secrets are not taken as arguments, which every user of this machine can read: write them to a file (--secrets "
    "FILE, JSON or YAML of names and texts)"
)

# The calls that are not like others.


QUESTION = (
    "{rpc} is done behind Nomad's back: neither Nomad nor a stack knows of what it creates, attaches or mounts, and "
    "what still uses a volume loses it when it is detached or unmounted. `nomad-csi claims` shows what uses a volume."
)
ASKED = frozenset(
    {
        "CreateVolume",
        *("ControllerPublishVolume", "ControllerUnpublishVolume"),
        *("NodeStageVolume", "NodeUnstageVolume", "NodePublishVolume", "NodeUnpublishVolume"),
    }
)
"""RPCs that need a confirmation."""

INSTEAD: Mapping[str, str] = {
    "DeleteVolume": (
        "a bare DeleteVolume would not see who uses the storage; `nomad-csi remove NAMESPACE/ID --delete-data "
        "--endpoint ENDPOINT` has the plugin do it, after a check of claims and registrations, with a last snapshot "
        "and your confirmation"
    ),
    "DeleteSnapshot": "use `nomad-csi snapshot delete SNAPSHOT_ID --made-by PLUGIN`, which asks for confirmation",
}
"""RPCs that are not called this way, and what to use."""


# The request: a file, then the fields that are typed as ``FIELD=VALUE``, then the secrets. Protobuf checks it all.


def _put(into: rpc.Document, fields: Mapping[str, Any], name: str, text: str) -> None:
    """Set the field with the dotted *name* in *into*; one that does not exist is left to protobuf, which names all."""
    first, _, rest = name.partition(".")
    field = fields.get(first)
    if field is None:
        into[name] = text
        return
    if rpc.is_secret(field):
        raise click.BadParameter(INSTEAD_OF_ARGUMENTS)
    kind = field.message_type
    if rest and kind and kind.GetOptions().map_entry:
        into.setdefault(first, {})[rest] = text
    elif rest and kind and not field.is_repeated and isinstance(into.setdefault(first, {}), dict):
        _put(into[first], kind.fields_by_name, rest, text)
    elif rest:
        into[name] = text
    elif field.is_repeated:
        into.setdefault(first, []).append(_value(field, text))
    else:
        into[first] = _value(field, text)


def _value(field: Any, text: str) -> Any:
    """Return the value of *field*: of a message or a boolean, *text* as YAML; all else protobuf reads from text."""
    is_yaml = field.message_type or field.cpp_type == field.CPPTYPE_BOOL
    return draft.read_yaml(text, field.name) if is_yaml else text


def _document(arguments: command.Arguments, called: rpc.Rpc) -> rpc.Document:
    """Return the request: the file of ``--request``, below the fields that are typed and the secrets."""
    document: rpc.Document = {}
    if arguments.request is not None:
        text = sys.stdin.read() if str(arguments.request) == "-" else inputs.text(arguments.request)
        request = draft.read_yaml(text, str(arguments.request))
        if not isinstance(request, Mapping):
            problem = errors.Problem(path="", got=type(request).__name__, allowed="a mapping of CSI's field names")
            raise errors.SpecError((problem,), str(arguments.request))
        document |= request
    for word in arguments.fields:
        name, equals, text = word.partition("=")
        if not equals:
            raise command.wrong("FIELD=VALUE", word)
        _put(document, called.fields, name, text)
    if arguments.secrets is not None:
        document[channel.SECRETS] = draft.read_yaml(inputs.text(arguments.secrets), str(arguments.secrets))
    return document


# The command.


ABOUT = f"""\
{textwrap.fill(f"METHOD is one of {', '.join(rpc.RPCS)}.", 98)}

FIELD is a field of its request, such as volume_id, capacity_range.required_bytes or parameters.KEY;
a list is given one by one. A message is JSON or YAML with CSI's field names:
volume_capability='{{access_mode: {{mode: SINGLE_NODE_WRITER}}, mount: {{fs_type: ext4}}}}'.
The response is printed whole, up to gRPC's 4 MiB, without secrets.
"""

run = command.Group(commands={"probe": probe.run})
probe.run.help = "Check whether one plugin is healthy, all of this machine, or one on all its clients."


@run.command("call", help="Call any RPC of a CSI plugin over its socket.", epilog=ABOUT)
@command.argument("endpoint ENDPOINT", f"unix:///run/csi.sock, a path, HOST:PORT or {forward.FORM}")
@command.argument("method METHOD", "name of the RPC", type=click.Choice(list(rpc.RPCS)))
@command.argument("fields [FIELD=VALUE...]", "fields of the request")
@command.option("--request FILE", "the request, JSON or YAML, - for standard input; FIELD=VALUE goes before it")
@command.option("--secrets FILE", "JSON or YAML: the secrets of this request by name")
@options.duration("timeout", " for the plugin", default_s=TIMEOUT_S)
@command.option("--wait-ready", "before the call, wait until the plugin is ready")
@command.option("--one-page", "of a list, ask for one page only, and print its next_token")
@command.option("--show-request", "print the request first, without its secrets")
@options.yes
@command.as_json()
@inputs.insecure
def _call(arguments: command.Arguments) -> int:
    """Call the RPC, print the response, and return 0, 2 if no plugin answered, or 100 and the gRPC code of an error."""
    called = rpc.RPCS[arguments.method]
    if instead := INSTEAD.get(called.name):
        raise errors.RefusedError(f"{called.name} is not called: {instead}")
    try:
        document = _document(arguments, called)
        request = rpc.request_of(called, document, str(arguments.request or ""))
    except errors.SpecError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
    known = tuple(document.get(channel.SECRETS, {}).values())
    if arguments.show_request:
        _show(_hidden(rpc.document_of(request), known), sys.stderr, as_json=arguments.json)
    question = QUESTION.format(rpc=called.name)
    if called.name in ASKED and not options.agreed(question, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was asked of the plugin")
    try:
        reply = _answer(arguments, called, request, insecure=bool(known) and inputs.is_insecure(arguments))
    except errors.CsiError as error:
        if arguments.json:
            shown = {"endpoint": error.endpoint, "code": error.code, "message": error.message, "advice": error.advice}
            output.print_json({"error": _hidden(shown, known)})
        print(f"error: {redaction.mask(str(error), known, short_words=True)}", file=sys.stderr)
        return rpc.exit_code(error)
    is_good = called.name != "ValidateVolumeCapabilities" or "confirmed" in reply
    if called.name == "Probe":  # an absent `ready` means ready; `stated` records whether the plugin sent the field
        is_good = reply.get("ready", True)
        reply = {"ready": is_good, "stated": "ready" in reply}
    _show(_hidden(output.document(reply) if arguments.json else reply, known), sys.stdout, as_json=arguments.json)
    return 0 if is_good else exit_codes.CHANGES


def _answer(arguments: command.Arguments, called: rpc.Rpc, request: Any, *, insecure: bool) -> rpc.Document:
    """Return the response as a document; of a list, all its pages as one."""
    with forward.reached(arguments.endpoint) as reached:
        where = endpoint.parse(reached.local)
        began, left_s = time.monotonic(), arguments.timeout_s
        try:
            if arguments.wait_ready:
                services.until_ready(where, wait_s=arguments.timeout_s, clock=inputs.CLOCK)
                left_s -= time.monotonic() - began
            endpoint.check(where)
            with channel.connect(where, attempt_s=left_s + 0.5, insecure=insecure) as connection:
                if called.is_list and not arguments.one_page:
                    replies = list(rpc.pages(connection, request, timeout_s=left_s))
                else:
                    replies = [channel.call(connection, request, timeout_s=left_s)]
        except errors.CsiError as error:
            raise reached.renamed(error) from error
    pages = [rpc.document_of(reply) for reply in replies]
    return pages[-1] | ({"entries": [entry for page in pages for entry in page["entries"]]} if called.is_list else {})


def _show(document: Mapping[str, Any], stream: TextIO, *, as_json: bool) -> None:
    """Print *document*: YAML for people or JSON for programs."""
    if as_json:
        print(output.as_json(document), file=stream)
    else:
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120) if document else "done"
        print(text.rstrip(), file=stream)


def _hidden(value: Any, known: tuple[str, ...], name: str = "") -> Any:
    """
    Return *value* without secrets in its strings; ids and page tokens lose only the *known* ones of the request.

    A plugin may repeat these, in a response or in an error; short ones are hidden only as whole words.
    """
    if isinstance(value, str):
        hide = redaction.mask if name.endswith(("id", "ids", "_token")) else redaction.redact
        return hide(value, known, short_words=True)
    if isinstance(value, Mapping):
        return {_hidden(key, known): _hidden(item, known, key) for key, item in value.items()}
    return [_hidden(item, known, name) for item in value] if isinstance(value, list) else value
