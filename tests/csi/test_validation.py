"""Questions about volumes, packed for a job, and what a controller answers to them."""

import json

import pytest

from nomad_csi.csi import probe, records, validation

QUESTION = records.ValidationQuestion(
    key=("default", "mysql"),
    external_id="vol-1",
    uses=(("single-node-writer", "file-system"),),
    context={"a": "${x} {{ y }} \u00e4"},
)


def task(count=1):
    questions = tuple(
        records.ValidationQuestion(key=("default", f"v{number}"), external_id=f"vol-{number:017x}", uses=QUESTION.uses)
        for number in range(count)
    )
    return validation.ValidationTask(seconds=30.0, by_allocation={"alloc-a": (QUESTION, *questions)})


@pytest.mark.parametrize("count", [0, 1, 20_000])
def test_what_is_packed_is_unpacked(count):
    """Whatever stands in a context; thousands of volumes in variables that Linux takes."""
    found = validation.packed(task(count))

    assert validation.unpacked(found) == task(count)
    assert all(len(part) <= validation.PART and part.isascii() for part in found.values())
    assert "$" not in "".join(found.values())
    assert count < 20_000 or len(found) > 1


def test_no_question_is_no_variable():
    """Nothing is carried where nothing is asked."""
    empty = validation.ValidationTask(seconds=1.0, by_allocation={"alloc-a": ()})

    assert validation.packed(empty) == {}
    assert validation.unpacked({}).by_allocation == {}


@pytest.mark.parametrize("text", ["", "x", "!!!", "eJwDAAAAAAE=", "eJyrBQABGQD0"])
def test_rejects_what_another_version_packed(text):
    """It names the variable."""
    with pytest.raises(ValueError, match="NOMAD_CSI_PROBE_VOLUMES_0"):
        validation.unpacked({"NOMAD_CSI_PROBE_VOLUMES_0": text})


def test_answers_in_a_log_are_those_that_confirm_nothing():
    """The rest is counted: thousands of good volumes make no long log."""
    questions = task(3).by_allocation["alloc-a"]
    answers = {item.key: records.Validated(confirmed=True) for item in questions}
    answers["default", "v1"] = records.Validated(code="NOT_FOUND", message="gone")

    written = json.loads(json.dumps(validation.wrong_as_json(answers)))

    assert written == {
        "asked": 4,
        "wrong": [["default", "v1", {"code": "NOT_FOUND", "confirmed": False, "message": "gone"}]],
    }
    assert validation.parse_answers(written, questions) == answers


@pytest.mark.parametrize(
    "document",
    [{"asked": 2, "wrong": []}, {"asked": 1, "wrong": [["default", "other", {"code": "", "message": ""}]]}],
)
def test_rejects_answers_to_other_questions(document):
    """They confirm nothing."""
    with pytest.raises(ValueError, match="other volumes"):
        validation.parse_answers(document, [QUESTION])


def test_no_time_left_is_no_answer(tmp_path):
    """Not asked for, and so told."""
    assert validation.ask(str(tmp_path / "csi.sock"), [QUESTION], timeout_s=1.0, seconds=0.0) == {
        QUESTION.key: records.LATE
    }


@pytest.mark.parametrize(
    ("status", "rpcs", "asked"), [("ready", (), True), ("silent", None, False), ("ready", None, False)]
)
def test_only_a_ready_controller_is_asked(tmp_path, monkeypatch, status, rpcs, asked):
    """Volumes of a hung one would cost a deadline each."""
    (tmp_path / "alloc-a").mkdir()
    said = records.ProbeReport(endpoint="", status=status, detail="", latency_ms=1.0, controller_capabilities=rpcs)
    monkeypatch.setattr(probe, "probe", lambda *_given, **_more: said)

    found = probe.probe_machine(
        tmp_path, volumes=validation.ValidationTask(seconds=0.0, by_allocation={"alloc-a": [QUESTION]})
    )

    assert ("validated" in found.as_json()) == asked
