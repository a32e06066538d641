"""
What a CSI driver needs on Nomad. A row of the catalogue is such a description; so is one that an operator writes.

In arguments, environment, binds and needs, ``{name}`` is filled in: ``{aws_region}``, ``{log_verbosity}``,
``{log_level}``, ``{plugin_id}``, ``{config_file}``, and the driver's own settings. ``${...}`` are Nomad's runtime
variables.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

import pydantic

from nomad_csi.spec import base

ValueT = TypeVar("ValueT")


class RoleSpec(base.Model):
    """One kind of process of a driver, and the Nomad job that runs it."""

    job_type: base.JobType
    """``system`` runs one instance on each eligible client, ``service`` as many as are asked for."""

    arguments: tuple[base.Text, ...] = ()
    """Arguments in order."""

    optional_arguments: dict[base.Word, base.Text] = pydantic.Field(default_factory=dict)
    """Arguments that are added when the plugin sets ``extra_tags`` or ``metrics_port``, by that name."""

    flags: frozenset[base.Word] | None = None
    """Every flag that this role accepts and that does something on Nomad, without dashes; ``None``: not known."""

    unfit_flags: dict[base.Word, base.Text] = pydantic.Field(default_factory=dict)
    """Flags that the driver accepts too and that do harm or nothing on Nomad, each with the reason."""

    exclusive_flags: tuple[frozenset[base.Word], ...] = ()
    """Sets of flags of which only one may be given."""

    environment: dict[base.EnvironmentName, base.Text] = pydantic.Field(default_factory=dict)
    """Variables of its tasks."""

    secret_environment: dict[base.EnvironmentName, base.Word] = pydantic.Field(default_factory=dict)
    """Environment that holds secrets: the name of each variable, and of the item of the credentials that fills it."""

    secret_files: dict[base.FileName, base.Word] = pydantic.Field(default_factory=dict)
    """Files in the task's secrets directory, and the item of the credentials that each holds."""

    credentials_environment: dict[base.EnvironmentName, base.Text] = pydantic.Field(default_factory=dict)
    """Environment that is set only where the plugin has such credentials: where a secret file is, for instance."""

    privileged: bool = False
    """Whether its containers are privileged, as those that mount for the client must be."""

    network_mode: base.Text = ""
    """Docker network mode; empty: Docker's default bridge."""

    ipc_mode: base.Text = ""
    """Docker IPC mode; empty: Docker's default."""

    binds: tuple[base.Text, ...] = ()
    """What of the client is mounted into the container, as Docker writes it: ``source:destination[:ro]``."""

    mount_dir: base.Word = "/csi"
    """Where the folder of the socket is mounted in the container."""

    stage_publish_base_dir: base.Text = ""
    """Where volumes are staged in the container; empty: Nomad's default."""

    default_count: base.Count = 1
    """Instances of a ``service``, unless the plugin says how many."""

    count_minimum: base.Count = 1
    """Fewest instances that work."""

    count_limit: base.Count | None = None
    """Most instances that are safe; ``None``: any number."""

    count_advice: base.Text = ""
    """Why there are such limits."""

    kill_timeout_s: base.Count | None = None
    """How long the process may take to end; ``None``: Nomad's default of 5 s."""

    resources: base.ResourcesSpec = base.ResourcesSpec()
    needs: tuple[base.Text, ...] = ()
    """What the client must have, as notes for the operator, written into the job file."""

    bridge_needs: tuple[base.Text, ...] = ()
    """What it must have besides while the container is on Docker's bridge."""

    probe_proves: base.Text = ""
    """What an answer to ``Probe`` proves of this role."""

    controller_supports: tuple[base.Word, ...] = ()
    """What a controller must say that it can do, in Nomad's words: ``AttachDetach``, ``CreateDelete``, ``Expand``."""

    node_supports: tuple[base.Word, ...] = ()
    """What a node instance must say that it can do: ``StageVolume``, ``Expand``, ``Stats``."""


class KeysSpec(base.Model):
    """Which keys a map of the volume may have."""

    allowed: frozenset[base.Text] | None = None
    """``None``: the driver tolerates unknown keys. One that ends in ``*`` allows all that begin so."""

    ignore_case: bool = False
    """Whether the driver takes keys in upper and lower case alike."""

    required: frozenset[base.Text] = frozenset()
    """Keys without which the volume cannot be used."""

    values: dict[base.Text, frozenset[base.Text]] = pydantic.Field(default_factory=dict)
    """Keys that take some values only, and these values."""

    required_with: dict[base.Text, dict[base.Text, frozenset[base.Text]]] = pydantic.Field(default_factory=dict)
    """Keys that another one calls for: by that key, then by its value. In ``a|b`` one of both is enough."""

    refused: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """Keys that look right and are not, each with the fix."""

    meanings: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """What keys are for, in words."""

    def missing(self, values: Mapping[str, str]) -> dict[str, str]:
        """
        Return the keys that *values* lacks, each with the key that calls for it; with nothing where it always must be.

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
        """Return whether the driver takes *key*."""
        if self.allowed is None:
            return True
        fold = self._fold
        return any(
            fold(key).startswith(fold(known[:-1])) if known.endswith("*") else fold(key) == fold(known)
            for known in self.allowed
        )

    def entry(self, table: Mapping[str, ValueT], key: str) -> ValueT | None:
        """Return what *table* has for *key*, as the driver compares keys; ``None`` where it has nothing."""
        return next((value for name, value in table.items() if self._fold(name) == self._fold(key)), None)

    def _fold(self, key: str) -> str:
        return key.lower() if self.ignore_case else key


class ExternalIdFormSpec(base.Model):
    """A form of external ids under which other rules hold than under the usual one."""

    prefix: base.Word
    """How such ids begin."""

    text: base.Text = ""
    """What they mean."""

    flag: base.Word | None = None
    """Flag that the controller, or the monolith, must be given for them, without dashes; ``None``: none."""

    capabilities: tuple[base.CapabilitySpec, ...] = ()
    """What works besides the driver's capabilities."""

    context: KeysSpec | None = None
    """Keys of the context, in place of the driver's; ``None``: the same."""

    zoned: bool = True
    """Whether such a volume is bound to a zone where the driver's volumes are."""


class ExternalIdSpec(base.Model):
    """How the storage provider writes the ids of what the driver serves."""

    pattern: base.Expression = r".+"
    """Regular expression for the whole id."""

    allowed: base.Text = "the storage provider's id of the volume"
    """The pattern in words, with an example."""

    shared: bool = False
    """Whether one external id may stand under several volume ids."""

    forms: tuple[ExternalIdFormSpec, ...] = ()
    """Forms of the id under which other rules hold."""

    def fits(self, external_id: str) -> bool:
        """Return whether *external_id* looks as it should."""
        return re.fullmatch(self.pattern, external_id) is not None

    def form(self, external_id: str) -> ExternalIdFormSpec | None:
        """Return the form that *external_id* has; ``None`` for the usual one."""
        return next((form for form in self.forms if external_id.startswith(form.prefix)), None)


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

    roles: Annotated[dict[base.PluginRole, RoleSpec], pydantic.Field(min_length=1)]
    """Either ``monolith`` alone, or ``node``, with or without ``controller``."""

    capabilities: Annotated[tuple[base.CapabilitySpec, ...], pydantic.Field(min_length=1)]
    """What really works; the first one is the default of volumes."""

    modes_advice: base.Text = ""
    """What to use in place of a mode that does not work."""

    external_id: ExternalIdSpec = ExternalIdSpec()
    fs_types: frozenset[base.Text] | None = None
    """File systems that it mounts; ``None``: not known."""

    refused_mount_flags: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """Mount flags, by how they begin, that it refuses or ignores, each with the fix."""

    context: KeysSpec = KeysSpec()
    parameters: KeysSpec = KeysSpec()
    secrets: KeysSpec = KeysSpec()
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
            raise ValueError("a node or monolith role: somebody must mount")
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
