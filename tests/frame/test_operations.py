"""What the engine said in one operation is kept for its steps, and for no other operation."""

import threading
from types import SimpleNamespace

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource

TOKEN, OTHER = "nomad-csi:index:A", "nomad-csi:index:B"


def test_objects_are_known_by_type_and_urn():
    """Declared ones all together, too."""
    operation = resource.Operation()
    operation.declare(TOKEN, "urn:1", {"id": "a"})
    operation.declare(TOKEN, "urn:1", {"id": "b"})
    operation.declare(OTHER, "urn:2", {"id": "c"})
    operation.record("urn:1", {"id": "a"})
    operation.create(TOKEN, "a")

    assert (operation.declared(TOKEN, "urn:1"), operation.declared(TOKEN, "urn:2")) == ({"id": "b"}, None)
    assert operation.all_declared(OTHER) == ({"id": "c"},)
    assert (operation.recorded("urn:1"), operation.recorded("urn:2")) == ({"id": "a"}, {})
    assert (operation.was_created(TOKEN, "a"), operation.was_created(OTHER, "a")) == (True, False)


def test_a_question_is_asked_once_however_many_ask():
    """The others wait for the first one's answer."""
    operation = resource.Operation()
    asked, gate, answers = [], threading.Barrier(8), []

    def ask():
        asked.append(1)
        return "answer"

    def caller():
        gate.wait()
        answers.append(operation.once("q", ask))

    threads = [threading.Thread(target=caller) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (asked, answers) == ([1], ["answer"] * 8)


def test_a_failure_is_the_answer_too():
    """A cluster that does not answer is not asked for each of many volumes."""
    operation, asked = resource.Operation(), []

    def fail():
        asked.append(1)
        raise errors.NomadApiError("GET", "/v1/plugins", "nobody", kind="retry")

    for _ in range(2):
        with pytest.raises(errors.NomadApiError, match="nobody"):
            operation.once("q", fail)
    assert asked == [1]


@pytest.mark.parametrize(
    ("clusters", "recorded"), [([], {}), (["", None], {}), (["c1", ""], {"cluster": "c1"}), (["c1", "c2", "c1"], {})]
)
def test_cluster_of_the_state_is_known_where_its_objects_agree(clusters, recorded):
    """Of several, none is that of a new object."""
    operation = resource.Operation()
    for cluster in clusters:
        operation.see({"cluster": cluster})

    assert operation.recorded_cluster() == recorded


@pytest.mark.parametrize(
    ("given", "parts"), [("a/b", ("a", "b")), ("a", None), ("/b", None), ("a/", None), ("a/b/c", None)]
)
def test_identity_has_two_parts(given, parts):
    """Another one is an error of an import."""
    if parts:
        assert resource.split_identity(given, "NAMESPACE/ID") == parts
        return
    with pytest.raises(errors.SpecError) as caught:
        resource.split_identity(given, "NAMESPACE/ID")
    assert str(caught.value) == f"import: 1 problem\n  id: expected NAMESPACE/ID, got {given!r}"


DOWN = errors.NomadApiError("GET", "/v1/x", "no connection", kind="retry")
BUSY = errors.NomadApiError("GET", "/v1/x", "busy", status=500, kind="retry")
REFUSED = errors.NomadApiError("GET", "/v1/x", "refused", status=403, kind="denied")
UNREACHABLE = "http://n is not reachable: v was not compared"


@pytest.mark.parametrize(
    ("block", "is_recorded", "error", "is_raised", "said"),
    [
        (resource.KeptIfUnreachable, True, DOWN, False, [UNREACHABLE]),
        (resource.KeptIfUnreachable, True, BUSY, False, [UNREACHABLE]),
        (resource.KeptIfUnreachable, True, REFUSED, True, []),
        (resource.KeptIfUnreachable, False, DOWN, True, []),
        (resource.KeptIfUnreachable, True, errors.RefusedError("x"), True, []),
        (resource.Previewed, True, DOWN, False, [UNREACHABLE]),
        (resource.Previewed, True, REFUSED, False, [f"v was not checked: {REFUSED}"]),
        (resource.Previewed, False, DOWN, False, []),
        (resource.Previewed, False, errors.RefusedError("x"), True, []),
    ],
)
def test_recorded_state_is_kept_while_nomad_is_unreachable(block, is_recorded, error, is_raised, said):
    """A preview goes on after each error of Nomad, and ends with a refusal."""
    warnings = []
    client = SimpleNamespace(connection=SimpleNamespace(address="http://n"))
    context = resource.Context(connect=lambda: client, warn=warnings.append)

    def step():
        with block(context, "v", is_recorded=is_recorded):
            raise error

    if is_raised:
        with pytest.raises(type(error)):
            step()
    else:
        step()
    assert warnings == said
