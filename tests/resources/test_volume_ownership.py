"""Owner marks through the resources, on an emulator agent: taken first, removed last, and kept apart by cluster."""

import contextlib
import dataclasses
import threading

import pytest

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.jobs import plugin_job
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import (
    created_volume,
    deregistration,
    desired,
    owner_records,
    registration_ownership,
    sending,
    volume_registration,
)
from nomad_csi_sandbox.nomad import cluster, server, state
from nomad_csi_sandbox.nomad.clients import nodes
from tests import acl, clocks, owner_labels

OWNED = "shop/prod"
OTHER = "bank/prod"
IDENTITY = "default/mysql"
RECORD = f"/v1/var/{owner_records.path_of('mysql')}"
VOLUME = "/v1/volume/csi/mysql"
RESOURCE = volume_registration.VolumeRegistrationResource()
NEWS = {
    "volumeId": "mysql",
    "namespace": "default",
    "name": "mysql",
    "externalId": "fs-1",
    "pluginId": "efs",
    "capabilities": [{"accessMode": "multi-node-multi-writer", "attachmentMode": "file-system"}],
    "context": {"tier": "fast"},
    "storage": {"shared": True},
    "owner": OWNED,
}
OF_OTHER = NEWS | {"owner": OTHER}
JOB = """job "plugin" {
  datacenters = ["nowhere"]
  group "g" {
    task "t" {
      driver = "raw_exec"
      config {
        command = "true"
      }
    }
  }
}
"""
CLAIMANT = registration_ownership.Requester(owner=OWNED)
TO_OTHER = registration_ownership.Requester(owner=OTHER)


@dataclasses.dataclass
class Side:
    """One caller of one cluster: its step context, and what it sent and was told."""

    context: resource.Context
    client: nomad.Nomad
    sent: list
    told: list

    def wrote(self):
        """Return what it changed, in order."""
        return [(method, path) for method, path in self.sent if method != "GET"]

    def owner(self, volume_id="mysql"):
        """Return whose the volume is; null without a mark."""
        return owner_labels.read(self.client, [("default", volume_id)]).get(("default", volume_id))


@pytest.fixture
def clusters(tmp_path):
    """Start a cluster with a plugin: ``clusters("a")``; callers of it come from ``side``."""
    with contextlib.ExitStack() as stack:

        def start(name, **settings):
            node = nodes.NodeSpec(name="one", zone="us-east-1a", instance_id="")
            made = cluster.Settings(data_dir=tmp_path / name, nodes=[node], environment={}, **settings)
            serving = stack.enter_context(server.Server(cluster.Cluster(made)))
            serving.cluster.state.plugins["efs"] = state.PluginRecord(plugin_id="efs", create_index=1, modify_index=1)
            return serving

        yield start


@pytest.fixture
def side():
    """Return a caller of a cluster: ``side(cluster)``, with a client and so with knowledge of its own."""
    with contextlib.ExitStack() as stack:

        def make(serving, token=""):
            sent, told = [], []
            connection = nomad.Connection(address=serving.url, token=token)
            client = nomad.Nomad(connection, observe=lambda method, path: sent.append((method, path)))
            stack.enter_context(client)
            context = resource.Context(connect=lambda: client, warn=told.append, cancelled=threading.Event())
            return Side(context=context, client=client, sent=sent, told=told)

        yield make


@pytest.fixture
def ours(clusters, side):
    """A caller of the one cluster."""
    return side(clusters("a"))


@pytest.fixture
def held(ours):
    """The volume, registered by the first stack; return what is recorded of it."""
    _, outputs = RESOURCE.create(ours.context, NEWS)
    ours.sent.clear()
    return outputs


@pytest.mark.usefixtures("held")
def test_preview_says_that_a_new_resource_takes_over_what_the_stack_has_already(ours):
    """But not of a volume that was deregistered by hand: it is registered again, and its record is all that is left."""
    RESOURCE.preflight(ours.context, {}, NEWS)
    told = [line.partition(" is this")[0] for line in ours.told]
    volumes.deregister(ours.client, "default", "mysql")
    ours.told.clear()
    RESOURCE.preflight(ours.context, {}, NEWS)

    assert (told, ours.told) == (["moved: volume default/mysql"], [])
    assert ours.owner() == OWNED


def test_previews_read_an_owner_record_once_and_a_create_reads_it_again(ours):
    """A preview writes nothing, so records that are seconds old are enough."""
    for _ in range(3):
        RESOURCE.preflight(ours.context, {}, NEWS)
    previews = ours.sent.count(("GET", RECORD))
    ours.sent.clear()

    RESOURCE.create(ours.context, NEWS)

    assert previews == 1
    assert ours.sent.index(("GET", RECORD)) < ours.sent.index(("PUT", RECORD))


def test_cluster_that_lost_its_identity_is_told_with_the_command_that_restores_it(ours):
    """Nothing that is recorded in it is changed until then."""
    told = cluster_identity.sentence(ours.client, "volume default/mysql", {"cluster": "0123456789abcdef"})

    assert "volume default/mysql" in told
    assert "nomad var put -force -namespace default nomad-csi/cluster id=0123456789abcdef" in told
    with pytest.raises(errors.RefusedError, match="id=0123456789abcdef"):
        RESOURCE.update(ours.context, IDENTITY, NEWS | {"cluster": "0123456789abcdef"}, NEWS)
    assert ours.wrote() == []


def test_mark_is_removed_last(ours, held):
    """Whoever takes the id after that finds no volume."""
    RESOURCE.delete(ours.context, IDENTITY, held)

    assert ours.wrote() == [("DELETE", VOLUME), ("DELETE", RECORD)]
    assert RESOURCE.create(ours.context, OF_OTHER)[1]["owner"] == OTHER


@pytest.fixture
def taken_over(clusters, side, monkeypatch):
    """A volume with a claim that ends; while its removal waits for that, another stack takes the volume over."""
    serving = clusters("a")
    ours, other = side(serving), side(serving)
    _, recorded = RESOURCE.create(ours.context, NEWS)
    claims = serving.cluster.state.volumes["default", "mysql"].claims
    claims["alloc"] = {"Mode": "write", "NodeID": "n", "AccessMode": "", "AttachmentMode": ""}

    def wait(*_):
        claims.clear()
        RESOURCE.create(other.context, OF_OTHER | {"adopt": True})

    monkeypatch.setattr("nomad_csi.nomad.changes.Watched.wait", wait)
    monkeypatch.setattr(ours.client.clock, "wait", wait)
    monkeypatch.setattr(deregistration, "is_ending", lambda _volume: True)
    ours.sent.clear()
    return ours, recorded


def test_resource_leaves_what_another_stack_took_over_while_it_waited(taken_over):
    """The owner is read again after the wait."""
    ours, recorded = taken_over

    with pytest.raises(errors.RefusedError, match=f"belongs to stack {OTHER} now"):
        RESOURCE.delete(ours.context, IDENTITY, recorded)

    assert (ours.wrote(), ours.owner()) == ([], OTHER)


def test_command_leaves_what_another_stack_took_over_while_it_waited(taken_over):
    """The owner is read again after the wait."""
    ours, _ = taken_over
    options = deregistration.DeregistrationOptions(wait_s=10, requester=CLAIMANT)

    [outcome] = deregistration.deregister(ours.client, [("default", "mysql")], options)

    assert (outcome.status, outcome.reason.partition(":")[0]) == ("refused", f"belongs to owner {OTHER}")
    assert (ours.wrote(), ours.owner()) == ([], OTHER)


def test_copy_of_the_state_under_the_old_name_does_not_hold_the_volume(ours):
    """The stack got another name and id; whoever still has its old state may neither change nor deregister it."""
    old = NEWS | {"ownerId": "0123456789abcdef"}
    _, copied = RESOURCE.create(ours.context, old)
    now = NEWS | {"owner": "shop/live", "ownerId": "fedcba9876543210"}
    outputs = RESOURCE.update(ours.context, IDENTITY, copied, now)
    ours.sent.clear()

    with pytest.raises(errors.RefusedError, match="belongs to stack shop/live"):
        RESOURCE.update(side_again(ours).context, IDENTITY, copied, old | {"context": {"tier": "slow"}})
    with contextlib.suppress(errors.RefusedError):
        RESOURCE.delete(side_again(ours).context, IDENTITY, copied)

    assert ours.wrote() == []
    assert volumes.get(ours.client, "default", "mysql") is not None
    assert (ours.owner(), outputs["nonce"] != copied["nonce"]) == ("shop/live", True)


def test_lost_mark_is_drift(clusters, side):
    """The owner is missing from the inputs, so that the next update sets it again."""
    serving = clusters("a")
    held = RESOURCE.create(side(serving).context, NEWS)[1]
    ours = side(serving)
    registration_ownership.owner_records_of(ours.client).release(
        registration_ownership.without_tokens([("default", "mysql")]), CLAIMANT
    )

    inputs, _ = RESOURCE.read(ours.context, IDENTITY, NEWS, held)

    assert RESOURCE.diff(IDENTITY, inputs, held, NEWS).updates == ("owner",)
    RESOURCE.update(ours.context, IDENTITY, held, NEWS)
    assert ours.owner() == OWNED


def test_mark_that_was_never_written_is_no_drift(ours):
    """The token may not write marks: the owner would be set again and again."""
    held = RESOURCE.create(ours.context, NEWS)[1]
    registration_ownership.owner_records_of(ours.client).release(
        registration_ownership.without_tokens([("default", "mysql")]), CLAIMANT
    )
    unrecorded = {name: value for name, value in held.items() if name != "marked"}

    inputs, _ = RESOURCE.read(ours.context, IDENTITY, NEWS, unrecorded)

    assert RESOURCE.diff(IDENTITY, inputs, unrecorded, NEWS).updates == ()


def test_refresh_tells_of_another_owner(clusters, side):
    """It was adopted meanwhile."""
    serving = clusters("a")
    held = RESOURCE.create(side(serving).context, NEWS)[1]
    RESOURCE.create(side(serving).context, OF_OTHER | {"adopt": True})
    ours = side(serving)

    RESOURCE.read(ours.context, IDENTITY, NEWS, held)

    assert ours.told == ["volume default/mysql belongs to stack bank/prod now, not to shop/prod as recorded"]


def test_one_stack_holds_one_id_in_two_clusters(clusters, side):
    """Each with a mark and an identity of its own."""
    here, there = side(clusters("a")), side(clusters("b"))

    first = RESOURCE.create(here.context, NEWS)[1]
    second = RESOURCE.create(there.context, NEWS)[1]

    assert (here.owner(), there.owner()) == (OWNED, OWNED)
    assert first["cluster"] != second["cluster"]


def test_other_address_of_the_same_cluster_is_no_change(clusters, side):
    """Address and token are no part of a volume's identity."""
    serving = clusters("a")
    held = RESOURCE.create(side(serving).context, NEWS)[1]
    again = nomad.Connection(address=serving.url.replace("127.0.0.1", "localhost"))

    with nomad.Nomad(again) as client:
        found = RESOURCE.read(resource.Context(connect=lambda: client), IDENTITY, NEWS, held)

    assert found == (NEWS, held)


@pytest.mark.parametrize("made", [RESOURCE, created_volume.CreatedVolumeResource()], ids=["registered", "created"])
def test_renamed_or_copied_stack_deletes_nothing_before_an_up(ours, made):
    """Its state may be a copy, whose first stack still needs the volume."""
    first = dataclasses.replace(ours.context, stack=OWNED)
    _, outputs = RESOURCE.create(first, NEWS)
    ours.sent.clear()

    with pytest.raises(errors.RefusedError, match=f"was made by stack {OWNED}, and this is shop/live: the stack was"):
        made.delete(dataclasses.replace(first, stack="shop/live", operation=resource.Operation()), IDENTITY, outputs)

    assert ours.wrote() == []
    made.delete(dataclasses.replace(first, operation=resource.Operation()), IDENTITY, outputs)
    assert volumes.get(ours.client, "default", "mysql") is None


@pytest.mark.parametrize("made", [RESOURCE, created_volume.CreatedVolumeResource()], ids=["registered", "created"])
def test_rejects_the_volume_of_another_cluster(clusters, side, made):
    """It has the same id, the same owner and the same content, and is another one."""
    held = RESOURCE.create(side(clusters("a")).context, NEWS)[1]
    there = side(clusters("b"))
    RESOURCE.create(there.context, NEWS)
    there.sent.clear()

    for step in (
        lambda: made.read(there.context, IDENTITY, NEWS, held),
        lambda: made.update(there.context, IDENTITY, held, NEWS),
        lambda: made.delete(there.context, IDENTITY, held),
    ):
        with pytest.raises(errors.RefusedError, match=f"is recorded in cluster {held['cluster']}, and at http://"):
            step()
    assert there.wrote() == []


def test_volume_that_another_cluster_lacks_stays_in_the_state(clusters, side):
    """A cluster made anew is one, and a wrong address too."""
    held = RESOURCE.create(side(clusters("a")).context, NEWS)[1]
    there = side(clusters("b"))
    RESOURCE.create(there.context, NEWS | {"volumeId": "other"})

    assert RESOURCE.read(there.context, IDENTITY, NEWS, held) == (NEWS, held | {"deregistered": True})
    [told] = there.told
    assert f"is recorded in cluster {held['cluster']}, and at" in told
    with pytest.raises(errors.RefusedError, match="is recorded in cluster"):
        RESOURCE.update(there.context, IDENTITY, held | {"deregistered": True}, NEWS)


def test_token_without_variables_registers_without_a_mark(clusters, side):
    """Said once, with what it costs; a later read is no drift."""
    serving = clusters("a", token="right", tokens={"few": acl.writer()})
    ours = side(serving, token="few")

    held = [RESOURCE.create(ours.context, NEWS | {"volumeId": name, "name": name})[1] for name in ("a", "b")]

    assert [(item["marked"], item["cluster"]) for item in held] == [(False, ""), (False, "")]
    [told] = ours.told
    assert told.endswith("nothing keeps another stack from taking them")
    news = NEWS | {"volumeId": "a", "name": "a"}
    assert RESOURCE.read(ours.context, "default/a", news, held[0]) == (news, held[0])


def test_token_that_may_only_read_marks_still_respects_them(clusters, side):
    """Another stack's volume is refused; one's own goes without a mark."""
    serving = clusters("a", token="right", tokens={"reader": acl.writer("read")})
    RESOURCE.create(side(serving, token="right").context, NEWS)
    other = side(serving, token="reader")

    with pytest.raises(errors.RefusedError, match="belongs to stack shop/prod"):
        RESOURCE.create(other.context, OF_OTHER)
    held = RESOURCE.create(other.context, OF_OTHER | {"volumeId": "own", "name": "own"})[1]

    assert held["marked"] is False


@pytest.mark.parametrize("rights", [(), ("read",)])
def test_without_owner_records_a_removed_volume_stays_registered(clusters, side, rights):
    """Another provider of the program, in another process, may have taken it over for another resource."""
    ours = side(clusters("a", token="right", tokens={"few": acl.writer(*rights)}), token="few")
    identity, made = RESOURCE.create(ours.context, NEWS)

    RESOURCE.delete(ours.context, identity, made)

    assert volumes.get(ours.client, "default", "mysql") is not None
    assert "`nomad volume deregister -namespace=default mysql`" in ours.told[-1]


def test_volume_of_a_resource_that_is_renamed_and_moved_to_another_provider_in_one_up_stays(clusters, side):
    """Two providers are two processes: the old one learns from the nonce in the record that the volume was taken over."""
    serving = clusters("a")
    old, new = side(serving), side(serving)
    identity, made = RESOURCE.create(old.context, NEWS)
    _, taken = RESOURCE.create(new.context, NEWS)

    RESOURCE.delete(old.context, identity, made)

    assert "another resource of this stack has taken it over" in old.told[-1]
    assert RESOURCE.read(new.context, identity, NEWS, taken) == (NEWS, taken)
    RESOURCE.delete(new.context, identity, taken)
    assert volumes.get(new.client, "default", "mysql") is None


def test_without_owner_records_storage_of_the_program_stays(clusters, side):
    """What a record keeps in it is not known; also after a deregistration by hand."""
    ours = side(clusters("a", token="right", tokens={"few": acl.writer()}), token="few")
    identity, made = RESOURCE.create(ours.context, NEWS | {"storage": {"owned": True}})

    for _ in range(2):
        with pytest.raises(
            errors.RefusedError, match=r"what needs it is not known, .* lacks variables .*retainOnDelete"
        ):
            RESOURCE.delete(ours.context, identity, made)
        volumes.deregister(ours.client, "default", "mysql")


def without_storage(news):
    """Return the inputs of a `CreatedVolume` like the registration *news*."""
    return {name: value for name, value in news.items() if name not in {"externalId", "context", "storage"}}


STACK_ID = "0123456789abcdef"


@pytest.mark.parametrize(
    "kind", [RESOURCE, created_volume.CreatedVolumeResource()], ids=["registration", "created volume"]
)
def test_preview_refuses_a_second_resource_for_what_the_stack_holds(ours, kind):
    """As `up` would; what is not known yet does not differ."""
    RESOURCE.create(ours.context, NEWS | {"ownerId": STACK_ID})
    wanted = (NEWS if kind is RESOURCE else without_storage(NEWS)) | {"ownerId": STACK_ID}

    with pytest.raises(errors.RefusedError, match="registered already, and not by this stack as it is now: "):
        kind.preflight(ours.context, {}, wanted | {"pluginId": "other"})
    kind.preflight(ours.context, {}, wanted | {"pluginId": resource.UNKNOWN})


TO_BE_MADE = {"externalId": resource.UNKNOWN, "storage": {"owned": True}}
NEW_STORAGE = (
    "volume default/mysql is registered already, for fs-1, and this resource would make new storage for it: add an "
    "alias where the resource was renamed or moved in the program, or choose another id"
)


@pytest.mark.parametrize("owner", [{}, {"owner": OWNED}], ids=["registered by hand", "of a state that was lost"])
def test_preview_goes_on_for_storage_that_is_yet_to_be_imported(ours, owner):
    """The file for ``pulumi import`` is made by a preview; it warns, and does not say that the volume is taken over."""
    RESOURCE.create(ours.context, {name: value for name, value in NEWS.items() if name != "owner"} | owner)

    news = NEWS | TO_BE_MADE | {"ownerId": STACK_ID}

    RESOURCE.preflight(dataclasses.replace(ours.context, imports=True), {}, news)
    with pytest.raises(errors.RefusedError, match="is registered already, for fs-1, and this resource would make new"):
        RESOURCE.preflight(ours.context, {}, news)

    refused = (
        f"{NEW_STORAGE}; `up` is refused, unless the volume is imported first; after `nomad-csi eject`, remove it from "
        "the program"
    )
    assert ours.told.count(refused) == 1
    assert [line for line in ours.told if "takes it over" in line] == []


@pytest.mark.parametrize("when", ["preview", "up"])
@pytest.mark.parametrize(
    "kind", [RESOURCE, created_volume.CreatedVolumeResource()], ids=["registration", "created volume"]
)
def test_volume_stays_where_its_new_id_is_another_stacks(ours, held, kind, when):
    """A replacement deregisters first: so the new id is checked before that."""
    moved = {"volumeId": "moved", "name": "moved"}
    wanted = (NEWS if kind is RESOURCE else without_storage(NEWS)) | moved
    RESOURCE.create(ours.context, OF_OTHER | moved | {"externalId": "fs-2"})
    recorded = held
    ours.context.operation.declare(kind.declared.token, "", wanted)
    ours.sent.clear()

    with pytest.raises(errors.RefusedError, match="volume default/moved belongs to stack bank/prod: choose another id"):
        kind.preflight(ours.context, recorded, wanted) if when == "preview" else kind.delete(
            ours.context, IDENTITY, recorded
        )

    assert ours.wrote() == []


def document(name, **fields):
    """Return a registration."""
    return desired.parse_inputs(NEWS | {"volumeId": name, "name": name} | fields)


@pytest.mark.usefixtures("held")
def test_command_refuses_others_volumes_and_registers_the_rest(ours):
    """With the owner as data."""
    outcomes = applied.apply(ours.client, applied.of_files([document("mysql"), document("new")]), requester=TO_OTHER)

    assert [(item.status, item.reason, item.owner) for item in outcomes] == [
        ("refused", "belongs to owner shop/prod; nothing was changed: --adopt takes it over", OWNED),
        ("registered", "", ""),
    ]
    assert (ours.owner(), ours.owner("new")) == (OWNED, OTHER)


@pytest.mark.usefixtures("held")
def test_command_without_an_owner_refuses_marked_volumes_and_marks_none(ours):
    """A plain run is nobody in particular."""
    outcomes = applied.apply(ours.client, applied.of_files([document("mysql", context={"a": "b"}), document("new")]))

    assert [item.status for item in outcomes] == ["refused", "registered"]
    assert (ours.owner(), ours.owner("new")) == (OWNED, None)


@pytest.mark.usefixtures("held")
def test_command_that_adopts_without_an_owner_leaves_a_record_of_nobody(ours):
    """Nobody's from then on."""
    requester = registration_ownership.Requester(adopts=True)

    [outcome] = applied.apply(
        ours.client, applied.of_files([document("mysql", context={"a": "b"})]), requester=requester
    )

    assert (outcome.status, ours.owner()) == ("updated", "")  # the record keeps the storage of the id


def test_refused_volume_leaves_no_mark(ours):
    """The others have theirs."""
    wanted = [document("good"), document("bad", pluginId="ghost")]

    outcomes = applied.apply(ours.client, applied.of_files(wanted), requester=CLAIMANT)

    assert [item.status for item in outcomes] == ["registered", "refused"]
    assert (ours.owner("good"), ours.owner("bad")) == (OWNED, None)


def test_unchanged_volumes_cost_two_reads_of_each_record_and_no_write(ours):
    """Each is read to compare the volume, and once more to acquire it."""
    wanted = [document(f"v{number}", externalId=f"fs-{number:08x}") for number in range(100)]
    applied.apply(ours.client, applied.of_files(wanted), requester=CLAIMANT)
    with nomad.Nomad(ours.client.connection, observe=lambda *call: ours.sent.append(call)) as again:
        ours.sent.clear()

        outcomes = applied.apply(again, applied.of_files(wanted), requester=CLAIMANT)

    assert {item.status for item in outcomes} == {"unchanged"}
    assert ours.wrote() == []
    asked = [path for _, path in ours.sent if path.startswith("/v1/var")]
    assert (len(set(asked)), len(asked)) == (100, 200)


@pytest.fixture
def half_blind(clusters, side):
    """A caller who may read the marks of ``default`` and not those of ``secret``; both have a volume of a stack."""
    serving = clusters("a", token="right", tokens={"half": acl.writer("read", others=["secret"])})
    first = side(serving, token="right")
    first.client.request("PUT", "/v1/namespace", body={"Name": "secret"})
    applied.apply(
        first.client, applied.of_files([document("mine"), document("b", namespace="secret")]), requester=CLAIMANT
    )
    return side(serving, token="half")


KEYS = [("default", "mine"), ("secret", "b")]
UNREAD = (
    "owner records in namespace secret were not read: the token lacks variables { path "
    '"nomad-csi/*" { capabilities = ["read", "write", "destroy"] } } in namespace secret; volumes of other stacks are '
    "not recognized"
)


def test_one_namespace_that_hides_its_marks_hides_no_others(half_blind):
    """What is not known is told apart from what is nobody's."""
    told = []
    marks = registration_ownership.owner_records_of(half_blind.client)

    seen = [marks.read([*KEYS, ("default", "free")], told.append) for _ in range(2)][-1]

    owned = owner_records.OwnerRecord(owner=OWNED, external_id="fs-1", plugin_id="efs")
    assert (seen.owners, seen.unread) == ({("default", "mine"): owned}, {("secret", "b")})
    assert told == [UNREAD]
    with pytest.raises(errors.RefusedError, match=r"^volume secret/b: its owner record was not read: the token lacks"):
        marks.known(KEYS)


def test_marks_that_can_be_read_hold_where_others_cannot(half_blind):
    """A volume of a stack stays registered; what that costs elsewhere is told."""
    told = []

    outcomes = deregistration.deregister(
        half_blind.client, KEYS, deregistration.DeregistrationOptions(), tell=told.append
    )

    assert [(item.status, item.namespace) for item in outcomes] == [("refused", "default"), ("deregistered", "secret")]
    assert volumes.get(half_blind.client, *KEYS[0]) is not None
    assert told == [UNREAD]


def test_registration_is_refused_by_the_marks_that_can_be_read(half_blind):
    """Also where Nomad itself would refuse it."""
    told = []
    others = [document("mine", externalId="fs-2"), document("b", namespace="secret", externalId="fs-2")]

    outcomes = applied.apply(half_blind.client, applied.of_files(others), requester=TO_OTHER, tell=told.append)

    assert [(item.status, item.owner) for item in outcomes] == [("refused", OWNED), ("refused", "")]
    assert told == [UNREAD]


def test_mark_on_which_another_run_of_the_stack_relies_stays(clusters, side, monkeypatch):
    """It saw the mark of the first, and registered other storage before that could."""
    serving = clusters("b")
    first, second = side(serving), side(serving)
    send, outcomes, told = sending.Sender.send_all, [], []

    def send_second(sender, wanted):
        if sender._client is first.client:
            outcomes.extend(
                applied.apply(second.client, applied.of_files([document("v", externalId="fs-2")]), requester=CLAIMANT)
            )
        return send(sender, wanted)

    monkeypatch.setattr(sending.Sender, "send_all", send_second)
    outcomes += applied.apply(first.client, applied.of_files([document("v")]), requester=CLAIMANT, tell=told.append)

    assert [item.status for item in outcomes] == ["registered", "refused"]
    assert (first.owner("v"), told) == (OWNED, ["registered meanwhile: default/v; owner records stay"])


def test_registration_puts_back_a_mark_that_was_removed_meanwhile(ours, monkeypatch):
    """By another run, which saw the volume unregistered."""
    send = sending.Sender.send_all

    def remove_first(*arguments, **options):
        registration_ownership.owner_records_of(ours.client).release(
            registration_ownership.without_tokens([("default", "v")]), CLAIMANT
        )
        return send(*arguments, **options)

    monkeypatch.setattr(sending.Sender, "send_all", remove_first)

    [outcome] = applied.apply(ours.client, applied.of_files([document("v")]), requester=CLAIMANT)

    assert (outcome.status, ours.owner("v")) == ("registered", OWNED)


def test_volume_that_another_took_meanwhile_is_not_taken_back_by_one_that_adopts(ours, monkeypatch):
    """To adopt was meant for the owner of before, not for one that came after it."""
    send = sending.Sender.send_all

    def steal(*arguments, **options):
        registration_ownership.owner_records_of(ours.client).acquire(
            registration_ownership.without_tokens([("default", "v")]),
            registration_ownership.Requester(owner=OTHER, adopts=True),
        )
        return send(*arguments, **options)

    monkeypatch.setattr(sending.Sender, "send_all", steal)

    [outcome] = applied.apply(
        ours.client, applied.of_files([document("v")]), requester=dataclasses.replace(CLAIMANT, adopts=True)
    )

    assert (outcome.status, ours.owner("v")) == ("refused", OTHER)


@pytest.mark.parametrize("way", ["resource", "command"])
def test_volume_that_another_took_at_the_same_moment_is_told(ours, monkeypatch, way):
    """Its mark was gone for a moment, and somebody was there."""
    send = sending.Sender.send_all

    def steal(*arguments, **options):
        registration_ownership.owner_records_of(ours.client).acquire(
            registration_ownership.without_tokens([("default", "v")]),
            registration_ownership.Requester(owner=OTHER, adopts=True),
        )
        return send(*arguments, **options)

    monkeypatch.setattr(sending.Sender, "send_all", steal)
    reason = "volume default/v belongs to stack bank/prod now, and was registered by this run: resolve the ownership"

    if way == "command":
        [outcome] = applied.apply(ours.client, applied.of_files([document("v")]), requester=CLAIMANT)
        assert (outcome.status, outcome.owner, reason in outcome.reason) == ("refused", OTHER, True)
    else:
        with pytest.raises(errors.RefusedError, match=reason):
            RESOURCE.create(ours.context, NEWS | {"volumeId": "v", "name": "v"})
    assert ours.owner("v") == OTHER


@pytest.mark.parametrize("made", [RESOURCE, created_volume.CreatedVolumeResource()], ids=["registered", "created"])
def test_resource_that_is_declared_again_takes_the_volume_back(clusters, side, made):
    """
    A move that ended before the old resource was deleted, and was taken back: the next run has both in the state.

    The one that the program declares differs, and its update takes the volume over; the other's delete leaves it alone.
    """
    ours = side(clusters("a"))
    news = NEWS | {"ownerId": "0123456789abcdef"}
    identity, outputs = RESOURCE.create(ours.context, news)
    _, moved = RESOURCE.create(side_again(ours).context, news)

    found = made.read(ours.context, identity, news, outputs)
    differs = made.diff(identity, news, found[1], news)
    taken_back = made.update(ours.context, identity, found[1], news)
    ours.context.operation.declare(made.declared.token, "urn:declared again", news)
    ours.sent.clear()
    RESOURCE.delete(ours.context, identity, moved)

    assert (differs.updates, differs.replaces) == (("nonce",), ())
    assert len({outputs["nonce"], moved["nonce"], taken_back["nonce"]}) == 3
    assert ours.wrote() == []
    assert made.read(ours.context, identity, news, taken_back)[1]["nonce"] == taken_back["nonce"]


def side_again(caller):
    """Return *caller* in an operation that knows nothing of what was done before."""
    context = dataclasses.replace(caller.context, operation=resource.Operation())
    return dataclasses.replace(caller, context=context)


def test_delete_of_what_another_resource_holds_leaves_it_alone_after_a_refresh(clusters, side):
    """The move goes on: the old resource was read, and is deleted."""
    ours = side(clusters("a"))
    identity, outputs = RESOURCE.create(ours.context, NEWS)
    RESOURCE.create(side_again(ours).context, NEWS)
    _, read = RESOURCE.read(ours.context, identity, NEWS, outputs)
    ours.sent.clear()

    RESOURCE.delete(side_again(ours).context, identity, read)

    assert ours.wrote() == []
    assert ours.told[-1] == (
        "volume default/mysql stays registered: another resource of this stack has taken it over, or a newer state of "
        "this one"
    )


def test_job_that_is_declared_again_is_taken_back(clusters, side):
    """As a volume: the update takes it over before the other resource is deleted."""
    ours, job = side(clusters("a")), plugin_job.PluginJobResource()
    news = {"jobId": "plugin", "namespace": "default", "hcl": JOB, "owner": OWNED, "ownerId": "0123456789abcdef"}
    identity, outputs = job.create(ours.context, news)
    _, moved = job.create(side_again(ours).context, news)

    found = job.read(ours.context, identity, news, outputs)
    differs = job.diff(identity, news, found[1], news)
    taken_back = job.update(side_again(ours).context, identity, found[1], news)
    ours.sent.clear()
    job.delete(side_again(ours).context, identity, moved)

    assert (differs.updates, differs.replaces) == (("nonce",), ())
    assert taken_back["jobModifyIndex"] == outputs["jobModifyIndex"]
    assert ours.wrote() == []


SYSTEM = "fs-0123456789abcdef0"
POINT = f"{SYSTEM}::fsap-0123456789abcdef0"


@pytest.mark.parametrize(
    ("external_id", "is_refused"),
    [(POINT, True), (f"{SYSTEM}:/up", False), (SYSTEM, False), (f"{SYSTEM}::fsap-00000001", False)],
)
def test_access_point_is_kept_for_the_registrations_of_it_alone(ours, external_id, is_refused):
    """The file system stays, and what else is in it."""
    storage = {"shared": True, "owned": True, "part": True}
    _, made = RESOURCE.create(ours.context, NEWS | {"externalId": POINT, "storage": storage})
    guest = {"volumeId": "guest", "name": "guest", "owner": OTHER, "externalId": external_id}
    RESOURCE.create(ours.context, NEWS | guest)

    with (
        pytest.raises(errors.RefusedError, match="not removed: fsap-0123456789abcdef0 would be deleted")
        if is_refused
        else contextlib.nullcontext()
    ):
        ours.client.clock = clocks.Clock()
        RESOURCE.delete(ours.context, IDENTITY, made)


def test_volumes_of_the_stack_that_go_in_the_same_run_are_waited_for(ours):
    """The program names the file system by its id, so that the engine removes both at once."""
    _, made = RESOURCE.create(ours.context, NEWS | {"externalId": SYSTEM, "storage": {"shared": True, "owned": True}})
    guest = {"volumeId": "guest", "name": "guest", "externalId": f"{SYSTEM}:/up"}
    identity, theirs = RESOURCE.create(ours.context, NEWS | guest)

    class Meanwhile(clocks.Clock):
        def wait(self, event, seconds):
            RESOURCE.delete(ours.context, identity, theirs)
            return super().wait(event, seconds)

    ours.client.clock = Meanwhile()
    RESOURCE.delete(ours.context, IDENTITY, made)

    assert volumes.get(ours.client, "default", "mysql") is None


@pytest.mark.parametrize(
    ("guest", "is_refused"),
    [
        ({"owner": OTHER, "externalId": f"{SYSTEM}:/up"}, True),
        ({"owner": OTHER, "externalId": f"efs:{SYSTEM}:/"}, True),
        ({"owner": "", "externalId": f"{SYSTEM}::fsap-00000001"}, True),
        ({"owner": OTHER, "externalId": "fs-0fedcba9876543210"}, False),
        ({"owner": OWNED, "externalId": f"{SYSTEM}:/up"}, True),
    ],
    ids=["folder of another stack", "all of it", "without an owner", "other file system", "of this stack"],
)
def test_file_system_with_another_volume_is_not_deleted(ours, guest, is_refused):
    """Its registration stays, and so the engine keeps the file system; one of this stack is waited for before."""
    _, made = RESOURCE.create(ours.context, NEWS | {"externalId": SYSTEM, "storage": {"shared": True, "owned": True}})
    RESOURCE.create(ours.context, NEWS | {"volumeId": "guest", "name": "guest"} | guest)

    with (
        pytest.raises(errors.RefusedError, match="which default/guest needs: registered for it or a part of it")
        if is_refused
        else contextlib.nullcontext()
    ):
        ours.client.clock = clocks.Clock()
        RESOURCE.delete(ours.context, IDENTITY, made)

    assert (volumes.get(ours.client, "default", "mysql") is not None) is is_refused
