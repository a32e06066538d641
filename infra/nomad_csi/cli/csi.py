"""
``nomad-csi csi``: any RPC of CSI by its name, and the probe of a plugin.

Deleting has guards that a bare RPC lacks: the error names the command that has them.
"""

import contextlib
import os
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import yaml

from nomad_csi import errors, exit_codes
from nomad_csi.cli import csi_fields, probe
from nomad_csi.cli.common import command, inputs, options, output, secrets, usage
from nomad_csi.csi import channel, endpoint, explain, forward, identity, rpc
from nomad_csi.spec import draft
from nomad_csi.text import foreign, redaction

TIMEOUT_S = 60.0

LEAST_S = 0.05
"""Minimum timeout of a call that begins near the deadline."""


# The secrets of one request: from a file or the environment, never from arguments, which all users can read.


SECRETS = "X_CSI_SECRETS"
"""As in csc: ``k=v,k2=v2``; a JSON mapping too, for values with commas."""

INSTEAD_OF_ARGUMENTS = (
    f"secrets are not taken as arguments, which every user of this machine can read: write them to a file "
    f"(--secrets FILE, JSON or YAML of names and texts) or into the variable {SECRETS}"
)


secrets_options = secrets.option(
    f"JSON or YAML: the secrets of this request by name; also read from the variable {SECRETS}", INSTEAD_OF_ARGUMENTS
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


# The calls that are not like others.


_CREATE = (
    "This creates storage that the provider may bill, and that neither Nomad nor a stack knows: only you can remove it."
)
_PUBLISH = (
    "This attaches the volume to the node behind Nomad's back: Nomad neither knows of it nor detaches it, and may fail "
    "to attach the volume elsewhere."
)
_UNPUBLISH = (
    "This detaches the volume from the node, whatever still uses it there: a task that writes to it loses its disk. "
    "Check first with `nomad-csi claims`; `nomad-csi claims repair` does it in steps that check."
)
_MOUNT = (
    "This mounts the volume behind Nomad's back: Nomad does not unmount what it did not mount. "
    "`nomad-csi smoke` tests a volume with a job."
)
_UNMOUNT = (
    "This unmounts the volume, whatever still uses it there: a task that writes to it loses its file system. "
    "Check first with `nomad-csi claims`."
)
QUESTIONS: Mapping[str, str] = {
    "CreateVolume": _CREATE,
    "ControllerPublishVolume": _PUBLISH,
    "ControllerUnpublishVolume": _UNPUBLISH,
    "NodeStageVolume": _MOUNT,
    "NodePublishVolume": _MOUNT,
    "NodeUnpublishVolume": _UNMOUNT,
    "NodeUnstageVolume": _UNMOUNT,
}
"""RPCs that need a confirmation, and the question."""

INSTEAD: Mapping[str, str] = {
    "DeleteVolume": (
        "a bare DeleteVolume would not see who uses the storage; `nomad-csi remove NAMESPACE/ID --delete-data "
        "--endpoint ENDPOINT` has the plugin do it, after a check of claims and registrations, with a last snapshot "
        "and your confirmation"
    ),
    "DeleteSnapshot": "use `nomad-csi snapshot delete SNAPSHOT_ID --made-by PLUGIN`, which asks for confirmation",
}
"""RPCs that are not called this way, and what to use."""


def _judged(name: str, reply: rpc.Document) -> tuple[rpc.Document, bool]:
    """Return the response as it is printed, and whether it is positive; a negative one is exit code 1."""
    if name == "Probe":  # an absent `ready` means ready; `stated` records whether the plugin sent the field
        is_ready = reply.get("ready", True)
        return {"ready": is_ready, "stated": "ready" in reply}, is_ready
    return reply, name != "ValidateVolumeCapabilities" or "confirmed" in reply


# The command.


def _method(given: str) -> str:
    """Return the name of an RPC. Raises `click.BadParameter`."""
    if given not in rpc.RPCS:
        raise usage.wrong(
            "an RPC of CSI, which `nomad-csi csi call --help` lists", given, usage.nearest(given, rpc.RPCS)
        )
    return given


_methods = command.completing(lambda _ctx, _text: rpc.RPCS)
_fields = command.completing(csi_fields.suggested)

ABOUT = f"""\
{textwrap.fill(f"METHOD is one of {', '.join(rpc.RPCS)}.", 98)}

FIELD is a field of its request, such as volume_id, capacity_range.required_bytes or parameters.KEY;
a list is given one by one. Sizes are bytes or 10GiB. volume_capability(ies) are written as
single-node-writer,file-system,ext4,noatime; a topology as KEY=VALUE,KEY=VALUE.
"""

run = command.Group(commands={"probe": probe.run})
probe.run.help = "Check whether one plugin is healthy, all of this machine, or one on all its clients."


@run.command("call", help="Call any RPC of a CSI plugin over its socket.", epilog=ABOUT)
@command.argument("endpoint ENDPOINT", f"unix:///run/csi.sock, a path, HOST:PORT or {forward.FORM}")
@command.argument("method METHOD", "name of the RPC", type=_method, shell_complete=_methods)
@command.argument(
    "fields [FIELD=VALUE...]", "fields of the request", shell_complete=command.completing(csi_fields.suggested)
)
@command.option("--request FILE", "the request, JSON or YAML, - for standard input; FIELD=VALUE goes before it")
@secrets_options
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
    request = _request(arguments, called, document)
    shown = _Output(secrets=tuple(document.get(channel.SECRETS, {}).values()), as_json=arguments.json)
    is_insecure = _refuse_readable_secrets(arguments, document)
    if arguments.show_request:
        shown.show(rpc.document_of(request), sys.stderr)
    question = QUESTIONS.get(called.name)
    if question and not options.agreed(question, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was asked of the plugin")
    try:
        reply, is_good = _judged(called.name, _answer(arguments, called, request, is_insecure=is_insecure))
    except errors.CsiError as error:
        shown.fail(explain.explained(error, called.name) if error.code else error)
        return explain.exit_code(error)
    shown.show(output.document(reply) if arguments.json else reply, sys.stdout)
    return 0 if is_good else exit_codes.CHANGES


def _document(arguments: command.Arguments, called: rpc.Rpc) -> rpc.Document:
    """Return the request: the file of ``--request``, below the fields that are typed and the secrets."""
    document = {} if arguments.request is None else _read(arguments.request)
    document |= csi_fields.document(called, arguments.fields, INSTEAD_OF_ARGUMENTS)
    given = _read_secrets(arguments) if called.takes_secrets else {}
    if given:
        before = document.get(channel.SECRETS)
        document[channel.SECRETS] = {**(before if isinstance(before, Mapping) else {}), **given}
    return document


def _read(path: Path) -> rpc.Document:
    text = sys.stdin.read() if str(path) == "-" else inputs.text(path)
    found = draft.read_yaml(text, str(path))
    if not isinstance(found, Mapping):
        problem = errors.Problem(path="", got=type(found).__name__, allowed="a mapping of CSI's field names")
        raise errors.SpecError((problem,), str(path))
    return dict(found)


def _request(arguments: command.Arguments, called: rpc.Rpc, document: rpc.Document) -> Any:
    """Return the request. Raises `errors.SpecError` for a file, and `usage.UsageError` for what is typed."""
    try:
        return rpc.request_of(called, document, str(arguments.request or ""))
    except errors.SpecError as error:
        if arguments.request is None:
            raise usage.UsageError(error.problems, error.source) from None
        raise


def _refuse_readable_secrets(arguments: command.Arguments, document: Mapping[str, Any]) -> bool:
    """Raise `errors.RefusedError` if secrets could be read in transit; return whether the operator accepts that."""
    if not document.get(channel.SECRETS):
        return False
    is_insecure = inputs.is_insecure(arguments)
    with contextlib.suppress(errors.CsiError):  # a problem of the endpoint is reported by the call
        endpoint.refuse_secrets(endpoint.parse(arguments.endpoint), insecure=is_insecure)
    return is_insecure


def _answer(arguments: command.Arguments, called: rpc.Rpc, request: Any, *, is_insecure: bool) -> rpc.Document:
    """Return the response as a document; of a list, all its pages as one."""
    with forward.reached(arguments.endpoint) as reached:
        where = endpoint.parse(reached.local)
        deadline = time.monotonic() + arguments.timeout_s
        try:
            left_s = arguments.timeout_s
            if arguments.wait_ready:
                identity.until_ready(where, wait_s=left_s, clock=inputs.CLOCK)
                left_s = max(deadline - time.monotonic(), LEAST_S)
            endpoint.check(where)
            with channel.connect(where, attempt_s=left_s + 0.5, insecure=is_insecure) as connection:
                if called.is_list and not arguments.one_page:
                    replies = list(rpc.pages(connection, request, timeout_s=left_s))
                else:
                    replies = [channel.call(connection, request, timeout_s=left_s)]
        except errors.CsiError as error:
            raise reached.renamed(error) from error
    found = [rpc.document_of(reply) for reply in replies]
    return found[-1] | ({"entries": [entry for page in found for entry in page["entries"]]} if called.is_list else {})
