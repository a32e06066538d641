"""Secrets of a plugin's task: templates, names of variables, a Vault role, a workload identity."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from nomad_csi.plan import model
from nomad_csi.spec import model as spec

# Secrets reach a plugin's task through a template that Nomad renders on the client, never through the job file.
#
# A Nomad variable that does not exist yet blocks the task. The templates here also block on a missing or empty item:
# by default a template would render nothing, and ``error_on_missing_key`` would fail the task permanently, also a
# running one when the variable is written again without the item.
# Source: https://developer.hashicorp.com/nomad/docs/job-specification/template ("nomadVar", "Vault"), 2026-11-21;
# hashicorp/consul-template v0.42.1, ``dependency/nomad_var_structs.go``; tried on Nomad 2.0.6-dev, 2026-11.


FROM_SECRET = "from_secret"  # noqa: S105  # the key of a reference to a secret
"""``{from_secret: ITEM}`` in a plugin's ``config`` is a reference to that item of its credentials."""

ENVIRONMENT_FILE = "credentials.env"
FORBIDDEN = ("{{", "}}", "${", "%{")
"""Sequences that strings in ``config`` may not contain: Nomad or its templates would evaluate them."""

_PLAIN = re.compile(r"(?![yYnN]$)[A-Za-z/][A-Za-z0-9_./-]*")
"""Text that every YAML parser reads as a string, except words that PyYAML itself quotes, such as ``yes``."""

_QUOTED = re.compile(r'"(\{\{ [\w.]+ \| toJSON \}\})"')
"""An expression as the dumper writes it. No text of the operator can be one: it may not contain ``{{``."""

_TAG = "tag:yaml.org,2002:str"


Source = spec.CredentialsSpec | spec.RegistryCredentialsSpec


def template_data(source: Source, text: Mapping[str, str], job_id: str) -> str:
    """
    Return template data with one line ``NAME=value`` for each entry of *text*, which maps names to items.

    Values are written as JSON, which Nomad's parser of environment files reads as quoted text; *job_id* is the job's.
    Source: hashicorp/go-envparse v0.1.0, ``parseLine``.
    """
    lines = [f"{name}={_expression(source, item)}" for name, item in sorted(text.items())]
    return _template_blocks(source, text.values(), "\n".join(lines), job_id)


def one_item(source: Source, item: str, job_id: str) -> str:
    """Return template data that renders exactly the value of *item*, without a trailing newline."""
    text = f"{{{{ {_reference(source, item)} }}}}"
    return f"{_template_blocks(source, [item], text, job_id).removesuffix('}}')}-}}}}"


def config_file(source: spec.CredentialsSpec | None, config: Mapping[str, Any], job_id: str) -> str:
    """
    Return template data that renders *config* as YAML, with expressions for its secrets.

    The output does not depend on the order of keys in *config*. Text that YAML 1.1 and 1.2 might read differently is
    quoted. A secret is written as JSON, which is valid YAML.
    """
    text = _dumped(_with_expressions(config, source))
    items = items_of(config)
    return _template_blocks(source, items, _QUOTED.sub(r"\1", text), job_id) if source and items else text


def items_of(config: Any) -> list[str]:
    """Return the items of the credentials that *config* references, in its order."""
    if isinstance(config, Mapping) and set(config) == {FROM_SECRET}:
        return [str(config[FROM_SECRET])]
    inside = config.values() if isinstance(config, Mapping) else config if isinstance(config, list | tuple) else ()
    return [item for part in inside for item in items_of(part)]


def _with_expressions(value: Any, source: Source | None) -> Any:
    """Return *value* with the expression for each secret."""
    if isinstance(value, Mapping):
        if set(value) == {FROM_SECRET}:
            return _expression(source, str(value[FROM_SECRET])) if source else ""
        return {key: _with_expressions(item, source) for key, item in value.items()}
    return [_with_expressions(item, source) for item in value] if isinstance(value, list | tuple) else value


def _template_blocks(source: Source, items: Iterable[str], text: str, job_id: str) -> str:
    where = source.vault.path if source.vault else source.nomad_variable
    function = "secret" if source.vault else "nomadVar"
    # This variable is never written, and the job may read it: the template blocks on it until the item exists.
    guards = [
        f"{{{{ if not {_reference(source, item)} }}}}"
        f"{{{{ nomadVar {_quoted(f'nomad/jobs/{job_id}/missing/{item}')} }}}}{{{{ end -}}}}\n"
        for item in sorted(set(items))
    ]
    return f"{{{{ with {function} {_quoted(where or '')} -}}}}\n{''.join(guards)}{text}\n{{{{- end }}}}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _reference(source: Source, item: str) -> str:
    return f".Data.data.{item}" if source.vault else f".{item}.Value"


def _expression(source: Source, item: str) -> str:
    # `.ITEM | toJSON` of a Nomad variable would be Go's own quoting, not JSON: NomadVarItem.MarshalJSON uses %q.
    return f"{{{{ {_reference(source, item)} | toJSON }}}}"


class _Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper, with quotes around all text that might parse as another type."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(_TAG, text, style=None if _PLAIN.fullmatch(text) else '"')


_Dumper.add_representer(str, _represent)


def _dumped(value: Any) -> str:
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=10_000)
    return str(text).rstrip("\n")


# Settings of the task for its secrets.


REGISTRY_USER, REGISTRY_PASSWORD = "REGISTRY_USERNAME", "REGISTRY_PASSWORD"  # names of variables
REGISTRY_FILE = "registry.env"
TOKEN_FILE = "nomad_aws.jwt"  # noqa: S105  # its name
"""File of the identity named ``aws``. Source: hashicorp/nomad, ``client/allocrunner/taskrunner/identity_hook.go``."""

VAULT_CONSTRAINT = model.Constraint(attribute="${attr.vault.version}", operator="semver", value=">= 0.6.1")
"""Constraint that Nomad adds to a job that uses Vault. Source: hashicorp/nomad, ``nomad/job_endpoint_hooks.go``."""


def identity(plugin: spec.PluginSpec, role: spec.RoleSpec) -> spec.WorkloadIdentitySpec | None:
    """Return the identity with which a task of *role* assumes an AWS role; ``None``: none."""
    return plugin.credentials.workload_identity if plugin.credentials and role.secret_environment else None


def identity_environment(known: spec.WorkloadIdentitySpec | None) -> dict[str, str]:
    """Return the environment variables with which AWS's SDKs assume the role of an identity."""
    if known is None:
        return {}
    return {"AWS_ROLE_ARN": known.role_arn, "AWS_WEB_IDENTITY_TOKEN_FILE": f"${{NOMAD_SECRETS_DIR}}/{TOKEN_FILE}"}


def templates(
    plugin: spec.PluginSpec,
    driver: spec.DriverSpec,
    role: spec.RoleSpec,
    registry: spec.RegistryCredentialsSpec | None,
    job_id: str,
) -> Iterator[model.SecretTemplate]:
    """Yield the templates of a task of *role* in the job *job_id*; *registry*: of its image, where it needs them."""
    source = plugin.secret
    if driver.config_file and plugin.config:
        data = config_file(plugin.credentials, plugin.config, job_id)
        yield model.SecretTemplate(file_name=driver.config_file.name, data=data)
    if source and role.secret_environment:
        data = template_data(source, role.secret_environment, job_id)
        yield model.SecretTemplate(file_name=ENVIRONMENT_FILE, data=data, is_environment=True)
    if source:
        for file_name, item in sorted(role.secret_files.items()):
            yield model.SecretTemplate(file_name=file_name, data=one_item(source, item, job_id))
    if registry:
        data = template_data(registry, {REGISTRY_USER: "username", REGISTRY_PASSWORD: "password"}, job_id)
        yield model.SecretTemplate(file_name=REGISTRY_FILE, data=data, is_environment=True)


def vault_role(
    plugin: spec.PluginSpec,
    driver: spec.DriverSpec,
    role: spec.RoleSpec,
    registry: spec.RegistryCredentialsSpec | None,
) -> str | None:
    """Return the Vault role of a task of *role*, empty for the agent's default; ``None``: Vault is not used."""
    has_file = driver.config_file is not None and bool(items_of(plugin.config))
    asks = has_file or bool(role.secret_environment) or bool(role.secret_files)
    sources = (plugin.credentials if asks else None, registry)
    return next((source.vault.role for source in sources if source and source.vault), None)
