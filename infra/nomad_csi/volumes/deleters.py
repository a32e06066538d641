"""
Delete storage: by the cloud's own API (`AwsDeleter`), or by the controller of its plugin (`PluginDeleter`).

Nomad's *delete* is not used: for a volume in use it first lets the driver delete the data, and then refuses.

The storage must be able to refuse. EC2 does, and the EBS driver only asks EC2. Other drivers delete mounted storage:
csi-driver-nfs always, csi-driver-host-path without ``--check-volume-lifecycle``. Through such a plugin nothing is
deleted unless the caller accepts that (`PluginDeleter.accepts_unguarded`), because Nomad cannot be blocked between the
last check and the plugin's response. The known behaviour of each driver is in `drivers.catalogue.DriverDeletion`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from nomad_csi import errors, nomad
from nomad_csi.aws import deletion
from nomad_csi.csi import channel, endpoint, forward, presence, services
from nomad_csi.drivers import catalogue
from nomad_csi.nomad import nodes, plugins
from nomad_csi.volumes import volume_snapshots

CALL_TIMEOUT_S = 120.0
"""Nomad's own timeout for a controller. Source: hashicorp/nomad, ``client/csi_endpoint.go``, 2026-08-21."""

_WITHOUT_SNAPSHOT = "without a last snapshot: --skip-final-snapshot, in a spec skip_final_snapshot: true"


class StorageNotFoundError(errors.NomadCsiError):
    """The plugin reports that the storage does not exist."""


@dataclass(frozen=True, kw_only=True)
class AwsDeleter:
    """EBS volumes and EFS access points, deleted over the AWS API."""

    aws_region: str

    def check(self, *, with_snapshot: bool) -> None:
        """Do nothing: AWS itself refuses to delete a volume in use."""

    def observe(self, external_id: str) -> presence.Presence:
        """Ask AWS whether the storage exists. Raises `errors.AwsError`."""
        return "absent" if deletion.read_storage(external_id, self.aws_region) is None else "present"

    def snapshot(
        self, external_id: str, tags: Mapping[str, str], timeouts: volume_snapshots.SnapshotTimeouts
    ) -> volume_snapshots.LastSnapshot:
        """Take a snapshot of an EBS volume. Raises `errors.AwsError`, also if it is not completed in time."""
        snapshot_id = deletion.create_snapshot(external_id, self.aws_region, tags)
        deletion.wait_for_snapshot(
            snapshot_id,
            self.aws_region,
            wait_s=timeouts.wait_s,
            cancelled=timeouts.cancelled,
            report=timeouts.report,
            clock=timeouts.clock,
        )
        return volume_snapshots.LastSnapshot(snapshot_id=snapshot_id, evidence="EC2 reports it as completed")

    def delete(self, external_id: str, last_look: Callable[[], None]) -> None:
        """Delete the storage. Raises `errors.AwsError`."""
        deletion.delete(external_id, self.aws_region, last_look=last_look)


@dataclass(frozen=True, kw_only=True)
class PluginDeleter:
    """Storage created by a CSI plugin, deleted by its controller."""

    endpoint: str
    """``unix:///run/csi.sock``, a path, ``HOST:PORT``, or ``ssh://HOST/run/csi.sock``."""

    provider: str
    """The name that the plugin must report: that of the plugin in Nomad."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    accepts_unguarded: bool = False
    insecure: bool = False
    """Whether the secrets may be sent unencrypted to another machine."""

    @property
    def known(self) -> catalogue.DriverDeletion | None:
        """The catalogue's entry for the driver; ``None`` for an unknown driver."""
        return catalogue.deletion(self.provider)

    def check(self, *, with_snapshot: bool) -> None:
        """Check that it is the right plugin, that it supports the request, and that its storage can refuse."""
        with self._connected() as connection:
            if self.secrets:
                endpoint.refuse_secrets(connection.endpoint, insecure=self.insecure)
            name = services.get_plugin_info(connection, timeout_s=CALL_TIMEOUT_S).name
            rpcs = services.controller_get_capabilities(connection, timeout_s=CALL_TIMEOUT_S)
        if name != self.provider:
            raise errors.RefusedError(f"{self.endpoint} is plugin {name}, and the volume is one of {self.provider}")
        needed = ["CREATE_DELETE_VOLUME", *(["CREATE_DELETE_SNAPSHOT"] if with_snapshot else [])]
        if lacking := [rpc for rpc in needed if rpc not in rpcs]:
            fix = f"; {_WITHOUT_SNAPSHOT}" if lacking == ["CREATE_DELETE_SNAPSHOT"] else ""
            raise errors.RefusedError(f"plugin {name} lacks {', '.join(lacking)}{fix}")
        if not (self.known and self.known.refuses_in_use) and not self.accepts_unguarded:
            raise errors.RefusedError(
                f"the storage of plugin {name} does not refuse to be deleted while it is in use: whoever registers "
                "and claims it after the last check loses it; make sure that it does not happen, and accept it: "
                "--accept unguarded, in a spec accept_unguarded: true"
            )

    def observe(self, external_id: str) -> presence.Presence:
        """Ask whether the storage exists, if its driver can report it. Raises `errors.CsiError`: out of reach."""
        question = presence.PresenceQuestion(
            volume_id=external_id,
            absence=self.known.absence if self.known else "",
            gone=self._not_found,
            secrets=self.secrets,
            timeout_s=CALL_TIMEOUT_S,
        )
        with self._connected() as connection:
            return presence.observe(connection, question)

    def snapshot(
        self, external_id: str, _tags: Mapping[str, str], timeouts: volume_snapshots.SnapshotTimeouts
    ) -> volume_snapshots.LastSnapshot:
        """Take a snapshot by CSI. Raises `StorageNotFoundError` where the driver reports no such storage."""
        with self._connected() as connection:
            source = volume_snapshots.Source(
                external_id=external_id,
                provider=self.provider,
                known=self.known,
                secrets=self.secrets,
                timeout_s=CALL_TIMEOUT_S,
            )
            try:
                return volume_snapshots.create_last_snapshot(connection, source, timeouts)
            except errors.CsiError as error:
                if not presence.is_not_found(error, self._not_found):
                    raise
                raise StorageNotFoundError(
                    f"{external_id} is gone, by the answer of its plugin: {error.message}"
                ) from error

    def delete(self, external_id: str, last_look: Callable[[], None]) -> None:
        """Have the plugin delete the storage; missing storage is no error. Raises `errors.CsiError`."""
        with self._connected() as connection:
            services.get_plugin_info(connection, timeout_s=CALL_TIMEOUT_S)  # connected, so nothing delays the request
            last_look()
            try:
                services.delete_volume(
                    connection, volume_id=external_id, secrets=self.secrets, timeout_s=CALL_TIMEOUT_S
                )
            except errors.CsiError as error:
                if not presence.is_not_found(error, self._not_found):
                    raise

    @property
    def _not_found(self) -> tuple[str, ...]:
        return self.known.gone if self.known else ()

    @contextmanager
    def _connected(self) -> Iterator[channel.CsiConnection]:
        with forward.reached(self.endpoint) as reached:
            where = endpoint.parse(reached.local)
            endpoint.check(where)
            with channel.connect(where, attempt_s=CALL_TIMEOUT_S, insecure=self.insecure) as connection:
                try:
                    yield connection
                except errors.CsiError as error:
                    raise reached.renamed(error) from error


Deleter = AwsDeleter | PluginDeleter
"""The deleters of storage, all with the same methods."""


def find_plugin_deleter(
    client: nomad.Nomad, plugin_id: str, given: str, *, secrets: Mapping[str, str], accepts_unguarded: bool
) -> PluginDeleter:
    """Return the deleter that asks the plugin's controller, at the endpoint *given*. Raises `errors.RefusedError`."""
    plugin = plugins.get(client, plugin_id)
    if plugin is None or not plugin.provider:
        raise errors.RefusedError(f"Nomad has seen no plugin {plugin_id}: run its job first")
    return PluginDeleter(
        endpoint=find_endpoint(client, plugin, given),
        provider=plugin.provider,
        secrets=secrets,
        accepts_unguarded=accepts_unguarded,
        insecure=client.connection.insecure_http,
    )


def find_endpoint(client: nomad.Nomad, plugin: plugins.Plugin, written: str) -> str:
    """
    Return *written* with a healthy controller of *plugin* filled in; no request without placeholders.

    Raises `errors.RefusedError` if none is healthy.
    """
    if not forward.has_placeholders(written):
        return written
    chosen = next((item for item in plugin.controllers if item.healthy), None)
    if chosen is None:
        raise errors.RefusedError(f"Nomad has no healthy controller of plugin {plugin.plugin_id}; nothing was changed")
    names = {node.node_id: node.name for node in nodes.list_nodes(client)} if forward.NODE_NAME in written else {}
    name = names.get(chosen.node_id, chosen.node_id)
    return forward.fill(written, {forward.ALLOC_ID: chosen.alloc_id, forward.NODE_NAME: name})
