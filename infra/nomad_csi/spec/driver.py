"""
What a CSI driver needs on Nomad. A row of the catalogue is such a description; so is one that an operator writes.

In arguments, environment, binds and needs, ``{name}`` is filled in: ``{aws_region}``, ``{log_verbosity}``,
``{log_level}``, ``{plugin_id}``, ``{config_file}``, and the driver's own settings. ``${...}`` are Nomad's runtime
variables.
"""

from typing import Annotated, Literal

import pydantic

from nomad_csi.spec import base, driver_role, driver_volumes


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

    roles: Annotated[dict[base.PluginRole, driver_role.RoleSpec], pydantic.Field(min_length=1)]
    """Either ``monolith`` alone, or ``node``, with or without ``controller``."""

    capabilities: Annotated[tuple[base.CapabilitySpec, ...], pydantic.Field(min_length=1)]
    """Capabilities that work with this driver; the first one is the default for volumes."""

    modes_advice: base.Text = ""
    """What to use in place of a mode that does not work."""

    external_id: driver_volumes.ExternalIdSpec = driver_volumes.ExternalIdSpec()
    fs_types: frozenset[base.Text] | None = None
    """File systems that it mounts; ``None``: not known."""

    refused_mount_flags: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """Prefixes of mount flags that the driver refuses or ignores, each with the fix."""

    context: driver_volumes.KeysSpec = driver_volumes.KeysSpec()
    parameters: driver_volumes.KeysSpec = driver_volumes.KeysSpec()
    secrets: driver_volumes.KeysSpec = driver_volumes.KeysSpec()
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

    tag_format: TagFormatSpec = TagFormatSpec()
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

    @pydantic.model_validator(mode="after")
    def _roles_fit(self) -> "DriverSpec":
        if "monolith" in self.roles and len(self.roles) > 1:
            raise ValueError("monolith alone, or node with or without controller, as roles")
        if "monolith" not in self.roles and "node" not in self.roles:
            raise ValueError("a node or monolith role: one must mount")
        return self

    @property
    def called(self) -> str:
        """The name for people."""
        return self.title or self.name

    @property
    def modes(self) -> frozenset[tuple[str, str]]:
        """Pairs of access and attachment mode that really work."""
        return frozenset((item.access_mode, item.attachment_mode) for item in self.capabilities)

    @property
    def default_mode(self) -> tuple[str, str]:
        """The pair of a volume that names none."""
        return self.capabilities[0].access_mode, self.capabilities[0].attachment_mode

    @property
    def uses_aws(self) -> bool:
        """Whether it must be told an AWS region."""
        texts = (text for role in self.roles.values() for text in (*role.arguments, *role.environment.values()))
        return any("{aws_region}" in text for text in texts)
