"""
Registrations of acquired volumes: sent, taken back where another run came first, and their owner records confirmed.

The one path to a registration, for the command line and for Pulumi.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import registration_ownership, retry, sending, sharing

Answer = errors.NomadApiError | errors.RefusedError | None
"""Why Nomad does not have a volume as wanted, or another owner has it by now; ``None``: it is registered."""


@dataclass(frozen=True, kw_only=True)
class Acquisition:
    """A volume to own, and to register."""

    document: registration.VolumeRegistration
    token: registration_ownership.OwnerToken
    is_new: bool
    """Whether it is not registered, so that it may be taken back where another run registered its storage meanwhile."""

    is_sent: bool = True
    """Whether it is registered; else only its owner record is written."""

    @property
    def key(self) -> volumes.Key:
        """Namespace and id."""
        return volumes.key_of(self.document)


class RegistrationRun:
    """One run: its registrations share what is known of plugins that do not answer, and lists of volumes."""

    def __init__(self, client: nomad.Nomad) -> None:
        self._client = client
        self._latest = sharing.LatestUsers(client)
        self.breaker = sending.CircuitBreaker()

    def register(
        self,
        items: Iterable[Acquisition],
        *,
        requester: registration_ownership.Requester,
        policy: retry.RetryPolicy,
    ) -> Iterator[tuple[registration.VolumeRegistration, Answer]]:
        """
        Record *requester* as the owner of *items*, register them, and yield the answer of each.

        A volume of another owner is refused and not sent. Of two runs that registered one storage at the same moment,
        the later one takes its volumes back (`sharing.take_back_later`). A record that this run wrote for
        nothing is removed. Raises `errors.NomadApiError` where Nomad does not answer before the first one is sent.
        """
        all_of_them, client, report = tuple(items), self._client, policy.report
        tokens = {item.key: item.token for item in all_of_them}
        records = registration_ownership.owner_records_of(client)
        taken = policy.retry(lambda: records.acquire(tokens, requester, report))
        for item in all_of_them:
            if item.key in taken.refused:
                yield item.document, registration_ownership.refusal(item.key, taken.refused[item.key], requester)
        ours = [item for item in all_of_them if item.key not in taken.refused]
        yield from ((item.document, None) for item in ours if not item.is_sent)
        to_send = [(item.document, item.is_new) for item in ours if item.is_sent]
        new = frozenset(item.key for item in ours if item.is_new)
        sent = list(sending.Sender(client, policy, self.breaker).send_all(to_send))
        arrived = [document for document, error in sent if error is None]
        newly_registered = [document for document in arrived if volumes.key_of(document) in new]
        late = sharing.take_back_later(client, newly_registered, self._latest)
        failed = {volumes.key_of(document): error for document, error in sent if error is not None}
        registration_ownership.remove_unused(client, taken, {**failed, **late}, requester, report)
        kept = {key: tokens[key] for key in map(volumes.key_of, arrived) if key not in late}
        owners = registration_ownership.confirm(client, kept, requester, report)
        lost = {key: registration_ownership.LostError(key, owner) for key, owner in owners.items()}
        yield from ((document, error or {**late, **lost}.get(volumes.key_of(document))) for document, error in sent)

    def register_one(
        self, item: Acquisition, *, requester: registration_ownership.Requester, policy: retry.RetryPolicy
    ) -> None:
        """Register *item* as `register` does. Raises why Nomad does not have it as wanted."""
        [(_, problem)] = self.register([item], requester=requester, policy=policy)
        if problem is not None:
            raise problem
