"""Inputs that several commands share: the spec, the stack's outputs, the options of a Nomad connection."""

import collections
import contextlib
import functools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
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


def chosen_volumes(
    planned: Iterable[model.VolumePlan], keys: Iterable[tuple[str, str]]
) -> tuple[model.VolumePlan, ...]:
    """
    Return the volumes of *planned* that *keys* name, by their own key or by that of their set, in the spec's order.

    A key without a namespace names the one volume of that id. Raises `click.UsageError` for a key that names none.
    """
    volumes = tuple(planned)
    known = collections.defaultdict(set)
    for item in volumes:
        known[item.key].add(item.key)
        known[_INDEX.sub("", item.key)].add(item.key)
    wanted: set[str] = set()
    for namespace, volume_id in keys:
        meant = [key for key in known if key == f"{namespace or key.partition('/')[0]}/{volume_id}"]
        if len(meant) != 1:
            allowed = f"one of {', '.join(sorted(meant or known)) or 'none: the spec has no such volume'}"
            got = f"{namespace}/{volume_id}" if namespace else volume_id
            raise command.usage("VOLUME", got=repr(got), allowed=allowed)
        wanted |= known[meant[0]]
    return tuple(item for item in volumes if item.key in wanted)


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
stack_output_of = functools.partial(command.option, "--stack-output FILE", _STACK_OUTPUT)
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
)


def _connection_option(name: str) -> command.Declare[Any]:
    text = f"{CONNECTION[name]} (default: {VARIABLES[name]})"
    if name == "address":
        text += "; the token comes from NOMAD_TOKEN only, and is not sent to an address of a stack config alone"
    # The namespace is read first: it is the default of a volume that is named by its id alone.
    settings = {"section": command.CONNECTION, "is_eager": name == "namespace"}
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

    An option takes precedence over a stack config among *specs*, and this over the NOMAD_* variables; but neither the
    token of the environment nor *secrets*, such as ``CSI secrets``, are sent to an address that only a file contains.
    The command's output does not show the credentials from here on. Raises `errors.SpecError`.
    """
    settings = connection(arguments, specs, secrets=secrets)
    output.hide(settings.secrets)
    with nomad.Nomad(settings, clock=CLOCK) as client:
        yield client


@contextlib.contextmanager
def reading(arguments: command.Arguments, specs: Iterable[Path] = ()) -> Iterator[Any]:
    """Yield the client of `connect`, after the warning of commands that read volumes."""
    with connect(arguments, specs) as client:
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

    Raises `errors.SpecError`, and `click.UsageError` for wrong options, and for stack configs of two clusters.
    """
    given = {name: value for name in (*CONNECTION, _INSECURE) if (value := getattr(arguments, name, None)) is not None}
    of_stacks = [settings for path in specs if (settings := _connection_of(path, given))]
    if any(settings != of_stacks[0] for settings in of_stacks):
        raise command.usage("SPEC", got="stack configs of several clusters", fix="name one, or pass --address")
    of_stack = of_stacks[0] if of_stacks else {}
    try:
        return nomad.Connection.from_environment(environment, of_stack, secrets=secrets, **given)
    except errors.SpecError as error:
        if {problem.path.partition(" ")[0] for problem in error.problems} <= set(given):
            raise click.UsageError(str(error), click.get_current_context(silent=True)) from None
        raise


def target(arguments: command.Arguments, specs: Iterable[Path] = ()) -> Any:
    """
    Return the `nomad.Connection` of a job on the cluster: that of `connection` without credentials.

    For a job that is only printed: no request is sent. Raises what `connection` raises.
    """
    credentials = {VARIABLES[name] for name in CREDENTIALS}
    without = {name: value for name, value in os.environ.items() if name not in credentials}
    return connection(arguments, specs, environment=without)


def _connection_of(path: Path, given: Iterable[str] = ()) -> dict[str, Any]:
    """Return the connection settings of *path* if it is a stack config, except those *given*. Raises `SpecError`."""
    config = _stack_config(path) if path.suffix in YAML and path.is_file() else None
    if config is None:
        return {}
    settings: dict[str, Any] = {}
    for name, setting in STACK_SETTINGS.items():
        key = config.key(setting)
        value = config.values.get(key)
        if value in (None, "") or name in given:
            continue
        if encrypted.is_secure(value):
            fix = f"name it: --{name.replace('_', '-')}"
            problem = errors.Problem(path=f"config.{key}", got="an encrypted value", allowed="text, in clear", fix=fix)
            raise errors.SpecError((problem,), str(path))
        settings[name] = value in (True, "true") if name == _INSECURE else value  # Pulumi writes booleans as strings
    return settings


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
    address: str = _connection_of(spec).get("address", "")
    return address


class LocatedError(errors.SpecError):
    """Problems of a spec with their lines in its file, each printed as ``FILE:LINE: PATH: PROBLEM``."""

    def __init__(self, error: errors.SpecError, path: Path) -> None:
        super().__init__(error.problems, error.source, error.ids)
        inside = {item.path for item in error.problems if not _POSITION.match(item.path)}
        of_paths = lines(path, inside) if inside else {}
        located = []
        for text, item in zip(error.lines, error.problems, strict=True):
            position = _POSITION.match(item.path)
            line = int(position[1]) if position and position[1] else of_paths.get(item.path)
            located.append((line, text.removeprefix(f"line {line}, "), item))
        self.located = sorted(located, key=lambda problem: problem[0] or 0)
        """Line, text and problem of each; the line is ``None`` for the whole file."""

    def __str__(self) -> str:
        return "\n".join(f"{self.source}{f':{line}' if line else ''}: {text}" for line, text, _problem in self.located)


_POSITION = re.compile(r"line (\d+), |byte |$")
"""The path of a problem that is no path in a spec: a position in the file, or nothing."""


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
    if path.suffix not in YAML:
        return ""
    document = read_document(path)
    value = document.get(name) if isinstance(document, Mapping) else None
    return value if isinstance(value, str) else ""


def lines(file: Path, paths: Iterable[str]) -> dict[str, int]:
    """Return the line in *file* of each of the *paths* in its spec, such as ``volumes[0].ebs.size_gib``."""
    config = _stack_config(file)
    prefix = f"config.{config.key('storage')}." if config else ""
    whole = {path: f"{prefix}{path}" for path in paths}
    line_numbers = yaml_text.lines_of(text(file), whole.values())
    return {path: line_numbers[below] for path, below in whole.items()}


def read_external_ids(path: Path | None) -> dict[str, str]:
    """Return ``{"namespace/volume_id": external_id}`` from a stack's outputs; empty without a file."""
    if path is None:
        return {}
    try:
        external_ids = json.loads(text(path)).get("externalIds")
    except (ValueError, AttributeError):
        external_ids = None
    if not isinstance(external_ids, Mapping) or not all(isinstance(value, str) for value in external_ids.values()):
        allowed = "the JSON of `pulumi stack output --json`, with externalIds in it"
        raise errors.SpecError((errors.Problem(path="externalIds", got="something else", allowed=allowed),), str(path))
    return dict(external_ids)


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


def _own_namespace(ctx: click.Context) -> str:
    """Return the default namespace of a volume."""
    option = ctx.params.get("namespace")
    return namespace(option if isinstance(option, str) else "", "default")


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


VOLUME: dict[str, Any] = {"type": volume_key}
"""Settings of an option or argument that names a volume."""
