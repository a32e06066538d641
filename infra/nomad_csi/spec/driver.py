"""
Description of a CSI driver's requirements on Nomad: a row of the catalogue, or one that an operator writes.

In arguments, environment, binds and needs, ``{name}`` is replaced: ``{aws_region}``, ``{log_verbosity}``,
``{log_level}``, ``{plugin_id}``, ``{config_file}``, and the driver's own settings. ``${...}`` are Nomad's runtime
variables.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

import pydantic

from nomad_csi.spec import base

# One kind of process of a driver, and the Nomad job that runs it.


class RoleSpec(base.Model):
    """One kind of process of a driver, and the Nomad job that runs it."""

    job_type: base.JobType
    """``system`` runs one instance on each eligible client, ``service`` a given number of instances."""

    arguments: tuple[base.Text, ...] = ()
    """Arguments in order."""

    optional_arguments: dict[base.Word, base.Text] = pydantic.Field(default_factory=dict)
    """Arguments that are added if the plugin sets ``extra_tags`` or ``metrics_port``, by that key."""

    flags: frozenset[base.Word] | None = None
    """Every flag that this role accepts and that does something on Nomad, without dashes; ``None``: not known."""

    unfit_flags: dict[base.Word, base.Text] = pydantic.Field(default_factory=dict)
    """Flags that the driver accepts but that do harm or have no effect on Nomad, each with the reason."""

    exclusive_flags: tuple[frozenset[base.Word], ...] = ()
    """Sets of flags of which only one may be given."""

    environment: dict[base.EnvironmentName, base.Text] = pydantic.Field(default_factory=dict)
    """Environment variables of the tasks."""

    secret_environment: dict[base.EnvironmentName, base.ItemName] = pydantic.Field(default_factory=dict)
    """Environment variables with secrets: the name of each variable, and the item of the credentials with its value."""

    secret_files: dict[base.FileName, base.ItemName] = pydantic.Field(default_factory=dict)
    """Files in the task's secrets directory, each with the item of the credentials that it holds."""

    credentials_environment: dict[base.EnvironmentName, base.Text] = pydantic.Field(default_factory=dict)
    """Environment variables that are set only if the plugin has such credentials, such as the path of a secret file."""

    privileged: bool = False
    """Whether the containers are privileged. Containers that mount volumes for the client must be."""

    network_mode: base.Text = ""
    """Docker network mode; empty: Docker's default bridge."""

    ipc_mode: base.Text = ""
    """Docker IPC mode; empty: Docker's default."""

    binds: tuple[base.Text, ...] = ()
    """Paths of the client that are mounted into the container, in Docker's form: ``source:destination[:ro]``."""

    mount_dir: base.Word = "/csi"
    """Path in the container at which the folder of the CSI socket is mounted."""

    stage_publish_base_dir: base.Text = ""
    """Path in the container under which volumes are staged; empty: Nomad's default."""

    default_count: base.Count = 1
    """Number of instances of a ``service`` job, unless the plugin sets one."""

    count_minimum: base.Count = 1
    """Minimum number of instances."""

    count_limit: base.Count | None = None
    """Maximum number of instances that is safe; ``None``: any number."""

    count_advice: base.Text = ""
    """Reason for these limits."""

    kill_timeout_s: base.Count | None = None
    """Seconds that the process may take to exit; ``None``: Nomad's default of 5 s."""

    resources: base.ResourcesSpec = base.ResourcesSpec.model_construct()
    needs: tuple[base.Text, ...] = ()
    """What the client must have, as notes for the operator, written into the job file."""

    bridge_needs: tuple[base.Text, ...] = ()
    """What the client must also have if the container is on Docker's bridge."""

    probe_verifies: base.Text = ""
    """What a successful ``Probe`` verifies for this role."""

    controller_supports: tuple[base.Word, ...] = ()
    """Capabilities that a controller must report, in Nomad's words: ``AttachDetach``, ``CreateDelete``, ``Expand``."""

    node_supports: tuple[base.Word, ...] = ()
    """Capabilities that a node instance must report: ``StageVolume``, ``Expand``, ``Stats``."""


# What a driver accepts for a volume: keys of its maps, and forms of its external ids.


ValueT = TypeVar("ValueT")


class KeysSpec(base.Model):
    """Which keys a map of the volume may have."""

    allowed: frozenset[base.Text] | None = None
    """Keys that the driver accepts; ``None``: it tolerates unknown keys. ``a*`` allows all keys with prefix ``a``."""

    ignore_case: bool = False
    """Whether the driver ignores the case of keys."""

    required: frozenset[base.Text] = frozenset()
    """Keys without which the volume cannot be used."""

    values: dict[base.Text, frozenset[base.Text]] = pydantic.Field(default_factory=dict)
    """Keys that accept only certain values, with these values."""

    required_with: dict[base.Text, dict[base.Text, frozenset[base.Text]]] = pydantic.Field(default_factory=dict)
    """Keys that another key requires: by that key, then by its value. Of ``a|b``, either key is enough."""

    refused: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """Keys that look right but are wrong, each with the fix."""

    settings: frozenset[base.Text] = frozenset()
    """Keys that say how a volume is used, never which data it holds. With ``protect``, no other key may change."""

    meanings: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """What keys are for, in words."""

    def missing(self, values: Mapping[str, str]) -> dict[str, str]:
        """
        Return the keys missing in *values*, each with the key that requires it, or empty if always required.

        Of alternatives, such as ``a|b``, the whole text is returned.
        """
        wanted = dict.fromkeys(self.required, "")
        for key, by_value in self.required_with.items():
            for other in by_value.get(values.get(key, ""), ()):
                wanted.setdefault(other, key)
        given = {self._fold(key) for key in values}
        return {
            key: cause
            for key, cause in sorted(wanted.items())
            if given.isdisjoint(self._fold(one) for one in key.split("|"))
        }

    def takes(self, key: str) -> bool:
        """Return whether the driver accepts *key*."""
        if self.allowed is None:
            return True
        fold = self._fold
        return any(
            fold(key).startswith(fold(known[:-1])) if known.endswith("*") else fold(key) == fold(known)
            for known in self.allowed
        )

    def entry(self, table: Mapping[str, ValueT], key: str) -> ValueT | None:
        """Return the entry of *table* for *key*, compared like the driver does; ``None`` where it has none."""
        return next((value for name, value in table.items() if self._fold(name) == self._fold(key)), None)

    def is_setting(self, key: str) -> bool:
        """Return whether *key* never identifies the data of a volume."""
        return self._fold(key) in {self._fold(name) for name in self.settings}

    def _fold(self, key: str) -> str:
        return key.lower() if self.ignore_case else key


class ExternalIdFormSpec(base.Model):
    """A form of external ids for which other rules apply than for the usual form."""

    prefix: base.Word
    """How such ids begin."""

    text: base.Text = ""
    """What they mean."""

    flag: base.Word | None = None
    """Flag that the controller or monolith needs for such ids, without dashes; ``None``: none."""

    capabilities: tuple[base.CapabilitySpec, ...] = ()
    """Capabilities that such volumes have in addition to the driver's."""

    context: KeysSpec | None = None
    """Keys of the context, instead of the driver's; ``None``: the same."""

    zoned: bool = True
    """Whether such a volume is bound to a zone, if the driver's volumes are."""


class LocationSpec(base.Model):
    """Context keys from which the driver reads where the data of a volume is; the external id then decides nothing."""

    container: tuple[base.Word, ...] = pydantic.Field(min_length=1)
    """Keys that together name what holds the data, such as ``server``; compared without regard to case."""

    path: tuple[base.Word, ...] = ()
    """Keys whose values, joined, are the folder in it, such as ``share`` and ``subDir``; the first is required."""


class ExternalIdSpec(base.Model):
    """What external ids of this driver's storage provider look like."""

    pattern: base.Expression = r".+"
    """Regular expression for the whole id."""

    allowed: base.Text = "the storage provider's id of the volume"
    """The pattern in words, with an example."""

    forms: tuple[ExternalIdFormSpec, ...] = ()
    """Forms of the id for which other rules apply."""

    located_by: tuple[LocationSpec, ...] = ()
    """Context keys that decide which data a volume is, instead of the id; the first entry whose keys are given."""

    def fits(self, external_id: str) -> bool:
        """Return whether *external_id* matches the pattern."""
        return re.fullmatch(self.pattern, external_id) is not None

    def form(self, external_id: str) -> ExternalIdFormSpec | None:
        """Return the form of *external_id*; ``None`` for the usual one."""
        return next((form for form in self.forms if external_id.startswith(form.prefix)), None)


# The driver.


class SettingSpec(base.Model):
    """A value of the driver that only the operator knows."""

    text: base.Text
    """Description of the value."""

    default: base.Text | None = None
    """Default value; ``None``: the plugin must set one."""

    pattern: base.Expression = r"(?s).*"
    """Regular expression for the whole value; *text* describes it in words."""


class ConfigFileSpec(base.Model):
    """A YAML file from which the driver reads its configuration; Nomad writes it to the task's secrets directory."""

    name: base.FileName
    required: tuple[base.Word, ...] = ()
    """Top-level keys without which the driver does not start."""

    values: dict[base.Word, frozenset[base.Text]] = pydantic.Field(default_factory=dict)
    """Top-level keys that accept only certain values, with these values."""

    not_in_containers: dict[base.Word, dict[base.Text, base.Text]] = pydantic.Field(default_factory=dict)
    """Values that do not work in a container, which lacks the client's files: by key, each with the reason."""


class TagFormatSpec(base.Model):
    """How the driver expects tags in one argument."""

    pair: base.Word = "="
    """Separator between key and value."""

    separator: base.Word = ","
    """Separator between two tags."""


class DriverSpec(base.Model):
    """A CSI driver on Nomad."""

    name: base.Word
    """Name of the driver; in the catalogue, the key of its row."""

    title: base.Text = ""
    """Longer name for display; empty: *name*."""

    provider: base.Word
    """The name that the driver answers to ``GetPluginInfo``; Nomad calls it the provider. May hold ``{plugin_id}``."""

    image: base.Text = ""
    """Container image with its tag."""

    image_digest: base.Digest | None = None
    """Digest of that image; ``None``: not known here."""

    version: base.Text = ""
    """The version of *image*; empty: not known."""

    vendor_version: base.Text | None = None
    """Version that the driver reports; ``None``: the same as *version*. Empty: versions are not compared."""

    roles: Annotated[dict[base.PluginRole, RoleSpec], pydantic.Field(min_length=1)]
    """Either ``monolith`` alone, or ``node``, with or without ``controller``."""

    capabilities: Annotated[tuple[base.CapabilitySpec, ...], pydantic.Field(min_length=1)]
    """Capabilities that work with this driver; the first one is the default for volumes."""

    modes_advice: base.Text = ""
    """What to use instead of a mode that does not work."""

    external_id: ExternalIdSpec = ExternalIdSpec.model_construct()
    fs_types: frozenset[base.Text] | None = None
    """File systems that it mounts; ``None``: not known."""

    refused_mount_flags: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """Prefixes of mount flags that the driver refuses or ignores, each with the fix."""

    context: KeysSpec = KeysSpec.model_construct()
    parameters: KeysSpec = KeysSpec.model_construct()
    secrets: KeysSpec = KeysSpec.model_construct()
    topology_key: base.Word | None = None
    """Segment key that binds a volume to its zone; ``None``: volumes are not bound to a zone."""

    topology_keys: tuple[base.Word, ...] = ()
    """Further segment keys that its nodes report."""

    limits: tuple[base.Text, ...] = ()
    """Limits in words: volumes for each client, sizes."""

    log_levels: tuple[base.Word, ...] = ()
    """Log levels that the driver accepts; empty: it has none."""

    default_log_level: base.Text = ""
    """Log level if the plugin sets none."""

    settings: dict[base.Word, SettingSpec] = pydantic.Field(default_factory=dict)
    """Keys that the plugin's ``config`` must or may have; each fills in ``{name}``."""

    config_file: ConfigFileSpec | None = None
    """File into which the plugin's ``config`` is rendered."""

    tag_format: TagFormatSpec = TagFormatSpec.model_construct()
    health_timeout_s: Annotated[int, pydantic.Field(ge=5, le=3600)] = 30
    """Seconds that the plugin may take to become healthy for the first time."""

    minimum_nomad: base.Text = "1.3.0"
    """The oldest version of Nomad that it works with."""

    credentials_optional: bool = False
    """Whether the driver can use credentials of the client, such as an instance role or a service account."""

    storage: Literal["ebs", "efs"] | None = None
    """Key of the spec with which Pulumi creates storage for the driver; ``None``: Pulumi creates none."""

    registers: bool = True
    """Whether existing volumes can be registered."""

    creates: bool = False
    """Whether the plugin can create volumes."""

    needs_capacity: bool = False
    """Whether the plugin refuses to create a volume without a capacity."""

    @pydantic.model_validator(mode="after")
    def _roles_fit(self) -> "DriverSpec":
        if "monolith" in self.roles and len(self.roles) > 1:
            raise ValueError("monolith alone, or node with or without controller, as roles")
        if "monolith" not in self.roles and "node" not in self.roles:
            raise ValueError("a node or monolith role: one must mount")
        return self

    @property
    def called(self) -> str:
        """The display name."""
        return self.title or self.name

    @property
    def modes(self) -> frozenset[tuple[str, str]]:
        """Pairs of access and attachment mode that work with the driver."""
        return frozenset((item.access_mode, item.attachment_mode) for item in self.capabilities)

    @property
    def default_mode(self) -> tuple[str, str]:
        """The default pair for a volume without capabilities."""
        return self.capabilities[0].access_mode, self.capabilities[0].attachment_mode

    @property
    def uses_aws(self) -> bool:
        """Whether it needs an AWS region."""
        texts = (text for role in self.roles.values() for text in (*role.arguments, *role.environment.values()))
        return any("{aws_region}" in text for text in texts)
