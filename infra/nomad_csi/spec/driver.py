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
    """What it is."""

    default: base.Text | None = None
    """``None``: it must be given."""

    pattern: base.Expression = r"(?s).*"
    """Regular expression for the whole value, which *text* puts into words."""


class ConfigFileSpec(base.Model):
    """A YAML file that the driver reads its configuration from; it is put into the task's secrets directory."""

    name: base.FileName
    required: tuple[base.Word, ...] = ()
    """Keys at its top without which the driver does not start."""

    values: dict[base.Word, frozenset[base.Text]] = pydantic.Field(default_factory=dict)
    """Keys at its top that take some values only, and these values."""

    not_in_containers: dict[base.Word, dict[base.Text, base.Text]] = pydantic.Field(default_factory=dict)
    """Values that work only where the process sees the client's own files, by key, each with the reason."""


class TagFormatSpec(base.Model):
    """How the driver writes tags in one argument."""

    pair: base.Word = "="
    """What stands between key and value."""

    separator: base.Word = ","
    """What stands between two tags."""


class DriverSpec(base.Model):
    """A CSI driver on Nomad."""

    name: base.Word
    """Name for people; of a row of the catalogue its key."""

    title: base.Text = ""
    """Longer name for people; empty: the name."""

    provider: base.Word
    """The name that the driver answers to ``GetPluginInfo``; Nomad calls it the provider. May hold ``{plugin_id}``."""

    image: base.Text = ""
    """Container image with its tag."""

    image_digest: base.Digest | None = None
    """Digest of that image; ``None``: not known here."""

    version: base.Text = ""
    """The version of *image*; empty: not known."""

    vendor_version: base.Text | None = None
    """What the driver answers as its version; ``None``: the same as *version*. Empty: it is not compared."""

    roles: Annotated[dict[base.PluginRole, driver_role.RoleSpec], pydantic.Field(min_length=1)]
    """Either ``monolith`` alone, or ``node``, with or without ``controller``."""

    capabilities: Annotated[tuple[base.CapabilitySpec, ...], pydantic.Field(min_length=1)]
    """What really works; the first one is the default of volumes."""

    modes_advice: base.Text = ""
    """What to use in place of a mode that does not work."""

    external_id: driver_volumes.ExternalIdSpec = driver_volumes.ExternalIdSpec()
    fs_types: frozenset[base.Text] | None = None
    """File systems that it mounts; ``None``: not known."""

    refused_mount_flags: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """Mount flags, by how they begin, that it refuses or ignores, each with the fix."""

    context: driver_volumes.KeysSpec = driver_volumes.KeysSpec()
    parameters: driver_volumes.KeysSpec = driver_volumes.KeysSpec()
    secrets: driver_volumes.KeysSpec = driver_volumes.KeysSpec()
    topology_key: base.Word | None = None
    """Segment key that pins a volume to its zone; ``None``: volumes are not bound to one."""

    topology_keys: tuple[base.Word, ...] = ()
    """Further segment keys that its nodes report."""

    limits: tuple[base.Text, ...] = ()
    """Limits in words: volumes for each client, sizes."""

    log_levels: tuple[base.Word, ...] = ()
    """Words that it takes as log level; empty: it has none."""

    default_log_level: base.Text = ""
    """The one that is used where the plugin says none."""

    settings: dict[base.Word, SettingSpec] = pydantic.Field(default_factory=dict)
    """What the plugin's ``config`` must or may say; each is filled in as ``{name}``."""

    config_file: ConfigFileSpec | None = None
    """The file that the plugin's ``config`` becomes."""

    tag_format: TagFormatSpec = TagFormatSpec()
    health_timeout_s: Annotated[int, pydantic.Field(ge=5, le=3600)] = 30
    """How long its first healthy answer may take."""

    minimum_nomad: base.Text = "1.3.0"
    """The oldest version of Nomad that it works with."""

    credentials_optional: bool = False
    """Whether it finds credentials on the client where none are given: an instance role, a service account."""

    storage: Literal["ebs", "efs"] | None = None
    """Key of the spec under which Pulumi makes storage for it, ``ebs`` or ``efs``; ``None``: Pulumi makes none."""

    registers: bool = True
    """Whether volumes that exist can be registered."""

    creates: bool = False
    """Whether the plugin can make volumes."""

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
