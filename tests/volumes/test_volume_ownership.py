"""Owner records through the resources and the command, on an emulator agent: acquired first, released last, kept apart."""

import contextlib
import dataclasses
import threading

import pytest

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.jobs import plugin_job
from nomad_csi.nomad import volumes
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import deregistration, desired, ownership, sending, volume_resource
from nomad_csi_sandbox.nomad import cluster, server, state
from nomad_csi_sandbox.nomad.clients import nodes
from tests import acl, owner_labels, volume_files

OWNED, OTHER = "shop/prod", "bank/prod"
IDENTITY, KEY = "default/mysql", ("default", "mysql")
RECORD = f"/v1/var/{ownership.path_of('mysql')}"
VOLUME = "/v1/volume/csi/mysql"
STACK_ID = "0123456789abcdef"
REGISTRATION, CREATED = volume_resource.VolumeRegistrationResource(), volume_resource.CreatedVolumeResource()
JOB = plugin_job.PluginJobResource()
KINDS = pytest.mark.parametrize("kind", [REGISTRATION, CREATED], ids=["registered", "created"])
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
OF_JOB = {
    "jobId": "plugin",
    "namespace": "default",
    "hcl": 'job "plugin" {\n  datacenters = ["nowhere"]\n  group "g" {\n    task "t" {\n      driver = "raw_exec"\n'
    '      config {\n        command = "true"\n      }\n    }\n  }\n}\n',
    "owner": OWNED,
}
SHOP, BANK = ownership.Requester(owner=OWNED), ownership.Requester(owner=OTHER)
NOBODY = ownership.Requester()


def adopting(who):
    """Return *who*, to adopt what another owns."""
    return dataclasses.replace(who, adopts=True)


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
        """Return whose the volume is; null without a record."""
        return owner_labels.read(self.client, [("default", volume_id)]).get(("default", volume_id))

    def holds(self, volume_id="mysql"):
        """Return whether the volume is registered."""
        return volumes.get(self.client, "default", volume_id) is not None

    def again(self):
        """Return the same caller in an operation that knows nothing of what was done before."""
        return dataclasses.replace(self.context, operation=resource.Operation())

    def acquire(self, who, volume_id="mysql"):
        """Have *who* acquire the owner record."""
        records = ownership.OwnerRecords(self.client)
        records.acquire(("default", volume_id), ownership.NO_TOKEN, who)

    def release(self, volume_id="mysql"):
        """Have the owner record removed, as by a run of the stack that saw the volume unregistered."""
        records = ownership.OwnerRecords(self.client)
        records.release(("default", volume_id), ownership.NO_TOKEN, SHOP)

    def apply(self, *documents, who=SHOP, tell=lambda _line: None):
        """Have the command register *documents*."""
        return applied.apply(self.client, volume_files.wanted(documents, who), report=tell)


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
    _, outputs = REGISTRATION.create(ours.context, NEWS)
    ours.sent.clear()
    return outputs


@pytest.mark.parametrize("way", ["resource", "command"])
def test_volume_that_another_stack_took_over_during_the_wait_for_its_claims_is_left(clusters, side, monkeypatch, way):
    """The owner is read again after the wait."""
    serving = clusters("a")
    ours, other = side(serving), side(serving)
    _, recorded = REGISTRATION.create(ours.context, NEWS)
    claims = serving.cluster.state.volumes[KEY].claims
    claims["alloc"] = {"Mode": "write", "NodeID": "n", "AccessMode": "", "AttachmentMode": ""}

    def wait(*_):
        claims.clear()
        REGISTRATION.create(other.context, OF_OTHER | {"adopt": True})

    monkeypatch.setattr(ours.client.clock, "wait", wait)
    monkeypatch.setattr(deregistration, "is_ending", lambda _volume: True)
    ours.sent.clear()

    if way == "resource":
        with pytest.raises(errors.RefusedError, match=f"belongs to stack {OTHER}"):
            REGISTRATION.delete(ours.context, IDENTITY, recorded)
    else:
        options = deregistration.DeregistrationOptions(wait_s=10, requester=SHOP)
        [outcome] = deregistration.deregister(ours.client, [KEY], options)
        assert (outcome.status, outcome.reason.partition(":")[0]) == ("refused", f"belongs to owner {OTHER}")
    assert (ours.wrote(), ours.owner()) == ([], OTHER)


def test_copy_of_the_state_under_the_old_name_does_not_hold_the_volume(ours):
    """The stack got another name and id; whoever still has its old state may neither change nor deregister it."""
    old = NEWS | {"ownerId": STACK_ID}
    _, copied = REGISTRATION.create(ours.context, old)
    outputs = REGISTRATION.update(
        ours.context, IDENTITY, copied, NEWS | {"owner": "shop/live", "ownerId": "fedcba9876543210"}
    )
    ours.sent.clear()

    with pytest.raises(errors.RefusedError, match="belongs to stack shop/live"):
        REGISTRATION.update(ours.again(), IDENTITY, copied, old | {"context": {"tier": "slow"}})
    with contextlib.suppress(errors.RefusedError):
        REGISTRATION.delete(ours.again(), IDENTITY, copied)

    assert (ours.wrote(), ours.holds(), ours.owner()) == ([], True, "shop/live")
    assert outputs["nonce"] != copied["nonce"]


@pytest.mark.parametrize(("marked", "updates"), [(True, ("owner",)), (False, ())], ids=["lost", "never written"])
def test_lost_owner_record_is_drift(clusters, side, marked, updates):
    """The next update writes it again; not where the token may not write any: that would be again and again."""
    serving = clusters("a")
    made = REGISTRATION.create(side(serving).context, NEWS)[1]
    held = made if marked else {name: value for name, value in made.items() if name != "marked"}
    ours = side(serving)
    ours.release()

    inputs, outputs = REGISTRATION.read(ours.context, IDENTITY, NEWS, held)

    assert REGISTRATION.diff(IDENTITY, inputs, outputs, NEWS).updates == updates
    # Without them a copy of the state is not recognized, nor another cluster.
    assert (outputs["owner"], outputs["cluster"]) == (OWNED, held["cluster"])
    REGISTRATION.update(ours.context, IDENTITY, held, NEWS)
    assert ours.owner() == OWNED


def test_refresh_reports_another_owner(clusters, side):
    """It was adopted meanwhile."""
    serving = clusters("a")
    held = REGISTRATION.create(side(serving).context, NEWS)[1]
    REGISTRATION.create(side(serving).context, OF_OTHER | {"adopt": True})
    ours = side(serving)

    REGISTRATION.read(ours.context, IDENTITY, NEWS, held)

    assert ours.told == ["volume default/mysql belongs to stack bank/prod now, not to shop/prod as recorded"]


@pytest.fixture
def limited(clusters, side):
    """Return a caller whose token has these rights to variables: ``limited("read")``; *first*: is done before."""

    def make(*rights, first=lambda _caller: None):
        serving = clusters("a", token="right", tokens={"few": acl.writer(*rights)})
        first(side(serving, token="right"))
        return side(serving, token="few")

    return make


def test_token_without_variables_registers_without_an_owner_record(limited):
    """Said once, with what it costs; a later read is no drift."""
    ours = limited()

    held = [REGISTRATION.create(ours.context, NEWS | {"volumeId": name, "name": name})[1] for name in ("a", "b")]

    assert [(item["marked"], item["cluster"]) for item in held] == [(False, ""), (False, "")]
    [told] = ours.told
    assert told.endswith("nothing keeps another stack from taking those of this one")
    new_inputs = NEWS | {"volumeId": "a", "name": "a"}
    assert REGISTRATION.read(ours.context, "default/a", new_inputs, held[0]) == (new_inputs, held[0])


def test_token_that_may_only_read_records_still_respects_them(limited):
    """Another stack's volume is refused; one's own goes without a record."""
    other = limited("read", first=lambda caller: REGISTRATION.create(caller.context, NEWS))

    with pytest.raises(errors.RefusedError, match="belongs to stack shop/prod"):
        REGISTRATION.create(other.context, OF_OTHER)
    assert REGISTRATION.create(other.context, OF_OTHER | {"volumeId": "own", "name": "own"})[1]["marked"] is False


@pytest.mark.parametrize("rights", [(), ("read",)])
def test_without_owner_records_a_removed_volume_stays_registered(limited, rights):
    """Another provider of the program, in another process, may have taken it over for another resource."""
    ours = limited(*rights)
    identity, made = REGISTRATION.create(ours.context, NEWS)

    REGISTRATION.delete(ours.context, identity, made)

    assert ours.holds()
    assert "`nomad volume deregister -namespace=default mysql`" in ours.told[-1]


def test_without_owner_records_storage_of_the_program_stays(limited):
    """What a record keeps in it is not known; also after a deregistration by hand."""
    ours = limited()
    identity, made = REGISTRATION.create(ours.context, NEWS | {"storage": {"owned": True}})

    for _ in range(2):
        with pytest.raises(
            errors.RefusedError, match=r"what needs it is not known: give the token variables .*retainOnDelete"
        ):
            REGISTRATION.delete(ours.context, identity, made)
        volumes.deregister(ours.client, *KEY)


def test_record_that_a_policy_denies_may_keep_the_storage(clusters, side):
    """A list of records leaves it out, which is no proof that there is none."""
    denied = ownership.path_of("secret")
    rules = acl.writer("read", "write", "destroy").replace(
        "variables {", f'variables {{\n    path "{denied}" {{\n      capabilities = ["deny"]\n    }}'
    )
    ours = side(clusters("a", token="right", tokens={"few": rules}), token="few")
    identity, made = REGISTRATION.create(ours.context, NEWS | {"storage": {"owned": True}})

    with pytest.raises(errors.RefusedError, match=r"what needs it is not known: give the token variables "):
        REGISTRATION.delete(ours.context, identity, made)
    assert ours.holds()


def test_storage_of_an_id_that_another_resource_took_over_is_not_deleted(ours):
    """It stays registered for it; to give its record up, too, would be no way out."""
    new_inputs = NEWS | {"ownerId": STACK_ID, "storage": {"owned": True}}
    _, old = REGISTRATION.create(ours.context, new_inputs)
    REGISTRATION.create(ours.again(), new_inputs)

    with pytest.raises(errors.RefusedError, match="deleted with its data, and the id stays registered for it or a"):
        REGISTRATION.delete(ours.again(), IDENTITY, old)


def of_kind(kind, new_inputs):
    """Return the registration *new_inputs* as inputs of *kind*."""
    if kind is REGISTRATION:
        return new_inputs
    return {name: value for name, value in new_inputs.items() if name not in {"externalId", "context", "storage"}}


@KINDS
def test_preview_refuses_a_second_resource_for_what_the_stack_holds(ours, kind):
    """As `up` would; what is not known yet does not differ."""
    REGISTRATION.create(ours.context, NEWS | {"ownerId": STACK_ID})
    wanted = of_kind(kind, NEWS) | {"ownerId": STACK_ID}

    with pytest.raises(errors.RefusedError, match="registered already, and not by this stack as it is now: "):
        kind.preflight(ours.context, {}, wanted | {"pluginId": "other"})
    kind.preflight(ours.context, {}, wanted | {"pluginId": resource.UNKNOWN})


@pytest.mark.parametrize("owner", [{}, {"owner": OWNED}], ids=["registered by hand", "of a state that was lost"])
def test_preview_goes_on_for_storage_that_is_yet_to_be_imported(ours, owner):
    """The file for ``pulumi import`` is made by a preview; it warns, and does not say that the volume is taken over."""
    REGISTRATION.create(ours.context, {name: value for name, value in NEWS.items() if name != "owner"} | owner)
    to_be_made = {"externalId": resource.UNKNOWN, "storage": {"owned": True}, "ownerId": STACK_ID}

    REGISTRATION.preflight(dataclasses.replace(ours.context, imports=True), {}, NEWS | to_be_made)
    with pytest.raises(errors.RefusedError, match="is registered already, for fs-1, and this resource would make new"):
        REGISTRATION.preflight(ours.context, {}, NEWS | to_be_made)

    refused = (
        "volume default/mysql is registered already, for fs-1, and this resource would make new storage for it: add an "
        "alias where the resource was renamed or moved in the program, or choose another id; `up` is refused, unless the "
        "volume is imported first; after `nomad-csi eject`, remove it from the program"
    )
    assert ours.told.count(refused) == 1
    assert [line for line in ours.told if "takes it over" in line] == []


@pytest.mark.parametrize("when", ["preview", "up"])
@KINDS
def test_volume_stays_where_its_new_id_is_another_stacks(ours, held, kind, when):
    """A replacement deregisters first: so the new id is checked before that."""
    moved = {"volumeId": "moved", "name": "moved"}
    wanted = of_kind(kind, NEWS) | moved
    REGISTRATION.create(ours.context, OF_OTHER | moved | {"externalId": "fs-2"})
    ours.context.operation.declare(kind.declared.token, "", wanted)
    ours.sent.clear()

    with pytest.raises(
        errors.RefusedError, match=r"volume default/moved belongs to stack bank/prod.*: choose another id"
    ):
        kind.preflight(ours.context, held, wanted) if when == "preview" else kind.delete(ours.context, IDENTITY, held)

    assert ours.wrote() == []


def document(name, **fields):
    """Return a registration."""
    return desired.parse_inputs(NEWS | {"volumeId": name, "name": name} | fields)


REASON = "belongs to owner shop/prod; nothing was changed: --adopt takes it over"
COMMANDS = {
    "another owner": (BANK, "b", ("refused", REASON, OWNED), OWNED, OTHER),
    "no owner": (NOBODY, "b", ("refused", REASON, OWNED), OWNED, None),
    "adopted by nobody": (adopting(NOBODY), "b", ("updated", "", ""), "", None),  # the record keeps the storage
    "adopted by nobody, and equal": (adopting(NOBODY), "fast", ("unchanged", "", ""), "", None),
}


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(("who", "tier", "outcome", "owner", "owner_of_new"), COMMANDS.values(), ids=COMMANDS)
def test_command_respects_owner_records(ours, who, tier, outcome, owner, owner_of_new):
    """The volume of a stack is refused to others, and the rest is registered."""
    [of_stack, new] = ours.apply(document("mysql", context={"tier": tier}), document("new"), who=who)

    assert (of_stack.status, of_stack.reason.rpartition("}; ")[2], of_stack.owner) == outcome
    assert new.status == "registered"
    assert (ours.owner(), ours.owner("new")) == (owner, owner_of_new)


def test_refused_volume_leaves_no_owner_record(ours):
    """The others have theirs."""
    outcomes = ours.apply(document("good"), document("bad", pluginId="ghost"))

    assert [item.status for item in outcomes] == ["registered", "refused"]
    assert (ours.owner("good"), ours.owner("bad")) == (OWNED, None)


@pytest.fixture
def meanwhile(monkeypatch):
    """Have something done between the acquisition of the owner record and the registration: ``meanwhile(action)``."""
    send = sending.Sender.send

    def during(action):
        def send_then(sender, document, *, is_new):
            action(sender)
            return send(sender, document, is_new=is_new)

        monkeypatch.setattr(sending.Sender, "send", send_then)

    return during


TAKEN = "volume default/v belongs to stack bank/prod now, and was registered by this run: resolve the ownership"
CHANGES = {
    "removed": (lambda caller: caller.release("v"), SHOP, ("registered", "", OWNED)),
    "taken": (lambda caller: caller.acquire(adopting(BANK), "v"), SHOP, ("refused", TAKEN, OTHER)),
    "taken from one who adopts": (lambda caller: caller.acquire(adopting(BANK), "v"), adopting(SHOP), ("refused", TAKEN, OTHER)),
}  # fmt: skip


@pytest.mark.parametrize(("change", "who", "expected"), CHANGES.values(), ids=CHANGES)
def test_owner_record_that_changes_during_the_registration(ours, meanwhile, change, who, expected):
    """Written again where it is gone; never taken back: to adopt was meant for the owner of before."""
    meanwhile(lambda _sender: change(ours))

    [outcome] = ours.apply(document("v"), who=who)

    assert (outcome.status, outcome.reason[: len(TAKEN)], ours.owner("v")) == expected
    assert outcome.owner == (OTHER if expected[0] == "refused" else "")


@pytest.mark.parametrize(
    ("kind", "maker", "new_inputs"),
    [(REGISTRATION, REGISTRATION, NEWS), (CREATED, REGISTRATION, NEWS), (JOB, JOB, OF_JOB)],
    ids=["registered", "created", "job"],
)
def test_resource_that_is_declared_again_takes_the_object_back(ours, kind, maker, new_inputs):
    """
    A move that ended before the old resource was deleted, and was taken back: the next run has both in the state.

    The one that the program declares differs, and its update takes the object over; the other's delete leaves it alone.
    """
    new_inputs = new_inputs | {"ownerId": STACK_ID}
    identity, outputs = maker.create(ours.context, new_inputs)
    _, moved = maker.create(ours.again(), new_inputs)

    found = kind.read(ours.context, identity, new_inputs, outputs)
    differs = kind.diff(identity, new_inputs, found[1], new_inputs)
    taken_back = kind.update(ours.again(), identity, found[1], new_inputs)
    ours.sent.clear()
    maker.delete(ours.again(), identity, moved)

    assert (differs.updates, differs.replaces) == (("nonce",), ())
    assert len({outputs["nonce"], moved["nonce"], taken_back["nonce"]}) == 3
    assert ours.wrote() == []
    assert kind.read(ours.context, identity, new_inputs, taken_back)[1]["nonce"] == taken_back["nonce"]


SYSTEM = "fs-0123456789abcdef0"
POINT = f"{SYSTEM}::fsap-0123456789abcdef0"
NEEDED = "which default/guest needs: registered for it or a part of it"
POINT_NEEDED = "not removed: fsap-0123456789abcdef0 would be deleted"
GUESTS = {
    "folder of another stack": (SYSTEM, OTHER, f"{SYSTEM}:/up", NEEDED),
    "folder of this stack": (SYSTEM, OWNED, f"{SYSTEM}:/up", NEEDED),
    "all of it": (SYSTEM, OTHER, f"efs:{SYSTEM}:/", NEEDED),
    "without an owner": (SYSTEM, "", f"{SYSTEM}::fsap-00000001", NEEDED),
    "other file system": (SYSTEM, OTHER, "fs-0fedcba9876543210", None),
    "the access point": (POINT, OTHER, POINT, POINT_NEEDED),
    "a folder beside the access point": (POINT, OTHER, f"{SYSTEM}:/up", None),
    "the file system of the access point": (POINT, OTHER, SYSTEM, None),
    "another access point": (POINT, OTHER, f"{SYSTEM}::fsap-00000001", None),
}


@pytest.mark.parametrize(("storage", "owner", "external_id", "refusal"), GUESTS.values(), ids=GUESTS)
def test_storage_of_the_program_with_another_volume_is_not_deleted(ours, storage, owner, external_id, refusal):
    """Its registration stays, and so the engine keeps the storage."""
    own = {"shared": True, "owned": True, "part": storage == POINT}
    _, made = REGISTRATION.create(ours.context, NEWS | {"externalId": storage, "storage": own})
    guest = {"volumeId": "guest", "name": "guest", "owner": owner, "externalId": external_id}
    REGISTRATION.create(ours.context, NEWS | guest)

    with pytest.raises(errors.RefusedError, match=refusal) if refusal else contextlib.nullcontext():
        REGISTRATION.delete(ours.context, IDENTITY, made)

    assert ours.holds() is bool(refusal)
