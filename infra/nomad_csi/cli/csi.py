"""
``nomad-csi csi``: any RPC of CSI by its name, and the probe of a plugin.

Deleting has guards that a bare RPC lacks: the error names the command that has them.
"""

import os
import re
import sys
import textwrap
import time
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TextIO

import click
import pydantic
import yaml

from nomad_csi import errors, exit_codes
from nomad_csi.cli import probe
from nomad_csi.cli.common import command, documents, inputs, options, output
from nomad_csi.csi import channel, endpoint, forward, rpc, services
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.spec import draft
from nomad_csi.text import foreign, redaction

TIMEOUT_S = 60.0

LEAST_S = 0.05
"""Minimum timeout of a call that begins near the deadline."""

LONGEST_STRING = 4096
"""Characters shown of a string. Source: CSI specification 1.12, "Size Limits": 128 bytes, a map 4 KiB; 2026-11."""

SECRETS = "X_CSI_SECRETS"
"""As in csc: ``k=v,k2=v2``; a JSON mapping too, for values with commas."""

_Name = Annotated[str, pydantic.Field(min_length=1)]

INSTEAD_OF_ARGUMENTS = (
    f"secrets are not taken as arguments, which every user of this machine can read: write them to a file "
    f"(--secrets FILE, JSON or YAML of names and texts) or into the variable {SECRETS}"
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


# The request: fields as they are typed, ``FIELD=VALUE``. Sizes, capabilities and topologies have a short form; protobuf
# checks everything else when it reads the request. Secrets come from a file or the environment, never from arguments.


MODES = {name.lower().replace("_", "-"): name for name in csi_pb2.VolumeCapability.AccessMode.Mode.keys()[1:]}
"""CSI's name of an access mode by Nomad's; modes that only CSI has keep their name."""

ATTACHMENTS: Mapping[str, str] = {"file-system": "mount", "mount": "mount", "block-device": "block", "block": "block"}
UNITS: Mapping[str, int] = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}

_CAPABILITY, _TOPOLOGY = "csi.v1.VolumeCapability", "csi.v1.Topology"
_SIZE = re.compile(rf"(\d{{1,19}})\s*({'|'.join(UNITS)})", re.ASCII)


def _typed_fields(called: rpc.Rpc, words: Iterable[str]) -> rpc.Document:
    """Return the fields of *words* for a request of *called*. Raises `click.BadParameter`, which repeats no secret."""
    document: rpc.Document = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise command.wrong("FIELD=VALUE", word)
        _put(document, called.fields, name, text)
    return document


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
    """Return the value of *field* as JSON has it."""
    kind = field.message_type.full_name if field.message_type else ""
    if kind == _CAPABILITY:
        return _capability(text)
    if kind == _TOPOLOGY:
        pairs = [part.partition("=") for part in text.split(",")]
        if not all(key and value for key, _, value in pairs):
            raise command.wrong("KEY=VALUE[,KEY=VALUE...]", text)
        return {"segments": {key: value for key, _, value in pairs}}
    if field.enum_type:
        return text.upper().replace("-", "_")
    if field.cpp_type == field.CPPTYPE_BOOL:
        return {"true": True, "false": False}.get(text, text)
    if field.cpp_type != field.CPPTYPE_INT64:
        return text
    size = _SIZE.fullmatch(text.strip())
    if size is None:
        raise command.wrong(f"bytes, or a number with {', '.join(filter(None, UNITS))}, such as 10GiB", text)
    return int(size[1]) * UNITS[size[2]]


def _capability(given: str) -> dict[str, Any]:
    """Return the capability of ``MODE,ATTACHMENT[,FS_TYPE[,MOUNT_FLAG...]]``."""
    mode, _, rest = given.partition(",")
    kind, *more = rest.split(",")
    mode = mode.strip().lower().replace("_", "-")
    attachment = ATTACHMENTS.get(kind.strip().lower(), "")
    if mode not in MODES or not attachment or (attachment == "block" and more):
        form = "MODE,file-system[,FS_TYPE[,MOUNT_FLAG...]] or MODE,block-device"
        raise command.wrong(f"{form} with a mode of {', '.join(MODES)}", given)
    mounted = {"fs_type": more[0], "mount_flags": more[1:]} if more else {}
    return {"access_mode": {"mode": MODES[mode]}, attachment: mounted}


def _read_secrets(arguments: command.Arguments) -> dict[str, str]:
    """Return the secrets of the environment, and of the file, which takes precedence. Raises `errors.SpecError`."""
    text = os.environ.get(SECRETS, "").strip()
    if text and not text.startswith("{"):
        pairs = [part.partition("=") for part in text.split(",")]
        given = _checked({name: value if equals else None for name, equals, value in pairs}, SECRETS)
    else:
        given = _checked(draft.read_yaml(text or "{}", SECRETS), SECRETS)
    if arguments.secrets is not None:
        source = str(arguments.secrets)
        given |= _checked(draft.read_yaml(inputs.text(arguments.secrets), source), source)
    return given


def _checked(document: Any, source: str) -> dict[str, str]:
    try:
        return pydantic.TypeAdapter(dict[_Name, str]).validate_python(document, strict=True)
    except pydantic.ValidationError:
        allowed = "names and texts" if source != SECRETS else "name=text pairs with commas between, or JSON"
        raise errors.SpecError((errors.Problem(path="", got="[secret]", allowed=allowed),), source) from None


def _document(arguments: command.Arguments, called: rpc.Rpc) -> rpc.Document:
    """Return the request: the file of ``--request``, below the fields that are typed and the secrets."""
    document: rpc.Document = {}
    if arguments.request is not None:
        text = sys.stdin.read() if str(arguments.request) == "-" else inputs.text(arguments.request)
        found = draft.read_yaml(text, str(arguments.request))
        if not isinstance(found, Mapping):
            problem = errors.Problem(path="", got=type(found).__name__, allowed="a mapping of CSI's field names")
            raise errors.SpecError((problem,), str(arguments.request))
        document |= found
    document |= _typed_fields(called, arguments.fields)
    if called.takes_secrets and (given := _read_secrets(arguments)):
        before = document.get(channel.SECRETS)
        document[channel.SECRETS] = {**(before if isinstance(before, Mapping) else {}), **given}
    return document


# The command.


ABOUT = f"""\
{textwrap.fill(f"METHOD is one of {', '.join(rpc.RPCS)}.", 98)}

FIELD is a field of its request, such as volume_id, capacity_range.required_bytes or parameters.KEY;
a list is given one by one. Sizes are bytes or 10GiB. volume_capability(ies) are written as
single-node-writer,file-system,ext4,noatime; a topology as KEY=VALUE,KEY=VALUE.
The response is printed whole, up to gRPC's 4 MiB, without secrets; each text in it up to 4,096 characters.
"""

run = command.Group(commands={"probe": probe.run})
probe.run.help = "Check whether one plugin is healthy, all of this machine, or one on all its clients."


@run.command("call", help="Call any RPC of a CSI plugin over its socket.", epilog=ABOUT)
@command.argument("endpoint ENDPOINT", f"unix:///run/csi.sock, a path, HOST:PORT or {forward.FORM}")
@command.argument("method METHOD", "name of the RPC", type=click.Choice(list(rpc.RPCS)))
@command.argument("fields [FIELD=VALUE...]", "fields of the request")
@command.option("--request FILE", "the request, JSON or YAML, - for standard input; FIELD=VALUE goes before it")
@documents.secrets_option(
    f"JSON or YAML: the secrets of this request by name; also read from the variable {SECRETS}", INSTEAD_OF_ARGUMENTS
)
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
    document = _document(arguments, called)
    try:
        request = rpc.request_of(called, document, str(arguments.request or ""))
    except errors.SpecError as error:
        if arguments.request is None:
            raise click.UsageError(str(error), click.get_current_context()) from None
        raise
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
        deadline = time.monotonic() + arguments.timeout_s
        try:
            if arguments.wait_ready:
                services.until_ready(where, wait_s=arguments.timeout_s, clock=inputs.CLOCK)
            endpoint.check(where)
            left_s = max(deadline - time.monotonic(), LEAST_S)
            with channel.connect(where, attempt_s=left_s + 0.5, insecure=insecure) as connection:
                if called.is_list and not arguments.one_page:
                    replies = list(rpc.pages(connection, request, timeout_s=left_s))
                else:
                    replies = [channel.call(connection, request, timeout_s=left_s)]
        except errors.CsiError as error:
            raise reached.renamed(error) from error
    found = [rpc.document_of(reply) for reply in replies]
    return found[-1] | ({"entries": [entry for page in found for entry in page["entries"]]} if called.is_list else {})


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
        return foreign.shortened(hide(value, known, short_words=True), LONGEST_STRING)
    if isinstance(value, Mapping):
        return {_hidden(key, known): _hidden(item, known, key) for key, item in value.items()}
    return [_hidden(item, known, name) for item in value] if isinstance(value, list) else value
