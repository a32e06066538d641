"""
How secrets reach a plugin's task: through a template that Nomad fills in on the client, never through the job file.

A Nomad variable that does not exist yet holds the task back. So does here an item that is missing or empty: by
itself a template would fill in nothing, and ``error_on_missing_key`` would end the task for good, the running one too
when somebody writes the variable anew without it.
Source: https://developer.hashicorp.com/nomad/docs/job-specification/template ("nomadVar", "Vault"), 2026-11-21;
hashicorp/consul-template v0.42.1, ``dependency/nomad_var_structs.go``; tried on Nomad 2.0.6-dev, 2026-11.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from nomad_csi.spec import model as spec

FROM_SECRET = "from_secret"  # noqa: S105  # the key that stands for a secret
"""``{from_secret: ITEM}`` in a plugin's ``config`` stands for that item of its credentials."""

ENVIRONMENT_FILE = "credentials.env"
FORBIDDEN = ("{{", "}}", "${", "%{")
"""What a text of ``config`` may not hold: Nomad or its templates would evaluate it."""

_PLAIN = re.compile(r"(?![yYnN]$)[A-Za-z/][A-Za-z0-9_./-]*")
"""Text that is text to every reader of YAML, but for the words that PyYAML itself quotes, such as ``yes``."""

_MARK = "from-secret-{}-{}-"
_TAG = "tag:yaml.org,2002:str"


Source = spec.CredentialsSpec | spec.RegistryCredentialsSpec


def from_items(source: Source, text: Mapping[str, str], job_id: str) -> str:
    """
    Return the data of a template that holds one line ``NAME=value`` for each of *text*, by the name of its item.

    Values are written as JSON, which Nomad's reader of environment files takes as quoted text; *job_id* is the job's.
    Source: hashicorp/go-envparse v0.1.0, ``parseLine``.
    """
    lines = [f"{name}={_expression(source, item)}" for name, item in sorted(text.items())]
    return _within(source, text.values(), "\n".join(lines), job_id)


def one_item(source: Source, item: str, job_id: str) -> str:
    """Return the data of a template that is the value of *item* as it is, with nothing behind it."""
    text = f"{{{{ {_place(source, item)} }}}}"
    return f"{_within(source, [item], text, job_id).removesuffix('}}')}-}}}}"


def config_file(source: spec.CredentialsSpec | None, config: Mapping[str, Any], job_id: str) -> str:
    """
    Return the data of a template that is *config* as YAML, its secrets as expressions.

    The form is the same whatever the order of keys in *config*. Text that YAML 1.1 and 1.2 might read differently is
    quoted. A secret is written as JSON, which is YAML too.
    """
    items = items_of(config)
    mark = _mark(config)
    text = _dumped(_marked(config, mark, []))
    if source is None or not items:
        return text
    for index, item in enumerate(items):
        text = text.replace(_MARK.format(mark, index), _expression(source, item))
    return _within(source, items, text, job_id)


def items_of(config: Any) -> list[str]:
    """Return the items of the credentials that *config* asks for, in its own order."""
    found: list[str] = []
    _marked(config, 0, found)
    return found


def _mark(config: Mapping[str, Any]) -> int:
    """Return a number whose marks stand nowhere in *config*."""
    text = json.dumps(config, default=str)
    return next(number for number in range(len(text) + 1) if _MARK.format(number, "")[:-1] not in text)


def _marked(value: Any, mark: int, items: list[str]) -> Any:
    """Return *value* with a mark in place of each secret, whose item is added to *items*."""
    if isinstance(value, Mapping):
        if set(value) == {FROM_SECRET}:
            items.append(str(value[FROM_SECRET]))
            return _MARK.format(mark, len(items) - 1)
        return {key: _marked(item, mark, items) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(item, mark, items) for item in value]
    return value


def _within(source: Source, items: Iterable[str], text: str, job_id: str) -> str:
    where = source.vault.path if source.vault else source.nomad_variable
    function = "secret" if source.vault else "nomadVar"
    # A variable that nobody writes, and that the job may read: until the item is there, the template waits for it.
    guards = [
        f"{{{{ if not {_place(source, item)} }}}}{{{{ nomadVar {_quoted(f'nomad/jobs/{job_id}/missing/{item}')} }}}}"
        "{{ end -}}\n"
        for item in sorted(set(items))
    ]
    return f"{{{{ with {function} {_quoted(where or '')} -}}}}\n{''.join(guards)}{text}\n{{{{- end }}}}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _place(source: Source, item: str) -> str:
    return f".Data.data.{item}" if source.vault else f".{item}.Value"


def _expression(source: Source, item: str) -> str:
    # `.ITEM | toJSON` of a Nomad variable would be Go's own quoting, not JSON: NomadVarItem.MarshalJSON uses %q.
    return f"{{{{ {_place(source, item)} | toJSON }}}}"


class _Dumper(yaml.SafeDumper):
    """YAML's safe dumper, with quotes around all text that might be something else."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(_TAG, text, style=None if _PLAIN.fullmatch(text) else '"')


_Dumper.add_representer(str, _represent)


def _dumped(value: Any) -> str:
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=10_000)
    return str(text).rstrip("\n")
