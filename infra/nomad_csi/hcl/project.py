"""
The files that `nomad-csi init` writes: a spec or a program with comments, and supporting files. Pure.

For a file that exists already, `ProjectFile.addition` is what it lacks. No default of the spec is written.
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
from nomad_csi.spec import names, schema

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

PROGRAMS = {"python": "__main__.py", "typescript": "index.ts"}
"""File names of programs."""

_IGNORED = {
    "python": (".venv/", "__pycache__/", ".pulumi-plugins/"),
    "yaml": (".venv/", "__pycache__/", ".pulumi-plugins/"),
    "typescript": (".venv/", ".pulumi-plugins/", "sdks/", "node_modules/"),
    "hcl": (".venv/",),
}

_SDK_SOURCE = "./.pulumi-plugins/nomad-csi/pulumi-resource-nomad-csi"
"""The source from which `pulumi package add` generates the SDK."""

_KEYS = "`nomad-csi schema` describes every key."
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

    project_file: str = "Pulumi.yaml"
    stack_config: str = ""
    program: str = ""
    """The file of the program, if it has one of its own."""

    @property
    def spec(self) -> str:
        """The file of the spec; empty if a program is written instead."""
        return {"python": self.stack_config, "hcl": SPEC}.get(self.form, "")

    @property
    def runtime(self) -> str:
        """Pulumi's name of the language."""
        return {"typescript": "nodejs"}.get(self.form, self.form)


@dataclass(frozen=True, kw_only=True)
class ProjectFile:
    """A file of the project."""

    path: str
    text: str
    addition: str = ""
    """The text to add if the file exists."""

    sign: str = ""
    """Text that marks a file as having the addition; empty: each line of the addition is checked."""

    is_shared: bool = False
    """Whether it may exist before the project."""

    def lacking(self, found: str) -> str:
        """Return the text to add to the existing file with content *found*."""
        if self.sign:
            return "" if self.sign in found else self.addition
        known = found.splitlines()
        return "".join(f"{line}\n" for line in self.addition.splitlines() if line not in known)


def needs(form: str, storages: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the fields of `Wanted` that *storages* need."""
    found: list[str] = []
    for name in storages:
        if name == "ebs":
            found += ["region", "zones", "role_name"]
        elif name == "efs":
            found += ["region", "file_system_id"] if form == "hcl" else ["region", "zones", "client_cidr"]
    return tuple(dict.fromkeys(found))


def files(wanted: Wanted) -> tuple[ProjectFile, ...]:
    """Return the files of the project."""
    own = {"python": _python, "yaml": _yaml, "typescript": _typescript, "hcl": _hcl}[wanted.form](wanted)
    ignored = "".join(f"{line}\n" for line in _IGNORED[wanted.form])
    hooks, pipeline = _template("pre-commit-config.yaml.j2", wanted), _template("storage.yml.j2", wanted)
    return (
        *own,
        ProjectFile(path=".gitignore", text=ignored, addition=ignored, is_shared=True),
        ProjectFile(
            path=HOOKS, text=hooks, addition=hooks.partition("repos:\n")[2], sign="nomad-csi check", is_shared=True
        ),
        ProjectFile(path=PIPELINE, text=pipeline, addition=pipeline, sign="nomad-csi"),
    )


def steps(wanted: Wanted) -> tuple[tuple[str, str], ...]:
    """Return the next commands to type, each with its purpose."""
    lines = (line.partition("  # ") for line in _template("steps.txt.j2", wanted).splitlines())
    return tuple((typed, purpose) for typed, _, purpose in lines)


def _hcl(wanted: Wanted) -> Iterator[ProjectFile]:
    head = _comment(f"The storage of the Nomad cluster. The files below nomad/ are rendered from it. {_KEYS}")
    own = f"owner: {wanted.project}/hcl\nout: nomad\n\n"
    yield ProjectFile(path=SPEC, text=f"# yaml-language-server: $schema={SPEC_SCHEMA}\n{head}{own}{_spec(wanted)}")
    yield ProjectFile(path=SPEC_SCHEMA, text=_json(schema.document()))


def _python(wanted: Wanted) -> Iterator[ProjectFile]:
    yield ProjectFile(path=wanted.project_file, text=_template("Pulumi.yaml.j2", wanted))
    line = f"# nomad-csi @ file:///PATH/nomad_csi-{wanted.version}-py3-none-any.whl\n"
    note = _comment("On no package index: name a wheel, or git+https://HOST/PATH@COMMIT, in the next line.")
    yield ProjectFile(path=REQUIREMENTS, text=note + line, addition=note + line, sign="nomad-csi", is_shared=True)
    program = _template("__main__.py.j2", wanted)
    yield ProjectFile(path=wanted.program, text=program, addition=program.partition("\n\n")[2], sign="storage_stack")
    region = f"aws:region: {wanted.region}\n" if wanted.region else ""
    config = textwrap.indent(f"{region}{names.STACK_CONFIG_KEY}:\n{textwrap.indent(_spec(wanted), '  ')}", "  ")
    head = _comment(f"The storage of the Nomad cluster stands below {names.STACK_CONFIG_KEY}. {_KEYS}")
    yield ProjectFile(
        path=wanted.stack_config,
        text=f"# yaml-language-server: $schema={STACK_SCHEMA}\n{head}config:\n{config}",
        addition=f"config:\n{config}",
        sign=names.STACK_CONFIG_KEY,
    )
    yield ProjectFile(path=STACK_SCHEMA, text=_json(schema.stack_config_schema()))


def _yaml(wanted: Wanted) -> Iterator[ProjectFile]:
    config = f"config:\n  aws:region: {wanted.region}\n" if wanted.region else ""
    program = f"{config}{_resources(wanted)}"
    text = f"{_template('Pulumi.yaml.j2', wanted)}{program}"
    yield ProjectFile(
        path=wanted.project_file,
        text=text,
        addition=program,
        sign="nomad-csi:index:",
    )


def _typescript(wanted: Wanted) -> Iterator[ProjectFile]:
    yield ProjectFile(path=wanted.project_file, text=_template("Pulumi.yaml.j2", wanted))
    for name in ("package.json", "tsconfig.json"):
        yield ProjectFile(path=name, text=_template(f"{name}.j2", wanted))
    program = _program_in_typescript(wanted)
    text = f"// The storage of a Nomad cluster.\n{program}"
    yield ProjectFile(
        path=wanted.program,
        text=text,
        addition=program,
        sign='from "nomad-csi"',
    )


def _storage(name: str, wanted: Wanted) -> Mapping[str, Any]:
    """Return a plugin and a volume for the storage *name*, and a comment on each."""
    if name not in EXAMPLES:
        return yaml.safe_load(_template(f"{name}.yaml.j2", wanted))  # type: ignore[no-any-return]
    driver = catalogue.DRIVERS[name]
    [plugin], [volume] = facts.example(driver).values()
    return {
        "plugin": plugin,
        "volume": volume,
        "about_plugin": f"{driver.called}. What it needs of the clients: `nomad-csi drivers {name}`.",
        "about_volume": f"An example, which the plugin creates. Replace {EXAMPLES[name].replace}.",
    }


def _spec(wanted: Wanted) -> str:
    """Return the spec as YAML."""
    storages = [_storage(name, wanted) for name in wanted.storages]
    lists = []
    for kind in ("plugin", "volume"):
        items = [
            _comment(each[f"about_{kind}"], 2) + f"- {textwrap.indent(_dump(each[kind]), '  ')[2:]}"
            for each in storages
        ]
        lists.append(f"{kind}s:\n" + textwrap.indent("\n".join(items), "  "))
    return "\n".join(lists)


def _declared(wanted: Wanted) -> Iterator[tuple[str, str, str, str, dict[str, Any]]]:
    """Yield each component's type, name, comment, the id of its plugin (empty: it is one), and its other arguments."""
    storages = [_storage(name, wanted) for name in wanted.storages]
    for each in storages:
        plugin = dict(each["plugin"])
        yield "CsiPlugin", plugin.pop("id"), each["about_plugin"], "", plugin
    for each in storages:
        volume = dict(each["volume"])
        source = next(name for name in COMPONENTS if name in volume)
        driver = {"driver": each["plugin"]["driver"]} if source == "create" else {}
        name, plugin_id, created = volume.pop("id"), volume.pop("plugin_id"), volume.pop(source)
        yield COMPONENTS[source], name, each["about_volume"], plugin_id, driver | volume | created


def _resources(wanted: Wanted) -> str:
    """Return the same as resources of a program in Pulumi YAML."""
    shown, ids = [], {}
    for kind, name, comment, plugin, own in _declared(wanted):
        # Pulumi would replace a "${" of the driver.
        properties = _dump(_camel(own)).replace("${", "$${")
        if plugin:
            properties = _dump({"pluginId": f"${{{plugin}.pluginId}}"}) + properties
            ids[f"default/{name}"] = f"${{{name}.externalId}}"
        head = f"{_comment(comment, 2)}{name}:\n  type: nomad-csi:index:{kind}\n  properties:\n"
        shown.append(textwrap.indent(head + textwrap.indent(properties, "    "), "  "))
    return "resources:\n" + "\n".join(shown) + f"\noutputs:\n  externalIds:\n{textwrap.indent(_dump(ids), '    ')}"


def _program_in_typescript(wanted: Wanted) -> str:
    """Return the same as a program in TypeScript."""
    kinds, shown, ids = set(), [], {}
    for kind, name, comment, plugin, own in _declared(wanted):
        kinds.add(kind)
        arguments = {key: _literal(value) for key, value in _camel(own).items()}
        if plugin:
            arguments = {"pluginId": f"{_camel_name(plugin)}.pluginId"} | arguments
            ids[f'"default/{name}"'] = f"{_camel_name(name)}.externalId"
        remark = _comment(comment, 1).replace("# ", "// ")
        shown.append(f'{remark}const {_camel_name(name)} = new {kind}("{name}", {_block(arguments)});\n')
    imported = f'import {{ {", ".join(sorted(kinds))} }} from "nomad-csi";\n\n'
    return imported + "\n".join([*shown, f"export const externalIds = {_block(ids)};\n"])


def _block(members: Mapping[str, str]) -> str:
    return "{\n" + "".join(f"    {key}: {value},\n" for key, value in members.items()) + "}"


def _literal(value: Any) -> str:
    """Return *value* as TypeScript: the members of a nested mapping on separate lines."""
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    if not isinstance(value, Mapping):
        return json.dumps(value)
    members = {key if key.isidentifier() else json.dumps(key): _literal(item) for key, item in value.items()}
    if any(isinstance(item, Mapping) for item in value.values()):
        return _block(members).replace("\n", "\n    ")
    return f"{{ {', '.join(f'{key}: {item}' for key, item in members.items())} }}"


def _camel(value: Any) -> Any:
    """Return *value* with Pulumi's names of the keys."""
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {_camel_name(key): item if key in _MAPS else _camel(item) for key, item in value.items()}


def _camel_name(name: str) -> str:
    return re.sub("[_-](.)", lambda found: found[1].upper(), name)


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
        shown.append(yaml.dump({key: item}, Dumper=_Indented, sort_keys=False, default_flow_style=style, width=_WIDTH))
    return "".join(shown)


def _comment(text: str, margin: int = 0) -> str:
    lines = textwrap.wrap(text, _WIDTH - margin - 4, break_long_words=False, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines)


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _template(name: str, wanted: Wanted) -> str:
    derived = {
        "spec": wanted.spec,
        "runtime": wanted.runtime,
        "sdk_source": _SDK_SOURCE,
        "partition": iam.partition(wanted.region),
    }
    return _environment().get_template(name).render(vars(wanted) | derived)


@functools.cache
def _environment() -> jinja2.Environment:
    made = environment.configured(jinja2.Environment, [environment.templates_folder() / "init"])
    made.filters |= {"plain": _plain, "json": lambda text: environment.Quoted(json.dumps(text))}
    return made


def _plain(text: str) -> environment.Quoted:
    """Return *text*, which means the same in YAML, in a shell and in a regular expression. Raises if it does not."""
    if not _PLAIN.fullmatch(text):
        raise errors.NomadCsiError(f"{text!r} cannot stand in a file of a project")
    return environment.Quoted(text)
