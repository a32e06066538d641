"""
Rules for configuration, credentials, mount flags and all text of a job file.

Required values, values that would expose a secret, and text that Nomad would evaluate.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi.errors import Problem, path_of
from nomad_csi.plan import plugins, task_secrets
from nomad_csi.spec import model as spec
from nomad_csi.spec import names
from nomad_csi.text import secrets as looks

_HIDDEN = "[not shown]"
_IN_JOB = "no secret: what stands here would stand in the job file"
_TO_VAULT = "put the value into a Nomad variable or Vault, and name it under credentials"


def check(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    """Yield the problems of ``config``, ``credentials`` and ``registry_credentials`` of *plugin*."""
    if driver.config_file:
        yield from _file(plugin, driver, driver.config_file, f"{path}.config")
    else:
        yield from _settings(plugin, driver, f"{path}.config")
    yield from _credentials(plugin, driver, path)
    yield from _environment(plugin, driver, f"{path}.environment")
    if driver is plugin.driver:
        yield from _described(driver, f"{path}.driver")


def _file(plugin: spec.PluginSpec, driver: spec.DriverSpec, file: spec.ConfigFileSpec, path: str) -> Iterator[Problem]:
    for key in file.required:
        if key not in plugin.config:
            yield Problem(path=f"{path}.{key}", got="nothing", allowed=f"a value: {driver.name} does not start without")
    for key, values in file.values.items():
        value = plugin.config.get(key)
        is_text = isinstance(value, str)
        if key in plugin.config and not (is_text and value in values):
            got = repr(value) if is_text else _HIDDEN
            yield Problem(path=f"{path}.{key}", got=got, allowed=f"one of {', '.join(sorted(values))}")
    for key, reasons in file.not_in_containers.items():
        value = plugin.config.get(key)
        if isinstance(value, str) and value in reasons and plugins.runs_image(plugin, driver):
            allowed = f"a value that works in a container; not this one: {reasons[value]}"
            yield Problem(path=f"{path}.{key}", got=repr(value), allowed=allowed, fix="use raw_exec as task_driver")
    yield from _values(plugin.config, path, "")
    if task_secrets.items_of(plugin.config) and not plugin.secret:
        allowed = "where the secrets come from: nomad_variable or vault"
        where = path.removesuffix(".config")
        yield Problem(path=f"{where}.credentials", got="nothing", allowed=allowed, fix="add credentials")


def _values(value: Any, path: str, name: str) -> Iterator[Problem]:
    """Yield the parts of *value*, at *path* under *name*, that cannot be written into the job file."""
    if isinstance(value, dict) and task_secrets.FROM_SECRET in value:
        item = value[task_secrets.FROM_SECRET]
        if set(value) != {task_secrets.FROM_SECRET} or not isinstance(item, str):
            yield Problem(path=path, got=_HIDDEN, allowed=f"{{{task_secrets.FROM_SECRET}: ITEM}} and nothing beside it")
        elif not names.ITEM.fullmatch(item):
            yield Problem(path=f"{path}.{task_secrets.FROM_SECRET}", got=repr(item), allowed=names.ITEM_ALLOWED)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _text(str(key), f"{path}.{key}")
            yield from _values(item, f"{path}.{key}", str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, f"{path}[{index}]", name)
    elif isinstance(value, str) and value:
        yield from _text(value, path)
        if looks.is_secret(name, value):
            allowed = f"{{{task_secrets.FROM_SECRET}: ITEM}}: what stands here would stand in the job file"
            yield Problem(path=path, got=_HIDDEN, allowed=allowed, fix=_TO_VAULT)


def _text(value: str, path: str) -> Iterator[Problem]:
    if any(mark in value for mark in task_secrets.FORBIDDEN):
        allowed = f"text without {' '.join(task_secrets.FORBIDDEN)}: Nomad's templates would evaluate it"
        yield Problem(path=path, got=_HIDDEN, allowed=allowed)
    else:
        yield from job_text(value, path)


def _settings(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    for key, value in plugin.config.items():
        if key not in driver.settings:
            known = ", ".join(sorted(driver.settings))
            allowed = f"one of {known}" if known else f"none: {driver.name} has no configuration of its own"
            yield Problem(path=f"{path}.{key}", got="an unknown key", allowed=allowed, fix="remove it")
        elif isinstance(value, dict | list | None) or not re.fullmatch(driver.settings[key].pattern, str(value)):
            yield Problem(path=f"{path}.{key}", got=_HIDDEN, allowed=driver.settings[key].text)
        elif isinstance(value, str) and looks.is_secret(key, value):
            yield Problem(path=f"{path}.{key}", got=_HIDDEN, allowed=_IN_JOB, fix=_TO_VAULT)
        elif isinstance(value, str):
            yield from _text(value, f"{path}.{key}")
    for key, setting in driver.settings.items():
        if setting.default is None and key not in plugin.config:
            yield Problem(path=f"{path}.{key}", got="nothing", allowed=setting.text, fix=f"add config.{key}")


def _credentials(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    roles = driver.roles.values()
    where = f"{path}.credentials"
    asked = {item for role in roles for item in (*role.secret_environment.values(), *role.secret_files.values())}
    if plugin.credentials and not asked and not task_secrets.items_of(plugin.config):
        yield Problem(path=where, got="some", allowed=f"none: {driver.name} takes no credentials here", fix="remove it")
    elif asked and not plugin.credentials and not driver.credentials_optional:
        allowed = f"nomad_variable or vault, with the items {', '.join(sorted(asked))}"
        yield Problem(path=where, got="nothing", allowed=allowed, fix="add credentials")


def _environment(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    filled = {name for role in driver.roles.values() for name in role.secret_environment}
    for name in plugin.environment:
        if name in filled and plugin.credentials:
            allowed = f"no {name}: the credentials of this plugin give it"
            yield Problem(path=f"{path}.{name}", got=_HIDDEN, allowed=allowed, fix="remove it")
        elif name in filled or looks.is_secret(name, plugin.environment[name]):
            yield Problem(path=f"{path}.{name}", got=_HIDDEN, allowed=_IN_JOB, fix=_TO_VAULT)


def _described(driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    """Yield each secret in clear in a *driver* that the spec describes; placeholders are filled from other keys."""
    paths = [
        f"settings.{key}.default" for key, each in driver.settings.items() if looks.is_secret(key, each.default or "")
    ]
    for name, role in driver.roles.items():
        hidden = looks.hidden([plugins.without_placeholders(argument) for argument in role.arguments])
        paths += [f"roles.{name}.arguments[{index}]" for index, is_secret in enumerate(hidden) if is_secret]
        for field in ("environment", "credentials_environment"):
            given = {key: plugins.without_placeholders(value) for key, value in getattr(role, field).items()}
            paths += [f"roles.{name}.{field}.{key}" for key in looks.keys_of(given)]
    for where in paths:
        yield Problem(path=f"{path}.{where}", got=_HIDDEN, allowed=_IN_JOB, fix=_TO_VAULT)


def check_volume(volume: spec.VolumeSpec, path: str) -> Iterator[Problem]:
    """Yield each secret of *volume* that is in clear text outside of its ``secrets``."""
    for name, entries in (("context", volume.context), ("parameters", volume.parameters)):
        for key in looks.keys_of(entries):
            allowed = "no secret: this value is written into the volume file, and Nomad shows it"
            yield Problem(path=f"{path}.{name}.{key}", got=_HIDDEN, allowed=allowed, fix="hand it over in `secrets`")
    for index, flag in enumerate(volume.mount_options.mount_flags):
        if looks.flag_has_secret(flag):
            allowed = "no secret in clear: this value is written into the volume file"
            fix = "encrypt it in the stack's config, or hand it over in `secrets`"
            yield Problem(path=f"{path}.mount_options.mount_flags[{index}]", got=_HIDDEN, allowed=allowed, fix=fix)


# All text of a plugin that reaches a job file.


_WITH_VARIABLES = frozenset(
    {"arguments", "credentials_environment", "default", "environment", "extra_arguments", "optional_arguments"}
)
"""Keys below which text may have Nomad's runtime variables."""

_IN_TEMPLATES = frozenset({"credentials", "registry_credentials"})
"""Keys of text that reaches the data of a template, which has no escapes."""

_OTHERS = frozenset({"config", "constraints"})
"""Keys with rules of their own."""


def check_texts(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    """Yield a problem for each text of *plugin* that Nomad or one of its templates would evaluate."""
    of_registry = (task_secrets.REGISTRY_USER, task_secrets.REGISTRY_PASSWORD)
    of_roles = (name for role in driver.roles.values() for name in role.secret_environment)
    variables = names.variable_pattern((*of_registry, *of_roles))
    for location, text in _leaves(plugin.model_dump(), ()):
        where = path_of(path, location)
        if location[0] not in _OTHERS:
            plain = variables.sub(" ", text) if _WITH_VARIABLES.intersection(location) else text
            yield from job_text(plain, where)
        if location[0] in _IN_TEMPLATES and ("{{" in text or "}}" in text):
            allowed = "text without {{ and }}: Nomad's templates would evaluate it"
            yield Problem(path=where, got=_HIDDEN, allowed=allowed)


def job_text(text: str, path: str) -> Iterator[Problem]:
    """Yield that Nomad would evaluate *text*, at *path*, in a job file. It may be secret, and is not shown."""
    if match := names.TEMPLATE_START.search(text):
        allowed = "text without ${ or %{: Nomad would evaluate it, twice"
        yield Problem(path=path, got=repr(match[0]), allowed=allowed, fix="write the value itself")


def _leaves(value: Any, location: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield location, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield (*location, name), name
            yield from _leaves(item, (*location, name))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _leaves(item, (*location, index))
