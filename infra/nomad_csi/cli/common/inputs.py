"""Inputs that several commands share: the spec, the stack's outputs, the options of a Nomad connection."""

import contextlib
import functools
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click

from nomad_csi import clock, errors, nomad
from nomad_csi.cli.common import command, output
from nomad_csi.nomad.connection import CREDENTIALS, VARIABLES
from nomad_csi.plan import model, storage
from nomad_csi.pulumi_state import stack_config
from nomad_csi.spec import draft, encrypted, names, yaml_text

CLOCK = clock.SYSTEM
"""For all that a command waits for."""

# Volumes of a spec that the arguments of a command name.


_INDEX = re.compile(r"\[\d+\]$")
"""Suffix of the id of each volume of a set."""


def set_of(key: str) -> str:
    """Return the set of the volume *key*: ``default/data`` for ``default/data[0]``; *key* itself if it is in none."""
    return _INDEX.sub("", key)


def chosen_volumes(
    planned: Iterable[model.VolumePlan], keys: Iterable[tuple[str, str]]
) -> tuple[model.VolumePlan, ...]:
    """
    Return the volumes of *planned* that *keys* name, by their own key or by that of their set, in the spec's order.

    A key without a namespace names the one volume of that id. Raises `command.UsageError` for a key that names none.
    """
    found = tuple(planned)
    known: dict[str, set[str]] = {}
    for item in found:
        for key in (item.key, set_of(item.key)):
            known.setdefault(key, set()).add(item.key)
    wanted: set[str] = set()
    problems = []
    for text, (namespace, volume_id) in sorted({"/".join(filter(None, key)): key for key in keys}.items()):
        meant = [key for key in known if key == f"{namespace or key.partition('/')[0]}/{volume_id}"]
        if len(meant) == 1:
            wanted |= known[meant[0]]
            continue
        ids = known if namespace else {key.partition("/")[2] for key in known}
        fix = "" if meant else command.nearest(text, ids)
        allowed = f"one of {', '.join(sorted(meant or known)) or 'none: the spec has no such volume'}"
        problems.append(errors.Problem(path="VOLUME", got=repr(text), allowed=allowed, fix=fix))
    command.refuse(problems)
    return tuple(item for item in found if item.key in wanted)


# The spec, the outputs of a stack, the connection.


YAML = frozenset({".yaml", ".yml"})
"""Extensions of files that may hold a spec."""

STACK_SETTINGS = {"address": "address", "namespace": "namespace", "region": "region", "insecure_http": "insecureHttp"}
"""Connection settings that are read from a stack config, and their names beside the spec. Its token is encrypted."""

CONNECTION = {
    "address": "URL of Nomad's HTTP API, such as https://nomad.example.com:4646",
    "namespace": "Nomad namespace",
    "region": "Nomad region",
    "ca_cert": "PEM file with the CA certificate of the API",
    "ca_path": "directory with PEM files of CA certificates",
    "client_cert": "PEM file with the client certificate",
    "client_key": "PEM file with its key",
    "tls_server_name": "server name (SNI) to verify the certificate of the API for",
}
"""Connection settings with an option, and their description."""

_INSECURE = "insecure_http"


_STACK_OUTPUT = "output of `pulumi stack output --json`: external ids of storage that Pulumi created"
stack_output_of = functools.partial(command.option, "--stack-output FILE", _STACK_OUTPUT, job="included")
stack_output = stack_output_of()


templates = command.option("--templates DIR", "directory with templates of your own, which go before ours")


aws_region = functools.partial(command.option, "--aws-region REGION")
"""Returns the decorator that adds the AWS region, with a text on its purpose."""
insecure = command.option(
    "--insecure-http",
    "send token and CSI secrets unencrypted to other machines too: plain HTTP to Nomad, plain gRPC to plugins "
    "(default: NOMAD_CSI_INSECURE_HTTP, else refuse)",
    default=None,
    section=command.CONNECTION,
    job="included",
)


def _connection_option(name: str) -> command.Declare[Any]:
    text = f"{CONNECTION[name]} (default: {VARIABLES[name]})"
    if name == "address":
        text += "; the token comes from NOMAD_TOKEN only, and is not sent to an address of a stack config alone"
    # The namespace is read first: it is the default of a volume that is named by its id alone.
    settings = {"section": command.CONNECTION, "job": "included", "is_eager": name == "namespace"}
    return command.option(f"--{name.replace('_', '-')} VALUE", text, default=None, **settings)


nomad_connection = command.together(*map(_connection_option, CONNECTION), insecure)
"""The options of a Nomad connection; the defaults are a stack's config, or NOMAD_* variables."""


def connection_options() -> list[click.Parameter]:
    """Return the options of `nomad_connection`, for the help that describes them."""
    return list(reversed(nomad_connection(click.Command("connection")).params))


def is_insecure(arguments: command.Arguments) -> bool:
    """Return whether CSI secrets may go unencrypted to other machines. For commands that do not ask Nomad."""
    own = {VARIABLES[_INSECURE]: os.environ.get(VARIABLES[_INSECURE], "")}
    return nomad.Connection.from_environment(own, insecure_http=arguments.insecure_http).insecure_http


@contextlib.contextmanager
def connect(arguments: command.Arguments, specs: Iterable[Path] = (), *, secrets: str = "") -> Iterator[Any]:
    """
    Yield a Nomad client for *arguments*. The token comes from NOMAD_TOKEN only: all users can read arguments.

    An option takes precedence over the stack configs among *specs*, and these over the NOMAD_* variables. If the last
    two differ, standard error names the one in use; but neither the token of the environment nor *secrets*, such as
    ``CSI secrets``, are sent to an address that only a file contains. The command's output does not show the
    credentials from here on. The error of a call that Nomad denies names a token that it does not know. Raises
    `errors.SpecError`.
    """
    found = connection(arguments, specs, secrets=secrets)
    output.hide(found.secrets)
    with nomad.Nomad(found, clock=CLOCK) as client:
        try:
            yield client
        except errors.NomadApiError as error:
            from nomad_csi.nomad import tokens  # noqa: PLC0415  # only a denied call pays for it

            is_denied = error.status == HTTPStatus.FORBIDDEN and found.token
            if is_denied and (unknown := tokens.unknown(client)):
                raise unknown from error
            raise


@contextlib.contextmanager
def reading(
    arguments: command.Arguments, specs: Iterable[Path] = (), *, waiting_for: str = "asking Nomad and the plugins"
) -> Iterator[Any]:
    """Yield the client of `connect`, after the warning of commands that read volumes; *waiting_for* is shown."""
    with connect(arguments, specs) as client, output.waiting(waiting_for):
        warn_of_erasing(client)
        yield client


def warn_of_erasing(client: Any) -> None:
    """Warn on standard error that reading volumes can erase their secrets, if a server is old enough for that."""
    from nomad_csi.volumes import secret_safety  # noqa: PLC0415  # only commands that ask Nomad pay for it

    if why := secret_safety.risk(client):
        output.print_warning(f"warning: {why}; `nomad-csi explain nomad-erases-secrets` explains it")


def connection(
    arguments: command.Arguments,
    specs: Iterable[Path] = (),
    *,
    secrets: str = "",
    environment: Mapping[str, str] = os.environ,
) -> Any:
    """
    Return the `nomad.Connection` that `connect` uses, without sending a request.

    Raises `errors.SpecError`, and `command.UsageError` if options alone are wrong.
    """
    given = {name: value for name in (*CONNECTION, _INSECURE) if (value := getattr(arguments, name, None)) is not None}
    of_stacks = _connection_of_stacks(specs, given)
    named = {name: value for name, (value, *_) in of_stacks.items()}
    try:
        found = nomad.Connection.from_environment(environment, named, secrets=secrets, **given)
    except errors.SpecError as error:
        if {problem.path.partition(" ")[0] for problem in error.problems} <= set(given):
            raise command.UsageError(error.problems, error.source) from None
        raise
    for name, (value, key, path) in of_stacks.items():
        own = VARIABLES[name]
        if name != _INSECURE and environment.get(own, value) not in {"", value}:
            message = f"{name} {value} is used, from {key} in {path}; {own} has another (--{name})"
            print(message, file=sys.stderr)
    return found


def target(arguments: command.Arguments, specs: Iterable[Path] = ()) -> Any:
    """
    Return the `nomad.Connection` of a job on the cluster: that of `connection` without credentials.

    For a job that is only printed: no request is sent. Raises what `connection` raises.
    """
    credentials = {VARIABLES[name] for name in CREDENTIALS}
    without = {name: value for name, value in os.environ.items() if name not in credentials}
    return connection(arguments, specs, environment=without)


def _connection_of_stacks(paths: Iterable[Path], given: Mapping[str, Any]) -> dict[str, tuple[Any, str, Path]]:
    """Return the connection settings of stack configs, with key and file, except those *given*."""
    found: dict[str, tuple[Any, str, Path]] = {}
    problems = []
    for path in paths:
        for name, (value, key) in _connection_of(path).items():
            if name in given:
                continue
            fix = f"name it: --{name.replace('_', '-')}"
            where = f"config.{key}"
            if not isinstance(value, bool if name == _INSECURE else str):
                got = "something else"
                allowed = "true or false" if name == _INSECURE else "text, in clear"
                problems.append(errors.Problem(path=where, got=got, allowed=allowed, fix=fix))
            elif found.setdefault(name, (value, key, path))[0] != value:
                one = f"the same as in {found[name][2]}"
                problems.append(errors.Problem(path=where, got=repr(value), allowed=one, fix=fix))
        if problems:
            raise errors.SpecError(tuple(problems), str(path))
    return found


def _connection_of(path: Path) -> dict[str, tuple[Any, str]]:
    """Return the connection settings of *path* with their keys if it is a stack config; else nothing."""
    config = _stack_config(path) if path.suffix in YAML and path.is_file() else None
    if config is None:
        return {}
    found: dict[str, tuple[Any, str]] = {}
    for name, setting in STACK_SETTINGS.items():
        key = config.key(setting)
        value = config.values.get(key)
        if value in (None, ""):
            continue
        if name == _INSECURE and isinstance(value, str):  # Pulumi writes booleans as strings
            value = {"true": True, "false": False}.get(value.lower(), value)
        found[name] = (value, key)
    return found


def _stack_config(path: Path) -> stack_config.StackConfig | None:
    """Return the stack config in the file at *path*; ``None`` if it is none."""
    given = text(path)  # parsed only if it may be one: a large spec takes seconds
    if not ("config" in given and "storage" in given):
        return None
    return stack_config.find_config(draft.read_yaml(given, str(path)), path)


def holds_spec(path: Path) -> bool:
    """Return whether the file at *path* is a stack config with a spec."""
    config = _stack_config(path)
    return config is not None and config.values.get(config.key("storage")) is not None


def address_of_stack(spec: Path) -> str:
    """Return Nomad's address from *spec* if that is a stack config with an unencrypted address; else nothing."""
    found, _ = _connection_of(spec).get("address", ("", ""))
    return found if isinstance(found, str) else ""


class LocatedError(errors.SpecError):
    """Problems of a spec with their lines in its file, each printed as ``FILE:LINE: PATH: PROBLEM``."""

    def __init__(self, error: errors.SpecError, path: Path) -> None:
        super().__init__(error.problems, error.source, error.ids)
        lines = _lines_of(path, [problem.path for problem in error.problems])
        located = [
            (lines[item.path], _NAMES_LINE.sub(r"\2", text), item)
            for text, item in zip(error.lines, error.problems, strict=True)
        ]
        self.located = sorted(located, key=lambda problem: problem[0] or 0)
        """Line, text and problem of each; the line is ``None`` for the whole file."""

    def __str__(self) -> str:
        return "\n".join(f"{self.source}{f':{line}' if line else ''}: {text}" for line, text, _problem in self.located)


_NAMES_LINE = re.compile(r"^line (\d+), (column \d+)")
_NO_LINE = re.compile(r"|byte \d+")


def _lines_of(file: Path, paths: list[str]) -> dict[str, int | None]:
    """Return the line of the spec in *file* for each of the *paths* of its problems; ``None`` for the whole file."""
    named = {path: _NAMES_LINE.fullmatch(path) for path in paths}
    found = {path: int(line[1]) if line else None for path, line in named.items()}
    if inside := {path for path in paths if not found[path] and not _NO_LINE.fullmatch(path)}:
        found |= lines(file, inside)
    return found


def read_plan(path: Path) -> model.StoragePlan:
    """Return the plan of the spec in *path*. Raises `LocatedError` with all problems."""
    try:
        return storage.plan_document(read_document(path), source=str(path))
    except errors.SpecError as error:
        raise LocatedError(error, path) from None


def read_document(path: Path) -> Any:
    """Return the unparsed spec in *path*; of a stack config, that part. Raises `errors.SpecError`."""
    document = draft.read_yaml(text(path), str(path))
    config = stack_config.find_config(document, path)
    if config is None:
        return document
    key = config.key("storage")
    value = config.values.get(key)
    if value is None or encrypted.is_secure(value):
        got = "nothing" if value is None else "an encrypted value"
        problem = errors.Problem(path=f"config.{key}", got=got, allowed="the storage spec, in clear")
        raise errors.SpecError((problem,), str(path))
    return encrypted.marked(value)


def setting(path: Path, name: str) -> str:
    """Return the text *name* at the top of the spec in *path*; empty if it has none, or is no spec."""
    if path.suffix not in YAML or not re.search(rf"^[ \t]*['\"]?{name}['\"]?:", text(path), re.MULTILINE):
        return ""  # parsed only if it may be there: a large spec takes seconds
    document = read_document(path)
    value = document.get(name) if isinstance(document, Mapping) else None
    return value if isinstance(value, str) else ""


def lines(file: Path, paths: Iterable[str]) -> dict[str, int]:
    """Return the line in *file* of each of the *paths* in its spec, such as ``volumes[0].ebs.size_gib``."""
    config = _stack_config(file)
    prefix = f"config.{config.key('storage')}." if config else ""
    whole = {path: f"{prefix}{path}" for path in paths}
    found = yaml_text.lines_of(text(file), whole.values())
    return {path: found[below] for path, below in whole.items()}


def advising(spec: Path) -> contextlib.AbstractContextManager[None]:
    """Return a context manager in which advice fits *spec*: without Pulumi unless that is a stack's config."""
    from nomad_csi.findings import printing  # noqa: PLC0415  # only commands that advise pay for it

    return contextlib.nullcontext() if _stack_config(spec) else printing.advise_files()


def read_external_ids(path: Path | None) -> dict[str, str]:
    """Return ``{"namespace/volume_id": external_id}`` from a stack's outputs; empty without a file."""
    if path is None:
        return {}
    try:
        found = json.loads(text(path)).get("externalIds")
    except (ValueError, AttributeError):
        found = None
    if not isinstance(found, Mapping) or not all(isinstance(value, str) for value in found.values()):
        allowed = "the JSON of `pulumi stack output --json`, with externalIds in it"
        raise errors.SpecError((errors.Problem(path="externalIds", got="something else", allowed=allowed),), str(path))
    return dict(found)


def text(path: Path) -> str:
    """Return the text of the file at *path*. Raises `errors.SpecError` if it is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        allowed = "text in UTF-8"
        problem = errors.Problem(path=f"byte {error.start}", got="something else", allowed=allowed)
        raise errors.SpecError((problem,), str(path)) from None


def namespace(given: str | None, otherwise: str) -> str:
    """Return the namespace *given*, else that of the environment, else *otherwise*."""
    return given or os.environ.get(VARIABLES["namespace"]) or otherwise


def _suggested_volumes(ctx: click.Context, incomplete: str) -> Iterator[str]:
    """Yield completions of volumes: those of the spec in the command line, or else of the specs in this folder."""
    words = ctx.params.get("words") or ()
    spec = ctx.params.get("spec") or next((word for word in words if isinstance(word, Path)), None)
    given = spec or ctx.params.get("source")
    for path in [given] if given else sorted([*Path().glob("storage.y*ml"), *Path().glob("Pulumi.*.y*ml")]):
        with contextlib.suppress(errors.SpecError, OSError):  # completion shows what exists, and no problems
            for namespace, volume_id in draft.volume_keys(read_document(path)):
                is_short = "/" not in incomplete and (spec or namespace == _own_namespace(ctx))
                where = "" if is_short else f"{namespace}/"
                yield from (f"{where}{name}" for name in ([set_of(volume_id)] if spec else []) + [volume_id])


def _own_namespace(ctx: click.Context) -> str:
    """Return the default namespace of a volume."""
    option = ctx.params.get("namespace")
    return namespace(option if isinstance(option, str) else "", "default")


complete_volumes = command.completing(_suggested_volumes)


def volume_key(given: str) -> tuple[str, str]:
    """
    Return namespace and id of ``volume`` or ``namespace/volume``; the default namespace is that of the connection.

    Raises `click.BadParameter`.
    """
    namespace, volume_id = spec_volume_key(given)
    if namespace:
        return namespace, volume_id
    named = _own_namespace(click.get_current_context())
    if named == names.EVERYWHERE:
        raise command.wrong("namespace/volume, since the namespace is *", given)
    return named, volume_id


def spec_volume_key(given: str) -> tuple[str, str]:
    """Return namespace and id, the first empty if *given* has none. Raises `click.BadParameter`."""
    namespace, slash, volume_id = given.rpartition("/")
    if not volume_id or "/" in namespace or volume_id in {".", ".."} or bool(slash) != bool(namespace):
        raise command.wrong("volume or namespace/volume, such as mysql or default/mysql", given)
    return namespace, volume_id


VOLUME: dict[str, Any] = {"type": volume_key, "shell_complete": complete_volumes}
"""Settings of an option or argument that names a volume."""
