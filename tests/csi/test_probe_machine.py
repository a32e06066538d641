"""All plugins of one machine, asked at once."""

import threading

import pytest

from nomad_csi.csi import probe, records
from tests import deadlines


@pytest.fixture
def plugins(folder):
    """The folder in which a client keeps a folder for each plugin's allocation."""
    path = folder / "csi" / "plugins"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def placed(plugins, start_plugin):
    """Start a plugin as that of an allocation."""

    def start(alloc_id, **answers):
        started = start_plugin(**answers)
        (plugins / alloc_id).mkdir()
        (plugins / alloc_id / probe.SOCKET).symlink_to(started.socket)

    return start


def test_each_plugin_answers_for_itself(plugins, placed):
    """A sick one takes nobody along, and one whose socket is gone is told."""
    placed("a-1")
    placed("a-2", probe="not-ready")
    (plugins / "a-3").mkdir()

    found = probe.probe_machine(plugins, timeout_s=deadlines.PATIENT_S)

    assert [(alloc_id, item.status) for alloc_id, item in found.reports.items()] == [
        ("a-1", "ready"),
        ("a-2", "not-ready"),
        ("a-3", "missing"),
    ]
    assert not found.all_ready
    assert found.problem == ""


def test_reports_survive_the_way_through_a_log(plugins, placed):
    """What is read from JSON is what was written."""
    placed("a-1")
    found = probe.probe_machine(plugins, timeout_s=deadlines.PATIENT_S)

    document = found.as_json()

    assert records.parse_report(document["reports"]["a-1"]) == found.reports["a-1"]
    assert found.all_ready
    assert found.as_lines()[0].startswith(f"{plugins}/a-1/csi.sock ready ebs.csi.aws.com v1.64.0")


@pytest.mark.parametrize("change", [{"status": "fine"}, None])
def test_rejects_what_is_no_report(plugins, placed, change):
    """Another program's JSON is not taken for an answer."""
    placed("a-1")
    document = probe.probe_machine(plugins, timeout_s=deadlines.PATIENT_S).as_json()["reports"]["a-1"]

    with pytest.raises(ValueError, match="no report of this version"):
        records.parse_report(document | change if change else {"endpoint": 1})


def test_a_machine_without_plugins_has_no_problem(plugins):
    """The client's folder is empty."""
    found = probe.probe_machine(plugins)

    assert (found.as_lines(), found.all_ready) == ([f"{plugins}: no plugin runs here"], True)


def test_a_folder_that_is_none_of_a_client_is_a_problem(folder):
    """Nothing found there verifies nothing."""
    (folder / "file").touch()

    gone = probe.probe_machine(folder / "a" / ".." / "gone")
    assert gone.as_json() == {"folder": f"{folder}/gone", "problem": gone.problem, "reports": {}}
    assert (gone.as_lines(), gone.all_ready) == ([f"{folder}/gone: No such file or directory: {probe.FOLDER}"], False)
    assert probe.probe_machine(folder / "file").problem == f"Not a directory: {probe.FOLDER}"


def test_a_folder_of_root_is_a_problem_for_others(locked):
    """Who may not look is told to be root."""
    found = probe.probe_machine(locked.parent)

    assert found.problem == f"Permission denied: {probe.FOLDER}"


def _without_plugins(plugins, count):
    for number in range(count):
        (plugins / f"a-{number:03}").mkdir()


def test_all_plugins_are_asked_before_the_first_has_answered(plugins, monkeypatch):
    """However many of them hang, they cost one deadline together."""
    _without_plugins(plugins, 60)
    all_are_asked = threading.Barrier(60)

    def answer(endpoint, **_):
        all_are_asked.wait(deadlines.PATIENT_S)
        return records.ProbeReport(endpoint=endpoint, status="silent", detail="", latency_ms=5000)

    monkeypatch.setattr(probe, "probe", answer)

    assert {item.status for item in probe.probe_machine(plugins, timeout_s=5.0).reports.values()} == {"silent"}
