"""The plugin over a real gRPC channel: what the engine gets, and what an operator reads."""

# ruff: noqa: ARG001, ARG005  # doubles have the signatures of what they stand for; a fixture may be there to be there

import threading

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.provider import server as pulumi_server
from pulumi.runtime.proto import plugin_pb2, provider_pb2, status_pb2

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.nomad import cluster_identity
from nomad_csi.provider import servicer, wire
from tests import deadlines

PROVIDER = "urn:pulumi:dev::lab::pulumi:providers:nomad-csi::default"
MARK = "engine:emulator,nomad:emulator,aws:moto"
PASSWORD = "canary-password-81b2"
ACL_TOKEN = "canary-token-44fe"
NEWS = {"name": "a", "labels": {"tier": "fast"}}


def failure(call, request):
    """Return the error that *call* ends with."""
    with pytest.raises(grpc.RpcError) as failed:
        call(request)
    return failed.value


@pytest.mark.parametrize("make", [True, False])
def test_function_answers_which_cluster_it_is(plugin, monkeypatch, make):
    """Of the Nomad that the provider talks to, configured again too; one is made for it where that is asked."""
    asked, closed = [], []

    def of(client, *, make):
        asked.append((client.connection.address, make))
        return "0f8fad5b-d9cb-469f-a165-70867728950e"

    monkeypatch.setattr(cluster_identity, "_identity", of)
    monkeypatch.setattr(nomad.Nomad, "close", lambda client: closed.append(client.connection.address))
    request = provider_pb2.InvokeRequest(tok="nomad-csi:index:clusterId", args=wire.dump({"make": make}))
    for port in (4646, 4747):
        plugin.Configure(provider_pb2.ConfigureRequest(args=wire.dump({"address": f"http://127.0.0.1:{port}"})))
        answer = plugin.Invoke(request)
    request.args.CopyFrom(wire.dump({"make": make, "recorded": ["0f8fad5b"]}))
    plugin.Invoke(request)

    assert wire.load(getattr(answer, "return"))[0] == {"id": "0f8fad5b-d9cb-469f-a165-70867728950e"}
    known = ("http://127.0.0.1:4747", False)  # a stack with a cluster gets no other one
    assert asked == [("http://127.0.0.1:4646", make), ("http://127.0.0.1:4747", make), known]
    assert closed == ["http://127.0.0.1:4646"]


def test_preview_goes_on_without_nomad_and_an_update_does_not(plugin, engine):
    """Nothing is made in a preview; what an update makes is to have its tag."""
    plugin.Configure(provider_pb2.ConfigureRequest(args=wire.dump({"address": "http://127.0.0.1:9"})))

    request = provider_pb2.InvokeRequest(tok="nomad-csi:index:clusterId", args=wire.dump({"make": False}))
    answer = plugin.Invoke(request)
    request.args.CopyFrom(wire.dump({"make": True}))
    error = failure(plugin.Invoke, request)

    assert wire.load(getattr(answer, "return"))[0] == {"id": ""}
    (_, line, _), _ = engine.lines
    assert line.startswith("the preview does not know the cluster, which Nomad did not report: ")
    assert error.code() == grpc.StatusCode.UNKNOWN


def test_check_fills_in_and_accepts_unknown_values(plugin, scripted, urn):
    """A value that is not known yet goes through a check unchanged."""
    news = wire.dump({"name": wire.UNKNOWN, "labels": {"tier": wire.UNKNOWN}, "size": 3})

    answer = plugin.Check(provider_pb2.CheckRequest(urn=urn, news=news))

    assert wire.load(answer.inputs)[0] == {"name": wire.UNKNOWN, "labels": {"tier": wire.UNKNOWN}, "size": 3}
    assert list(answer.failures) == []


def test_check_never_names_the_property_of_a_failure(plugin, scripted, urn):
    """The engine prints the value of a property that a failure names; what the program calls secret is not shown."""
    news = wire.dump({"password": {"key": 5}, "size": PASSWORD}, secrets={"size"})

    answer = plugin.Check(provider_pb2.CheckRequest(urn=urn, news=news))

    assert [(item.property, item.reason) for item in answer.failures] == [
        ("", "name: expected a value, got nothing; add name"),
        ("", "size: expected a valid integer, got '[secret]'"),
        ("", "password.key: expected a valid string, got [secret]"),
    ]


def test_check_marks_secrets(plugin, scripted, urn):
    """What is always secret, and what came in as one, leaves as one."""
    news = wire.dump(NEWS | {"password": {"key": PASSWORD}}, secrets={"labels"})

    answer = plugin.Check(provider_pb2.CheckRequest(urn=urn, news=news))

    assert wire.load(answer.inputs)[1] == {"labels", "password"}


@pytest.mark.usefixtures("scripted")
def test_diff_is_detailed_and_truthful(plugin, urn):
    """Properties, kinds and replacements."""
    old = wire.dump(NEWS | {"password": {"key": "old"}})
    new = wire.dump({"name": "b", "size": 3, "password": {"key": PASSWORD}})

    answer = plugin.Diff(provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=old, olds=old, news=new))

    kinds = provider_pb2.PropertyDiff
    assert answer.changes == provider_pb2.DiffResponse.DIFF_SOME
    assert list(answer.replaces) == ["name"]
    assert list(answer.diffs) == ["name", "labels", "password", "size"]
    assert (answer.deleteBeforeReplace, answer.hasDetailedDiff) == (True, True)
    assert {path: (item.kind, item.inputDiff) for path, item in answer.detailedDiff.items()} == {
        "name": (kinds.UPDATE_REPLACE, True),
        "labels": (kinds.DELETE, True),
        "password": (kinds.UPDATE, True),
        "size": (kinds.ADD, True),
    }


def declare(plugin, urn, **news):
    """Check inputs as the engine does before it compares them, and return them."""
    request = provider_pb2.CheckRequest(urn=urn, news=wire.dump(NEWS | news))
    return plugin.Check(request).inputs


def test_diff_shows_the_notice_of_a_change(plugin, scripted, urn, engine):
    """As a warning, without secrets."""
    scripted.notice = f"drops a first, {PASSWORD}, canary-of-inputs, canary-of-outputs"
    new = declare(plugin, urn, name="b", labels={"tier": "slow"}, password={"key": PASSWORD})
    inputs, outputs = (wire.dump(NEWS | {"password": {"key": f"canary-of-{each}"}}) for each in ("inputs", "outputs"))

    plugin.Diff(provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=inputs, olds=outputs, news=new))

    assert engine.lines == [(urn, "drops a first, [secret], [secret], [secret]", False), (urn, "1 warning", True)]


def test_diff_of_a_refresh_shows_no_notice(plugin, scripted, urn, engine):
    """It compares in the other direction, and changes nothing: the program has not declared the object yet."""
    scripted.notice = "drops a first"
    old, new = wire.dump(NEWS), wire.dump(NEWS | {"name": "b"})

    answer = plugin.Diff(provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=old, olds=old, news=new))

    assert list(answer.detailedDiff) == ["name"]
    assert engine.lines == []


def test_diff_without_a_difference_says_nothing(plugin, scripted, urn, engine):
    """
    An unchanged object stays unchanged, and no line is shown.

    Deletion ahead is asked for all the same: the engine completes an interrupted replacement without a difference, and
    would delete the new object, which has the id of the old one.
    """
    scripted.notice = "drops a first"
    same = wire.dump(NEWS)

    answer = plugin.Diff(provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=same, olds=same, news=same))

    assert answer.changes == provider_pb2.DiffResponse.DIFF_NONE
    assert answer.deleteBeforeReplace
    assert engine.lines == []


@pytest.mark.parametrize(
    ("found", "difference"),
    [("same", None), ("other", "cluster"), ("lost", "cluster"), ("not known", None), (TimeoutError, None)],
)
def test_an_unchanged_object_of_another_cluster_is_a_difference(
    plugin, scripted, urn, monkeypatch, preflights, found, difference
):
    """The address changed: the preview is refused with the ways out, and does not say that all is as it was."""

    def compare(client, outputs):
        if found is TimeoutError:
            raise errors.NomadApiError("GET", "/v1/var/nomad-csi/cluster", "no answer", kind="retry")
        return found

    monkeypatch.setattr(cluster_identity, "compare", compare)
    monkeypatch.setattr(cluster_identity, "cluster_id", lambda client: "that one")
    same, olds = wire.dump(NEWS), wire.dump(NEWS | {"cluster": "this one"})

    answer = plugin.Diff(provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=same, olds=olds, news=same))

    inputs = {path: item.inputDiff for path, item in answer.detailedDiff.items()}
    assert inputs == ({difference: False} if difference else {})
    renamed = wire.dump(NEWS | {"name": "b"})
    replaced = plugin.Diff(provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=same, olds=olds, news=renamed))
    assert list(replaced.detailedDiff) == ["name"]
    update = provider_pb2.UpdateRequest(urn=urn, id="a", olds=olds, news=same, preview=True)
    if difference:
        assert "resource thing is recorded in cluster this one" in failure(plugin.Update, update).details()
    else:
        plugin.Update(update)


def test_an_object_is_compared_with_no_cluster_before_the_address_is_known(plugin, scripted, urn, monkeypatch):
    """Nothing is known of a difference then."""
    monkeypatch.setattr(cluster_identity, "compare", lambda client, outputs: "other")
    plugin.Configure(provider_pb2.ConfigureRequest(args=wire.dump({"address": wire.UNKNOWN})))
    same, olds = wire.dump(NEWS), wire.dump(NEWS | {"cluster": "this one"})

    answer = plugin.Diff(provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=same, olds=olds, news=same))

    assert answer.changes == provider_pb2.DiffResponse.DIFF_NONE


def test_diff_honours_what_the_program_ignores(plugin, scripted, urn):
    """``ignoreChanges`` names properties."""
    new = wire.dump({"name": "b", "labels": {"tier": "slow"}, "size": 2})
    request = provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=wire.dump(NEWS), olds=wire.dump(NEWS), news=new)
    request.ignoreChanges.extend(["name", "labels"])

    assert list(plugin.Diff(request).detailedDiff) == ["size"]


def test_notice_of_an_ignored_change_is_not_shown(plugin, scripted, urn, engine):
    """Nothing is replaced."""
    scripted.notice = "drops a first"
    old, new = wire.dump(NEWS), declare(plugin, urn, name="b")

    plugin.Diff(provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=old, olds=old, news=new, ignoreChanges=["name"]))

    assert engine.lines == []


def test_create_preview_returns_the_id(plugin, scripted, urn):
    """What depends on the id is known in a preview, and nothing is made."""
    answer = plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS), preview=True))

    assert answer.id == "a"
    assert wire.load(answer.properties)[0] == NEWS | {"state": wire.UNKNOWN}
    later = wire.dump({"name": wire.UNKNOWN})
    assert plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=later, preview=True)).id == ""
    assert scripted.seen == []


@pytest.fixture
def preflights(scripted, monkeypatch):
    """What the scripted resource was asked in previews: outputs of before, and inputs."""
    seen = []
    preflight = lambda context, old_outputs, news: seen.append((dict(old_outputs), news))  # noqa: E731
    monkeypatch.setattr(scripted, "preflight", preflight, raising=False)
    return seen


def test_a_preview_may_look_before_it_answers(plugin, preflights, urn):
    """At what is to be created, changed, and replaced; a replacement knows what it follows."""
    old, new = wire.dump(NEWS | {"state": "made"}), wire.dump(NEWS | {"name": "b"})

    plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS), preview=True))
    plugin.Update(provider_pb2.UpdateRequest(urn=urn, id="a", olds=old, news=wire.dump(NEWS), preview=True))
    plugin.Diff(provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=wire.dump(NEWS), olds=old, news=new))
    plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=new, preview=True))
    plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=new))

    was = NEWS | {"state": "made"}
    assert preflights == [({}, NEWS), (was, NEWS), (was, NEWS | {"name": "b"})]


def test_a_preview_does_not_look_at_a_cluster_that_is_not_known_yet(plugin, preflights, urn):
    """Its address is the output of another resource."""
    plugin.Configure(provider_pb2.ConfigureRequest(args=wire.dump({"address": wire.UNKNOWN})))

    plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS), preview=True))

    assert preflights == []


def test_a_step_knows_what_the_operation_has_said(plugin, scripted, urn, engine, monkeypatch):
    """What the program declares and what was created; forgotten when another operation begins."""
    told = []

    def delete(context, identity, outputs):
        made = context.operation.was_created(scripted.declared.token, identity)
        declared = context.operation.declared(scripted.declared.token, urn)
        told.append((context.urn, declared, made, context.operation.recorded_cluster()))

    monkeypatch.setattr(scripted, "delete", delete)
    monkeypatch.setattr(cluster_identity, "compare", lambda client, outputs: "same")
    request = provider_pb2.DeleteRequest(urn=urn, id="a", properties=wire.dump(NEWS))
    olds, news = wire.dump(NEWS | {"cluster": "c1"}), wire.dump(NEWS)

    plugin.Check(provider_pb2.CheckRequest(urn=urn, news=wire.dump(NEWS)))
    plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS)))
    plugin.Diff(provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=news, olds=olds, news=news))
    plugin.Delete(request)
    plugin.Read(provider_pb2.ReadRequest(urn=urn, id="b", properties=wire.dump({"cluster": "c2"})))
    plugin.Delete(request)
    answer = plugin.Handshake(provider_pb2.ProviderHandshakeRequest(engine_address=engine.address))
    plugin.Delete(request)

    assert told == [(urn, NEWS, True, {"cluster": "c1"}), (urn, NEWS, True, {}), (urn, None, False, {})]
    assert answer == provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True)


def test_create_marks_secrets_and_asks_to_be_read_before_updates(plugin, scripted, urn):
    """Outputs are as secret as the inputs; a later preview checks the object first."""
    properties = wire.dump(NEWS | {"password": {"key": PASSWORD}}, secrets={"labels"})

    answer = plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=properties))

    values, secrets = wire.load(answer.properties)
    assert values == NEWS | {"password": {"key": PASSWORD}, "state": "made"}
    assert secrets == {"labels", "password"}
    assert answer.refresh_before_update


def test_a_bug_names_its_place_and_no_values(plugin, scripted, urn, monkeypatch):
    """A bug is called one, with file and line; the values that it met stay out."""
    monkeypatch.setattr(scripted, "create", lambda context, news: {}[news["password"]["key"]])
    properties = wire.dump({"name": "a", "password": {"key": PASSWORD}})

    error = failure(plugin.Create, provider_pb2.CreateRequest(urn=urn, properties=properties))

    assert error.code() == grpc.StatusCode.INTERNAL
    assert error.details().startswith("bug in nomad-csi: KeyError at test_servicer.py:")
    assert PASSWORD not in error.details()


@pytest.mark.parametrize("step", ["create", "update"])
def test_an_object_that_is_not_ready_is_recorded(serve, scripted, urn, monkeypatch, step):
    """The engine gets id, inputs, outputs and reasons, so that the next run goes on from there; what was secret stays."""
    plugin = serve({"NOMAD_CSI_SANDBOX": MARK})
    olds = wire.dump({"name": "a", "sandbox": MARK}, secrets={"name"})

    def fail(*arguments):
        news = arguments[-1]
        raise resource.InitFailedError("a", dict(news) | {"state": "half"}, (f"no {news['password']['key']} yet",))

    monkeypatch.setattr(scripted, step, fail)
    given = wire.dump({"name": "a", "password": {"key": PASSWORD}})
    call, request = {
        "create": (plugin.Create, provider_pb2.CreateRequest(urn=urn, properties=given)),
        "update": (plugin.Update, provider_pb2.UpdateRequest(urn=urn, id="a", news=given, olds=olds)),
    }[step]

    error = failure(call, request)

    packed = status_pb2.Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
    detail = provider_pb2.ErrorResourceInitFailed()
    assert packed.details[0].Unpack(detail)
    assert (detail.id, list(detail.reasons)) == ("a", ["no [secret] yet"])
    assert (packed.code, packed.message) == (grpc.StatusCode.UNKNOWN.value[0], "no [secret] yet")
    assert wire.load(detail.properties) == (
        {"name": "a", "password": {"key": PASSWORD}, "state": "half", "sandbox": MARK},
        {"password", "name"} if step == "update" else {"password"},
    )
    assert wire.load(detail.inputs)[0] == {"name": "a", "password": {"key": PASSWORD}}
    assert detail.refresh_before_update
    assert (error.code(), error.details()) == (grpc.StatusCode.UNKNOWN, "no [secret] yet")


def test_read_returns_inputs_and_outputs(plugin, scripted, urn):
    """A read gives both, with their secrets."""
    inputs = wire.dump(NEWS, secrets={"labels"})

    outputs = wire.dump(NEWS, secrets={"name"})

    answer = plugin.Read(provider_pb2.ReadRequest(urn=urn, id="a", inputs=inputs, properties=outputs))

    assert answer.id == "a"
    assert wire.load(answer.inputs) == (NEWS, {"labels", "name"})
    assert wire.load(answer.properties) == (NEWS | {"state": "read"}, {"labels", "name"})
    assert answer.refresh_before_update


def test_read_of_what_is_gone_has_no_id(plugin, scripted, urn, monkeypatch):
    """An empty id tells the engine to forget the object."""
    monkeypatch.setattr(scripted, "read", lambda *_: None)

    assert plugin.Read(provider_pb2.ReadRequest(urn=urn, id="a")).id == ""


def test_update_gets_what_was_recorded(plugin, scripted, urn):
    """An update knows the old outputs; its preview changes nothing."""
    olds, news = wire.dump(NEWS | {"state": "made"}), wire.dump(NEWS | {"size": 2})
    request = provider_pb2.UpdateRequest(urn=urn, id="a", olds=olds, news=news)

    previewed = plugin.Update(provider_pb2.UpdateRequest(urn=urn, id="a", olds=olds, news=news, preview=True))
    answer = plugin.Update(request)

    assert wire.load(previewed.properties)[0]["state"] == wire.UNKNOWN
    assert wire.load(answer.properties)[0] == NEWS | {"size": 2, "state": "changed"}
    assert scripted.seen == [("update", NEWS | {"state": "made"}, NEWS | {"size": 2})]
    assert answer.refresh_before_update


def test_what_was_secret_is_secret_after_an_update(plugin, scripted, urn):
    """Also where the program does not mark it any more."""
    olds, news = wire.dump(NEWS | {"state": "made"}, secrets={"labels"}), wire.dump(NEWS)

    answer = plugin.Update(provider_pb2.UpdateRequest(urn=urn, id="a", olds=olds, news=news))

    assert wire.load(answer.properties)[1] == {"labels"}


def test_objects_of_the_sandbox_carry_its_mark(serve, scripted, urn):
    """Everything made in the sandbox says so in its outputs."""
    plugin = serve({"NOMAD_CSI_SANDBOX": MARK})

    made = plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS)))

    assert wire.load(made.properties)[0]["sandbox"] == MARK


@pytest.mark.parametrize(
    ("own", "recorded", "says"),
    [
        ("", NEWS | {"sandbox": MARK}, "this state belongs to the sandbox"),
        (MARK, NEWS, "this state belongs to a real cluster"),
    ],
    ids=["real run, sandbox state", "sandbox run, real state"],
)
def test_state_of_the_other_side_is_refused(serve, scripted, own, recorded, says):
    """No step touches an object of the other side."""
    plugin = serve({"NOMAD_CSI_SANDBOX": own})
    urn = f"urn:pulumi:dev::lab::{scripted.declared.token}::thing"
    old, new = wire.dump(recorded), wire.dump(NEWS)

    for call, request in [
        (plugin.Diff, provider_pb2.DiffRequest(urn=urn, id="a", old_inputs=new, olds=old, news=new)),
        (plugin.Read, provider_pb2.ReadRequest(urn=urn, id="a", inputs=new, properties=old)),
        (plugin.Update, provider_pb2.UpdateRequest(urn=urn, id="a", olds=old, news=new)),
        (plugin.Delete, provider_pb2.DeleteRequest(urn=urn, id="a", properties=old)),
    ]:
        assert says in failure(call, request).details()
    assert scripted.seen == []


def test_the_sandbox_leaves_the_machine_for_no_nomad(serve):
    """A real address in the sandbox is refused before anything is asked."""
    plugin = serve({"NOMAD_CSI_SANDBOX": MARK})
    news = wire.dump({"address": "https://nomad.example.net", "token": ACL_TOKEN})

    error = failure(plugin.CheckConfig, provider_pb2.CheckRequest(urn=PROVIDER, news=news))

    assert "https://nomad.example.net is not on this machine" in error.details()


def test_cancel_reaches_a_waiting_step_and_the_next_operation_starts_afresh(serve, scripted, urn, engine, monkeypatch):
    """Cancel ends what waits at once; the engine's next greeting forgets it."""
    plugin = serve()
    waiting = threading.Event()

    def wait(context, news):
        context.status("0/3 nodes healthy")
        waiting.set()
        assert context.cancelled.wait(deadlines.PATIENT_S)
        raise errors.CancelledError("interrupted: nothing was registered")

    monkeypatch.setattr(scripted, "create", wait)
    call = plugin.Create.future(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS)))
    assert waiting.wait(deadlines.PATIENT_S)

    plugin.Cancel(empty_pb2.Empty())

    assert call.exception(60).details() == "interrupted: nothing was registered"
    assert engine.lines == [(urn, "0/3 nodes healthy", True)]
    monkeypatch.setattr(scripted, "create", lambda context, news: ("a", {"is": context.cancelled.is_set()}))
    plugin.Handshake(provider_pb2.ProviderHandshakeRequest(engine_address=engine.address))
    made = plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS)))
    assert wire.load(made.properties)[0] == {"is": False}


def test_attach_connects_to_the_engine(serve, scripted, urn, engine, monkeypatch):
    """A process that was running before the engine learns its address, and forgets an old cancel."""
    plugin = serve(address="")
    plugin.Cancel(empty_pb2.Empty())

    def create(context, news):
        context.warn(f"cancelled: {context.cancelled.is_set()}")
        return "a", {}

    monkeypatch.setattr(scripted, "create", create)
    plugin.Attach(plugin_pb2.PluginAttach(address=engine.address))
    plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS)))
    plugin.Attach(plugin_pb2.PluginAttach(address=engine.address))
    plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS)))

    assert engine.lines == 2 * [(urn, "cancelled: False", False), (urn, "1 warning", True)]


def test_status_is_sent_on_change_only(plugin, scripted, urn, engine, monkeypatch):
    """A non-interactive run prints every line, so a line that says nothing new to this engine is not sent."""

    def create(context, news):
        for line in ("0/3 healthy", "0/3 healthy", "1/3 healthy"):
            context.status(line)
        context.warn("late")
        context.warn("late")
        return "a", {}

    monkeypatch.setattr(scripted, "create", create)

    plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS)))

    seen = [(urn, "0/3 healthy", True), (urn, "1/3 healthy", True), (urn, "late", False), (urn, "1 warning", True)]
    assert engine.lines == seen

    other = urn.replace("::thing", "::other")
    plugin.Create(provider_pb2.CreateRequest(urn=other, properties=wire.dump(NEWS)))
    seen += [(other, *line) for _, *line in seen]
    assert engine.lines == seen

    monkeypatch.setattr(scripted, "create", lambda context, _: (context.status("1 warning"), ("a", {}))[1])
    plugin.Attach(plugin_pb2.PluginAttach(address=engine.address))
    plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS)))

    assert engine.lines == [*seen, (urn, "1 warning", True)]


def test_a_step_gets_the_operators_timeout_and_the_root(serve, scripted, urn, tmp_path, monkeypatch):
    """Custom timeouts and the folder of rendered files reach the step; the working directory does not."""
    plugin = serve({"NOMAD_CSI_ROOT": "/from-environment", "NOMAD_CSI_IMPORTS": "1", "NOMAD_CSI_SANDBOX": MARK})
    seen = []

    def create(context, news):
        seen.append((str(context.root), context.timeout_s, context.stack, context.imports, context.sandbox))
        return "a", {}

    monkeypatch.setattr(scripted, "create", create)
    request = provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS), timeout=7.0)

    plugin.Create(request)
    answer = plugin.Configure(provider_pb2.ConfigureRequest(args=wire.dump({"root": str(tmp_path)})))
    plugin.Create(request)

    assert seen == [(root, 7.0, "lab/dev", True, MARK) for root in ("/from-environment", str(tmp_path))]
    assert answer == provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True, acceptResources=True)


def test_check_config_keeps_only_what_is_the_providers(plugin):
    """The program's own keys of the stack's configuration are no settings of the provider."""
    known = {"address": "http://127.0.0.1:4646", "token": ACL_TOKEN, "namespace": wire.UNKNOWN}
    news = wire.dump(known | {"storage": "{}", "routes": "x", "tlsSkipVerify": "True", "insecureHttp": "false"})

    answer = plugin.CheckConfig(provider_pb2.CheckRequest(urn=PROVIDER, news=news))

    assert list(answer.failures) == []
    assert wire.load(answer.inputs) == (known | {"tlsSkipVerify": True}, {"token"})


def test_check_config_reports_what_is_wrong(plugin):
    """A mistyped key and a wrong value are told together, the token never."""
    news = wire.dump({"adres": "x", "tlsSkipVerify": "maybe", "root": "here", "token": 7})

    answer = plugin.CheckConfig(provider_pb2.CheckRequest(urn=PROVIDER, news=news))

    message = failure(plugin.Configure, provider_pb2.ConfigureRequest(args=news)).details()
    assert message.startswith("the nomad-csi provider: adres: is no setting")
    assert [(item.property, item.reason) for item in answer.failures] == [
        ("", "adres: is no setting; did you mean address"),
        ("", "token: expected a valid string, got [secret]"),
        ("", "tlsSkipVerify: expected a valid boolean, got 'maybe'"),
        ("", "root: expected an absolute path, got 'here'"),
    ]


def test_diff_config_compares_the_providers_settings_only(plugin):
    """Another storage spec in the same configuration is no change of the provider."""
    old, new = wire.dump({"address": "a", "storage": "1"}), wire.dump({"address": "a", "storage": "2"})
    other = wire.dump({"address": "b"})

    same = plugin.DiffConfig(provider_pb2.DiffRequest(urn=PROVIDER, old_inputs=old, news=new))
    changed = plugin.DiffConfig(provider_pb2.DiffRequest(urn=PROVIDER, old_inputs=old, news=other))

    assert same.changes == provider_pb2.DiffResponse.DIFF_NONE
    assert changed.changes == provider_pb2.DiffResponse.DIFF_SOME


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"address": "https://nomad.other:4646"}, "the only address that NOMAD_TOKEN may be sent to"),
        ({"address": "http://10.0.0.1:4646", "token": "t"}, "expected https:// to another machine"),
        ({"address": "http://10.0.0.1:4646", "token": "t", "insecureHttp": "true"}, ""),
    ],
)
def test_address_and_token_of_the_configuration_go_together(serve, settings, told):
    """A token of the environment is sent only where the environment says; one beside the address goes there."""
    plugin = serve({"NOMAD_ADDR": "https://nomad.internal:443", "NOMAD_TOKEN": PASSWORD})
    request = provider_pb2.CheckRequest(news=wire.dump(settings))

    if told:
        error = failure(plugin.CheckConfig, request)
        assert told in error.details()
        assert PASSWORD not in error.details()
    else:
        assert wire.load(plugin.CheckConfig(request).inputs)[0].keys() == settings.keys()


def test_errors_warnings_and_status_lines_hold_no_secret(plugin, engine, scripted, urn, monkeypatch):
    """The engine keeps them in its log; a terminal shows them, so that they hold no control characters either."""

    def create(context, news):
        context.warn(f"sent {PASSWORD} \x1b[2J")
        context.status(f"sending {PASSWORD} \x1b]0;owned\x07")
        raise errors.RefusedError(f"volume a is claimed by {news['password']['key']} \x9b2J\r\u202e")

    monkeypatch.setattr(scripted, "create", create)
    properties = wire.dump(NEWS | {"password": {"key": PASSWORD}})

    error = failure(plugin.Create, provider_pb2.CreateRequest(urn=urn, properties=properties))

    said = r"volume a is claimed by [secret] \u009b2J\u000d\u202e"
    assert (error.code(), error.details()) == (grpc.StatusCode.UNKNOWN, said)
    told = [line for _, line, _ in engine.lines]
    assert told == [r"sent [secret] \u001b[2J", "1 warning", r"sending [secret] \u001b]0;owned\u0007"]


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("NOMAD_TOKEN", ACL_TOKEN, f"sent {ACL_TOKEN}"),
        ("NOMAD_HTTP_AUTH", f"me:{PASSWORD}", f"sent me:{PASSWORD}"),
        ("NOMAD_HTTP_AUTH", f"me:{PASSWORD}", f"sent {PASSWORD}"),
        ("token", ACL_TOKEN, f"sent {ACL_TOKEN}"),
        ("httpAuth", f"me:{PASSWORD}", f"sent {PASSWORD}"),
    ],
)
def test_credentials_of_the_environment_and_the_settings_are_in_no_line(
    serve, engine, scripted, urn, monkeypatch, variable, value, line
):
    """A proxy in front of Nomad may repeat them in a text of its own."""

    def create(context, news):
        context.warn(line)
        return "a", dict(news)

    monkeypatch.setattr(scripted, "create", create)

    plugin = serve({variable: value})
    plugin.Configure(provider_pb2.ConfigureRequest(args=wire.dump({variable: value})))
    plugin.Create(provider_pb2.CreateRequest(urn=urn, properties=wire.dump(NEWS)))

    assert [line for _, line, _ in engine.lines] == ["sent [secret]", "1 warning"]


FAILURES = {
    "sentence": (errors.RefusedError("no such\nplace"), grpc.StatusCode.UNKNOWN, "no such\nplace"),
    "problem": (
        errors.SpecError((errors.Problem(path="size", got=PASSWORD, allowed="1 or more"),)),
        grpc.StatusCode.UNKNOWN,
        "the resource: size: expected 1 or more, got [secret]",
    ),
    "bug": (KeyError(PASSWORD), grpc.StatusCode.INTERNAL, "bug in nomad-csi: KeyError at nowhere; please report it"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_a_component_fails_with_has_no_value_of_the_user(plugin, monkeypatch, name):
    """A refusal is its sentence; of any other error only its class and place are shown."""
    error, code, said = FAILURES[name]

    async def fails(*_):
        raise error if isinstance(error, errors.NomadCsiError) else pulumi_server.ComponentInitError(error)

    monkeypatch.setattr(servicer.Servicer, "_construct", fails)

    given = wire.dump({"secrets": {"key": PASSWORD}})  # not marked, as by a program that reads them from a file
    request = provider_pb2.ConstructRequest(type="nomad-csi:index:EbsVolume", name="a", inputs=given)

    failed = failure(plugin.Construct, request)

    assert failed.code() is code
    assert said in failed.details()
    assert PASSWORD not in failed.details()
