"""
Storage deleted by the controller of its plugin: one of the `deletion_ways`.

The storage must be able to refuse. The EBS driver only asks EC2, which refuses what is attached. Others delete what is
mounted: csi-driver-nfs always, csi-driver-host-path without ``--check-volume-lifecycle``. Through such a plugin nothing
is deleted unless the caller accepts that (`Plugin.accepts_unguarded`), because Nomad cannot be made to wait between the
last question and the plugin's answer. What is known of each driver: `drivers.model.DriverDeletion`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from nomad_csi import errors
from nomad_csi.csi import channel, controller, endpoint, forward, identity, presence
from nomad_csi.deletion import deletion_outcome, deletion_snapshot
from nomad_csi.drivers import catalogue, model

CALL_TIMEOUT_S = 120.0
"""As long as Nomad gives a controller. Source: hashicorp/nomad, ``client/csi_endpoint.go``, 2026-08-21."""

_WITHOUT_SNAPSHOT = "without a last snapshot: --skip-final-snapshot, in a spec skip_final_snapshot: true"


@dataclass(frozen=True, kw_only=True)
class PluginStorage:
    """Whatever a CSI plugin made, by its controller."""

    endpoint: str
    """``unix:///run/csi.sock``, a path, ``HOST:PORT``, or ``ssh://HOST/run/csi.sock``."""

    provider: str
    """The name that the plugin must answer: that of the plugin in Nomad."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    accepts_unguarded: bool = False
    insecure: bool = False
    """Whether the secrets may go unencrypted to another machine."""

    timeout_s: float = CALL_TIMEOUT_S

    @property
    def known(self) -> model.DriverDeletion | None:
        """What the catalogue says of the driver; ``None`` for a driver that it does not have."""
        return catalogue.deletion(self.provider)

    def check(self, *, with_snapshot: bool) -> None:
        """See that it is the right plugin, that it can do what is wanted, and that its storage can refuse."""
        with self._connected() as connection:
            if self.secrets:
                endpoint.refuse_secrets(connection.endpoint, insecure=self.insecure)
            name = identity.get_plugin_info(connection, timeout_s=self.timeout_s).name
            rpcs = controller.controller_get_capabilities(connection, timeout_s=self.timeout_s).rpcs
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
                "--accept-unguarded, in a spec accept_unguarded: true"
            )

    def observe(self, external_id: str) -> presence.Presence:
        """Ask whether the storage exists, as its driver can answer it. Raises `errors.CsiError`: out of reach."""
        question = presence.PresenceQuestion(
            volume_id=external_id,
            absence=self.known.absence if self.known else "",
            gone=self._gone,
            secrets=self.secrets,
            timeout_s=self.timeout_s,
        )
        with self._connected() as connection:
            return presence.observe(connection, question)

    def snapshot(
        self, external_id: str, _tags: Mapping[str, str], timeouts: deletion_snapshot.SnapshotTimeouts
    ) -> deletion_snapshot.LastSnapshot:
        """Take it by CSI. Raises `deletion_outcome.StoppedError` where the driver says that the storage is gone."""
        with self._connected() as connection:
            source = deletion_snapshot.Source(
                external_id=external_id,
                provider=self.provider,
                known=self.known,
                rpcs=controller.controller_get_capabilities(connection, timeout_s=self.timeout_s).rpcs,
                secrets=self.secrets,
                timeout_s=self.timeout_s,
            )
            try:
                return deletion_snapshot.take(connection, source, timeouts)
            except errors.CsiError as error:
                if not presence.says_gone(error, self._gone):
                    raise
                why = f"not registered, and {external_id} is gone, as its plugin says: {error.message}"
                raise deletion_outcome.StoppedError("gone", why) from error

    def delete(self, external_id: str, last_look: Callable[[], None]) -> None:
        """Have the plugin delete it; what is gone is no error. Raises `errors.CsiError`."""
        with self._connected() as connection:
            identity.get_plugin_info(connection, timeout_s=self.timeout_s)  # connected, so that nothing is waited for
            last_look()
            try:
                controller.delete_volume(
                    connection, volume_id=external_id, secrets=self.secrets, timeout_s=self.timeout_s
                )
            except errors.CsiError as error:
                if not presence.says_gone(error, self._gone):
                    raise

    @property
    def _gone(self) -> tuple[str, ...]:
        return self.known.gone if self.known else ()

    @contextmanager
    def _connected(self) -> Iterator[channel.CsiConnection]:
        with forward.reached(self.endpoint) as reached:
            where = endpoint.parse(reached.local)
            endpoint.check(where)
            with channel.connect(where, attempt_s=self.timeout_s, insecure=self.insecure) as connection:
                try:
                    yield connection
                except errors.CsiError as error:
                    raise reached.renamed(error) from error
