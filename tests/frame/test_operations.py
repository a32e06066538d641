"""What the engine said in one operation is kept for its steps, and for no other operation."""

import threading

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
