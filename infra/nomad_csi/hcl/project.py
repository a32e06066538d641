"""
The files that `nomad-csi init` writes: a spec or a program with comments, and supporting files. Pure.

Their texts are in ``templates/init``. No default of the spec is written.
"""

import functools
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
import yaml

from nomad_csi import errors
from nomad_csi.drivers import catalogue, facts
from nomad_csi.hcl import environment
from nomad_csi.plan import iam
from nomad_csi.spec import schema

FORMS = ("python", "yaml", "typescript", "hcl")
"""Languages of a Pulumi program, and files without one."""

EXAMPLES = {name: driver.example for name, driver in catalogue.DRIVERS.items() if not driver.storage}
STORAGES = ("ebs", "efs", *EXAMPLES)
"""Storage that can be requested: the keys of a spec under which Pulumi creates storage, and other drivers."""

COMPONENTS = {"ebs": "EbsVolume", "efs": "EfsVolume", "create": "CsiVolume"}
"""Components of volumes, by the key of a spec for the source of the storage."""

SPEC, SPEC_SCHEMA, STACK_SCHEMA = "storage.yaml", "spec.schema.json", "stack.schema.json"
PIPELINE = ".github/workflows/storage.yml"
HOOKS = ".pre-commit-config.yaml"
REQUIREMENTS = "requirements.txt"
PROJECT = "Pulumi.yaml"

PROGRAMS = {"python": "__main__.py", "typescript": "index.ts"}
"""File names of programs."""

_WIDTH = 100
_MAPS = frozenset({"config", "parameters"})
"""Keys of a spec whose values have the driver's names."""

_PLAIN = re.compile(r"[\w.+=,@/-]+")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The settings of a new project."""

    form: str
    storages: tuple[str, ...]
    region: str = ""
    zones: tuple[str, ...] = ()
    role_name: str = ""
    client_cidr: str = ""
    file_system_id: str = ""
    project: str
    """Name of the project."""

    stack: str
    version: str
    """Version of nomad-csi."""

    @property
    def spec(self) -> str:
        """The file of the spec; empty if a program is written instead."""
        return {"python": f"Pulumi.{self.stack}.yaml", "hcl": SPEC}.get(self.form, "")

    @property
    def runtime(self) -> str:
        """Pulumi's name of the language."""
        return {"typescript": "nodejs"}.get(self.form, self.form)


@dataclass(frozen=True, kw_only=True)
class ProjectFile:
    """A file of the project."""

    path: str
    text: str
    is_shared: bool = False
    """Whether it may exist before the project."""


def needs(form: str | None, storages: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the fields of `Wanted` that *storages* need."""
    fields: list[str] = []
    for name in storages:
        if name == "ebs":
            fields += ["region", "zones", "role_name"]
        elif name == "efs":
            fields += ["region", "file_system_id"] if form == "hcl" else ["region", "zones", "client_cidr"]
    return tuple(dict.fromkeys(fields))


def files(wanted: Wanted) -> tuple[ProjectFile, ...]:
    """Return the files of the project."""
    own = {"python": _python, "yaml": _yaml, "typescript": _typescript, "hcl": _hcl}[wanted.form](wanted)
    return (
        *own,
        _file(wanted, ".gitignore", "gitignore.j2", is_shared=True),
        _file(wanted, HOOKS, "pre-commit-config.yaml.j2", is_shared=True),
        _file(wanted, PIPELINE, "storage.yml.j2"),
    )


def steps(wanted: Wanted) -> tuple[tuple[str, str], ...]:
    """Return the next commands to type, each with its purpose."""
    lines = (line.partition("  # ") for line in _text("steps.txt.j2", wanted).splitlines())
    return tuple((typed, purpose) for typed, _, purpose in lines)


def _hcl(wanted: Wanted) -> Iterator[ProjectFile]:
    yield _file(wanted, SPEC, "storage.yaml.j2")
    yield ProjectFile(path=SPEC_SCHEMA, text=_json(schema.document()))


def _python(wanted: Wanted) -> Iterator[ProjectFile]:
    yield _file(wanted, PROJECT, "Pulumi.yaml.j2")
    yield _file(wanted, REQUIREMENTS, "requirements.txt.j2")
    yield _file(wanted, PROGRAMS["python"], "__main__.py.j2")
    yield _file(wanted, wanted.spec, "Pulumi.stack.yaml.j2")
    yield ProjectFile(path=STACK_SCHEMA, text=_json(schema.stack_config_schema()))


def _yaml(wanted: Wanted) -> Iterator[ProjectFile]:
    yield _file(wanted, PROJECT, "Pulumi.yaml.j2")


def _typescript(wanted: Wanted) -> Iterator[ProjectFile]:
    yield _file(wanted, PROJECT, "Pulumi.yaml.j2")
    yield _file(wanted, "package.json", "package.json.j2")
    yield _file(wanted, "tsconfig.json", "tsconfig.json.j2")
    yield _file(wanted, PROGRAMS["typescript"], "index.ts.j2")


def _file(wanted: Wanted, path: str, template: str, *, is_shared: bool = False) -> ProjectFile:
    storages = [_storage(name, wanted) for name in wanted.storages]
    components = [] if wanted.spec else list(_components(storages))
    text = _text(template, wanted, declared=storages, components=components)
    return ProjectFile(path=path, text=text, is_shared=is_shared)


def _storage(name: str, wanted: Wanted) -> Mapping[str, Any]:
    """Return a plugin and a volume for the storage *name*, and a comment on each."""
    if name not in EXAMPLES:
        return yaml.safe_load(_text(f"{name}.yaml.j2", wanted))  # type: ignore[no-any-return]
    driver = catalogue.DRIVERS[name]
    [plugin], [volume] = facts.example(driver).values()
    return {
        "plugin": plugin,
        "volume": volume,
        "about_plugin": f"{driver.called}. What it needs of the clients: `nomad-csi drivers {name}`.",
        "about_volume": f"An example, which the plugin creates. Replace {EXAMPLES[name].replace}.",
    }


def _components(storages: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each component of a program; ``plugin`` is the id of a volume's plugin, and empty for a plugin."""
    for each in storages:
        own = dict(each["plugin"])
        yield {
            "kind": "CsiPlugin",
            "plugin": "",
            "name": own.pop("id"),
            "about": each["about_plugin"],
            "own": _camel(own),
        }
    for each in storages:
        own = dict(each["volume"])
        source = next(name for name in COMPONENTS if name in own)
        driver = {"driver": each["plugin"]["driver"]} if source == "create" else {}
        name, plugin_id, created = own.pop("id"), own.pop("plugin_id"), own.pop(source)
        yield {
            "kind": COMPONENTS[source],
            "plugin": plugin_id,
            "name": name,
            "about": each["about_volume"],
            "own": _camel(driver | own | created),
        }


def _camel(value: Any) -> Any:
    """Return *value* with Pulumi's names of the keys."""
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {_camel_name(key): item if key in _MAPS else _camel(item) for key, item in value.items()}


def _camel_name(name: str) -> str:
    return re.sub("[_-](.)", lambda match: match[1].upper(), name)


class _Indented(yaml.SafeDumper):
    """Lists are indented below their key, as Pulumi writes them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent every list."""
        del indentless
        super().increase_indent(flow, indentless=False)


def _dump(value: Mapping[str, Any]) -> str:
    """Return *value* as YAML: its own keys on separate lines, short mappings and lists below them on one."""
    shown = []
    for key, item in value.items():
        style = None if isinstance(item, dict | list) else False
        shown.append(yaml.dump({key: item}, Dumper=_Indented, sort_keys=False, default_flow_style=style))
    return "".join(shown)


def _comment(text: str, head: str) -> environment.Quoted:
    lines = textwrap.wrap(text, _WIDTH - len(head), break_long_words=False, break_on_hyphens=False)
    return environment.Quoted("".join(f"{head}{line}\n" for line in lines))


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _text(template: str, wanted: Wanted, **more: Any) -> str:
    derived = {
        "spec": wanted.spec,
        "program": PROGRAMS.get(wanted.form, PROJECT),
        "runtime": wanted.runtime,
        "partition": iam.partition(wanted.region),
    }
    return _environment().get_template(template).render(vars(wanted) | derived | more)


@functools.cache
def _environment() -> jinja2.Environment:
    jinja_environment = environment.configured(jinja2.Environment, [environment.templates_folder() / "init"])
    jinja_environment.filters |= {
        "camel": _camel_name,
        "comment": _comment,
        "json": lambda value: environment.Quoted(json.dumps(value)),
        "literal": lambda value: environment.Quoted(re.sub(r'"([A-Za-z]\w*)": ', r"\1: ", json.dumps(value))),
        "plain": _plain,
        "item": lambda value: environment.Quoted(textwrap.indent(f"- {textwrap.indent(_dump(value), '  ')[2:]}", "  ")),
        "properties": lambda value: environment.Quoted(textwrap.indent(_dump(value).replace("${", "$${"), " " * 6)),
    }
    return jinja_environment


def _plain(text: str) -> environment.Quoted:
    """Return *text*, which means the same in YAML, in a shell and in a regular expression. Raises if it does not."""
    if not _PLAIN.fullmatch(text):
        raise errors.NomadCsiError(f"{text!r} cannot stand in a file of a project")
    return environment.Quoted(text)
