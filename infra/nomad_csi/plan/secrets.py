"""
How secrets reach a plugin's task: through a template that Nomad fills in on the client, never through the job file.

Source: https://developer.hashicorp.com/nomad/docs/job-specification/template ("nomadVar", "Vault"), 2026-11-21.
"""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from nomad_csi.spec import model as spec

FROM_SECRET = "from_secret"  # noqa: S105  # the key that stands for a secret
"""``{from_secret: ITEM}`` in a plugin's ``config`` stands for that item of its credentials."""

ENVIRONMENT_FILE = "credentials.env"
FORBIDDEN = ("{{", "}}", "${", "%{")
"""What a text of ``config`` may not hold: Nomad or its templates would evaluate it."""

_MARK = "nomad-csi-secret-{}-"


def from_items(source: spec.CredentialsSpec | spec.RegistryCredentialsSpec, text: Mapping[str, str]) -> str:
    """
    Return the data of a template that holds one line ``NAME=value`` for each of *text*, by the name of its item.

    Values are written as JSON, which Nomad's reader of environment files takes as quoted text.
    """
    lines = [f"{name}={_item(source, item)}" for name, item in sorted(text.items())]
    return _within(source, "\n".join(lines))


def one_item(source: spec.CredentialsSpec, item: str) -> str:
    """Return the data of a template that is the value of *item* as it is."""
    return _within(source, _expression(source, item, as_json=False))


def config_file(source: spec.CredentialsSpec | None, config: Mapping[str, Any]) -> str:
    """
    Return the data of a template that is *config* as YAML, its secrets as expressions.

    The form is the same whatever the order of keys in *config*. A secret is written as JSON, which is YAML too.
    """
    items: list[str] = []
    text = yaml.safe_dump(_marked(config, items), sort_keys=True, allow_unicode=True, width=10_000).rstrip("\n")
    for index, item in enumerate(items):
        if source is not None:
            text = text.replace(_MARK.format(index), _item(source, item))
    return _within(source, text) if source is not None and items else text


def items_of(config: Any) -> list[str]:
    """Return the items of the credentials that *config* asks for."""
    found: list[str] = []
    _marked(config, found)
    return found


def _marked(value: Any, items: list[str]) -> Any:
    """Return *value* with a mark in place of each secret, whose item is added to *items*."""
    if isinstance(value, Mapping):
        if set(value) == {FROM_SECRET}:
            items.append(str(value[FROM_SECRET]))
            return _MARK.format(len(items) - 1)
        return {key: _marked(item, items) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(item, items) for item in value]
    return value


def _within(source: spec.CredentialsSpec | spec.RegistryCredentialsSpec, text: str) -> str:
    where = source.vault.path if source.vault else source.nomad_variable
    function = "secret" if source.vault else "nomadVar"
    return f"{{{{ with {function} {json.dumps(where)} -}}}}\n{text}\n{{{{- end }}}}"


def _item(source: spec.CredentialsSpec | spec.RegistryCredentialsSpec, item: str) -> str:
    return _expression(source, item, as_json=True)


def _expression(source: spec.CredentialsSpec | spec.RegistryCredentialsSpec, item: str, *, as_json: bool) -> str:
    place = f"index .Data.data {json.dumps(item)}" if source.vault else f"(index . {json.dumps(item)}).Value"
    return f"{{{{ {place} | toJSON }}}}" if as_json else f"{{{{ {place} }}}}"
