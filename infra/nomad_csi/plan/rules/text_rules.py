"""Rules for all text of a plugin that reaches a job file: by the jobs themselves, so that no key is left out."""

import dataclasses
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from nomad_csi.errors import Problem, path_of
from nomad_csi.plan import jobs, model
from nomad_csi.spec import model as spec
from nomad_csi.spec import names
from nomad_csi.text.foreign import is_unseen

Kind = Literal["text", "argument", "template", "name"]
"""
``text``: a quoted literal; ``argument``: the same with runtime variables; ``template``: the data of a template, in a
heredoc; ``name``: the name of an environment variable.
"""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_UNWRITABLE = re.compile("[\\0\\ud800-\\udfff]")


def job_text(
    value: str, path: str, *, kind: Kind = "text", variables: Iterable[str] = (), shown: bool = True
) -> Iterator[Problem]:
    """
    Yield why *value*, at *path*, cannot be written into a job file.

    *variables* are those that an argument may have besides Nomad's own; *shown*: whether problems include the value.
    """
    got = repr(value) if shown else "[not shown]"
    if kind == "name" and not _NAME.fullmatch(value):
        allowed = "a name of letters, digits, _ and - that begins with a letter or _"
        yield Problem(path=path, got=got, allowed=allowed)
    if names.TEMPLATE_START.search(names.variable_pattern(variables).sub(" ", value) if kind == "argument" else value):
        allowed = "text without ${ or %{: Nomad would evaluate it, twice"
        yield Problem(path=path, got=got, allowed=allowed, fix="write the value itself")
    if not unicodedata.is_normalized("NFC", value):
        allowed = "text in Unicode's NFC form, because job files are normalised to it"
        yield Problem(path=path, got=got, allowed=allowed, fix="normalise it")
    if _UNWRITABLE.search(value):
        yield Problem(path=path, got=got, allowed="Unicode text without NUL")
    elif kind == "template" and any(is_unseen(character) and character not in "\n\t" for character in value):
        allowed = "text without invisible characters other than newline and tab"
        yield Problem(path=path, got=got, allowed=allowed, fix="remove them")


# All texts of a plugin.

_KINDS: Mapping[str, Kind | None] = {
    "arguments": "argument",
    "constraints.attribute": None,  # `argument_rules.check_constraint`
    "environment": "argument",
    "needs": None,  # comments
    "registry_password": "argument",
    "registry_user": "argument",
    "secret_variables": None,  # names that arguments may hold
    "templates.data": "template",
    "templates.file_name": "argument",
    "title": None,  # a comment
}
"""How the job file holds a field of a job; all others: as ``text``."""

_HIDDEN = frozenset({"environment", "config"})
"""Keys of a plugin whose values are not shown: they may hold secrets."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Text:
    """A text of a job."""

    field: str
    value: str
    kind: Kind
    variables: tuple[str, ...]

    def problems(self, value: str, path: str, *, shown: bool) -> Iterator[Problem]:
        """Yield why *value*, which is written where this text is, cannot be."""
        return job_text(value, path, kind=self.kind, variables=self.variables, shown=shown)


def check(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str, *, is_sound: bool) -> Iterator[Problem]:
    """
    Yield the problems of each text in the jobs of *plugin* that cannot be written as it is, at its key, once.

    If the plugin has no other problem (*is_sound*), also those of texts that only their parts together make unfit.
    """
    found = dict.fromkeys(
        problem
        for name in driver.roles
        for text in _texts(jobs.job(plugin, driver, name))
        if any(text.problems(text.value, "", shown=False))
        for problem in _located(text, plugin, jobs.values(plugin, driver, name), path, is_sound=is_sound)
    )
    yield from found


def _texts(job: model.PluginJob) -> Iterator[_Text]:
    for location, text in _leaves(dataclasses.asdict(job), ()):
        is_variable = location[0] == "environment"
        field = "environment" if is_variable else ".".join(step for step in location if isinstance(step, str))
        kind = "name" if is_variable and text == location[-1] else _KINDS.get(field, "text")
        if kind and len(location) > is_variable:
            yield _Text(field=field, value=text, kind=kind, variables=() if is_variable else job.secret_variables)


def _located(
    text: _Text, plugin: spec.PluginSpec, values: Mapping[str, str], path: str, *, is_sound: bool
) -> Iterator[Problem]:
    """Yield the problem at each key of *plugin* whose text makes *text* unfit; else at the plugin, with the field."""
    unfit = [
        (location, leaf)
        for location, leaf in _leaves(plugin.model_dump(), ())
        if leaf and any(text.problems(leaf, "", shown=False))
    ]
    inside = [(location, leaf) for location, leaf in unfit if jobs.filled(leaf, values) in text.value]
    # A template holds the values of `config` in the notation of YAML.
    chosen = inside or [(location, leaf) for location, leaf in unfit if text.kind == "template"]
    for location, leaf in chosen:
        shown = not _HIDDEN.intersection(location[:1])
        yield from text.problems(leaf, path_of(path, location), shown=shown)
    if not chosen and is_sound:
        yield from text.problems(text.value, f"{path}: {text.field} of the job", shown=False)


def _leaves(value: Any, location: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield location, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield (*location, str(name)), str(name)
            yield from _leaves(item, (*location, str(name)))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _leaves(item, (*location, index))
