"""What a plugin's task needs for its secrets: templates, names of variables, a Vault role, an identity."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nomad_csi.plan import model, secrets
from nomad_csi.spec import model as spec

REGISTRY_USER, REGISTRY_PASSWORD = "REGISTRY_USERNAME", "REGISTRY_PASSWORD"  # names of variables
REGISTRY_FILE = "registry.env"
TOKEN_FILE = "nomad_aws.jwt"  # noqa: S105  # its name
"""File of the identity named ``aws``. Source: hashicorp/nomad, ``client/allocrunner/taskrunner/identity_hook.go``."""

VAULT_CONSTRAINT = model.Constraint(attribute="${attr.vault.version}", operator="semver", value=">= 0.6.1")
"""What Nomad adds to a job that asks for Vault. Source: hashicorp/nomad, ``nomad/job_endpoint_hooks.go``."""


@dataclass(frozen=True, kw_only=True)
class TaskSecrets:
    """The secrets of one task, as the job asks for them."""

    templates: tuple[model.SecretTemplate, ...] = ()
    variables: tuple[str, ...] = ()
    """Names of the environment variables that templates fill."""

    vault_role: str | None = None
    """Empty: the agent's default; ``None``: Vault is not used."""

    audience: str = ""
    """Whom the task's identity is meant for; empty: it needs none."""

    environment: Mapping[str, str]
    """Not secret: where the driver finds what is."""

    registry: bool = False
    """Whether the image is pulled with credentials."""


def of_task(
    plugin: spec.PluginSpec, driver: spec.DriverSpec, role: spec.RoleSpec, *, container: bool, job_id: str
) -> TaskSecrets:
    """Return what a task of *role* needs in the job *job_id*; *container*: whether it runs an image."""
    registry = plugin.registry_credentials if container else None
    identity = _identity(plugin, role)
    return TaskSecrets(
        templates=(*_own(plugin, driver, role, job_id), *_of_registry(registry, job_id)),
        variables=(
            *(sorted(role.secret_environment) if _items(plugin) else ()),
            *((REGISTRY_USER, REGISTRY_PASSWORD) if registry else ()),
        ),
        vault_role=_vault_role(plugin, driver, role, registry),
        audience=identity.audience if identity else "",
        environment=_of_identity(identity),
        registry=registry is not None,
    )


def _items(plugin: spec.PluginSpec) -> spec.CredentialsSpec | None:
    """Return the credentials of *plugin*, if they are items of a secret."""
    return plugin.credentials if plugin.credentials and not plugin.credentials.workload_identity else None


def _identity(plugin: spec.PluginSpec, role: spec.RoleSpec) -> spec.WorkloadIdentitySpec | None:
    wanted = plugin.credentials.workload_identity if plugin.credentials else None
    return wanted if role.secret_environment else None


def _of_identity(identity: spec.WorkloadIdentitySpec | None) -> dict[str, str]:
    if identity is None:
        return {}
    return {
        "AWS_ROLE_ARN": identity.role_arn,
        "AWS_WEB_IDENTITY_TOKEN_FILE": f"${{NOMAD_SECRETS_DIR}}/{TOKEN_FILE}",
    }


def _own(
    plugin: spec.PluginSpec, driver: spec.DriverSpec, role: spec.RoleSpec, job_id: str
) -> Iterator[model.SecretTemplate]:
    source = _items(plugin)
    if driver.config_file and plugin.config:
        data = secrets.config_file(plugin.credentials, plugin.config, job_id)
        yield model.SecretTemplate(file_name=driver.config_file.name, data=data)
    if source and role.secret_environment:
        data = secrets.from_items(source, role.secret_environment, job_id)
        yield model.SecretTemplate(file_name=secrets.ENVIRONMENT_FILE, data=data, is_environment=True)
    if source:
        for file_name, item in sorted(role.secret_files.items()):
            yield model.SecretTemplate(file_name=file_name, data=secrets.one_item(source, item, job_id))


def _of_registry(registry: spec.RegistryCredentialsSpec | None, job_id: str) -> Iterator[model.SecretTemplate]:
    if registry:
        data = secrets.from_items(registry, {REGISTRY_USER: "username", REGISTRY_PASSWORD: "password"}, job_id)
        yield model.SecretTemplate(file_name=REGISTRY_FILE, data=data, is_environment=True)


def _vault_role(
    plugin: spec.PluginSpec,
    driver: spec.DriverSpec,
    role: spec.RoleSpec,
    registry: spec.RegistryCredentialsSpec | None,
) -> str | None:
    has_file = driver.config_file is not None and bool(secrets.items_of(plugin.config))
    asks = has_file or bool(role.secret_environment) or bool(role.secret_files)
    sources = (plugin.credentials if asks else None, registry)
    return next((source.vault.role for source in sources if source and source.vault), None)
