"""
Components in a program of one's own, as e27e896 left them after a replacement that had failed.

There an external id was mistyped: the volume was deregistered, its replacement refused, and the state kept the old
registration as ``pendingReplacement``. With the program corrected, the engine makes the replacement, and deletes the old
one after that (Pulumi CLI 3.260, 2026-11-22): at e27e896 that deregistered the replacement.
"""

import copy

import pytest

from tests.upgrade import recorded, worlds
from tests.upgrade.conftest import KINDS

LOST = "prod/legacy"


def after_failure(state):
    """Return *state* with the resource whose replacement had failed."""
    state = copy.deepcopy(state)
    [failed] = recorded.read(worlds.RECORDINGS / "components", "failed-replacement.json")
    for item in worlds.resources(state):
        if item["urn"] == failed["urn"]:
            item["pendingReplacement"] = True
    return state


@pytest.fixture(scope="module", params=KINDS)
def life(request, begin):
    """The stack with the volume lost, previewed, brought up and previewed again."""
    found = begin("components", request.param, change=after_failure, lost=(LOST,))
    found.do("preview", "preview")
    found.do("up", "up")
    found.do("again", "preview")
    return found


def test_failed_replacement_ends_with_a_registered_volume(life):
    """Given the volume taken out of Nomad: it is registered as the program says, and owned."""
    before, after = life.facts["before"], life.facts["up"]

    assert life.runs["up"].code == 0, life.runs["up"].text
    assert LOST not in before.registrations
    external_id, plugin_id, _ = after.registrations[LOST]
    [recorded_volume] = [
        item for item in recorded.read(life.world.folder, "nomad.json")["volumes"] if item["ID"] == "legacy"
    ]
    assert (external_id, plugin_id) == (life.world.now(recorded_volume["ExternalID"]), "aws-ebs0")
    assert "legacy" in after.variables["prod nomad-csi/volumes/c"]["nomad-csi/sandbox"].split()


def test_everything_else_stays(life):
    """The same storage in AWS, the other registrations, and tasks that were not restarted."""
    before, after = life.facts["before"], life.facts["up"]

    assert len(before.registrations) == 6
    assert {key: found for key, found in after.registrations.items() if key != LOST} == before.registrations
    assert (after.storage, after.tasks) == (before.storage, before.tasks)


def test_only_the_failed_one_is_made_or_deleted(life):
    """All others are updated in place, if at all."""
    changes = life.changes("up")

    touched = {(kind, name) for op, kind, name in changes if op != "update"}
    assert touched <= {
        ("nomad-csi:index:VolumeRegistration", "legacy"),
        ("nomad-csi:index:StackIdentity", "nomad-csi"),
    }


def test_second_run_changes_nothing(life):
    """The state holds no old registration any more."""
    assert life.changes("again") == []
    assert [item["urn"] for item in life.engine.resources() if item.get("pendingReplacement")] == []
