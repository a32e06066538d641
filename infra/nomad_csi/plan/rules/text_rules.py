"""Rules for all text of a plugin that reaches a job file."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi.errors import Problem, path_of
from nomad_csi.plan import task_secrets
from nomad_csi.spec import model as spec
from nomad_csi.spec import names
from nomad_csi.text.foreign import is_unseen

_UNWRITABLE = re.compile("[\\0\\ud800-\\udfff]")
_WITH_VARIABLES = frozenset(
    {"arguments", "credentials_environment", "default", "environment", "extra_arguments", "optional_arguments"}
)
"""Keys below which text may have Nomad's runtime variables."""

_IN_TEMPLATES = frozenset({"credentials", "registry_credentials"})
"""Keys of text that reaches the data of a template, which has no escapes."""

_OTHERS = frozenset({"config", "constraints"})
"""Keys with rules of their own."""


def check(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    """Yield a problem for each text of *plugin* that cannot be written into a job file as it is."""
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
            yield Problem(path=where, got="[not shown]", allowed=allowed)
        elif location[0] in _IN_TEMPLATES and any(map(is_unseen, text)):
            allowed = "text without invisible characters"
            yield Problem(path=where, got="[not shown]", allowed=allowed, fix="remove them")


def job_text(text: str, path: str) -> Iterator[Problem]:
    """Yield why *text*, at *path*, cannot be written into a job file. It may be secret, and is not shown."""
    if found := names.TEMPLATE_START.search(text):
        allowed = "text without ${ or %{: Nomad would evaluate it, twice"
        yield Problem(path=path, got=repr(found[0]), allowed=allowed, fix="write the value itself")
    elif not unicodedata.is_normalized("NFC", text):
        allowed = "text in Unicode's NFC form, because job files are normalised to it"
        yield Problem(path=path, got="another form", allowed=allowed, fix="normalise it")
    elif _UNWRITABLE.search(text):
        yield Problem(path=path, got="NUL or half a character", allowed="Unicode text")


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
