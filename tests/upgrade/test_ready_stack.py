"""
The ready stack as e27e896 left it, with a volume of every kind, carried on by this release and renamed.

Emulated are AWS, Nomad and the CSI plugins; the engine is the emulator, and Pulumi's own where it is on PATH.
"""

import json

import pytest

from tests.upgrade import recorded, worlds
from tests.upgrade.conftest import KINDS

NEW = "nomad-csi/renamed"
OWNER_TAG = "nomad-csi:owner"
RENAMED = {"verdict": "status", "proven_by": "evidence"}
"""Keys of JSON of before the first release -> keys of today."""


@pytest.fixture(scope="module", params=KINDS)
def life(request, begin):
    """The stack: previewed, brought up, previewed again, renamed, and brought up."""
    found = begin("stack", request.param)
    found.do("preview", "preview")
    found.do("up", "up")
    found.do("again", "preview")
    found.engine.rename("renamed")
    found.do("renamed", "up")
    found.do("at last", "preview")
    return found


def made(changes):
    return [(kind, name) for op, kind, name in changes if op == "create"]


@pytest.mark.parametrize("step", ["preview", "up"])
def test_upgrade_replaces_and_deletes_nothing(life, step):
    """Only updates in place, and the identity of the stack; the preview names just what `up` does."""
    changes = life.changes(step)

    assert {op for op, _, _ in changes} <= {"create", "update"}
    assert made(changes) in ([], [("nomad-csi:index:StackIdentity", "nomad-csi")])


def test_preview_of_the_upgrade_changes_nothing(life):
    """Neither in AWS nor in Nomad nor in the state."""
    assert life.runs["preview"].code == 0
    assert life.facts["preview"] == life.facts["before"]


@pytest.mark.parametrize("step", ["up", "renamed"])
def test_storage_registrations_and_tasks_stay(life, step):
    """Given ten volumes of every kind: the same ids in AWS, registrations made once, tasks that were not restarted."""
    before, after = life.facts["before"], life.facts[step]

    assert len(before.registrations) == 10
    assert after.storage == before.storage
    assert after.registrations == before.registrations
    assert after.tasks == before.tasks


def test_tags_stay_and_more_may_come(life):
    """What e27e896 had written is still there; by-hand tags, too."""
    before, after = life.facts["before"].tags, life.facts["up"].tags

    assert after.keys() == before.keys()
    assert [key for key, tags in before.items() if not tags.items() <= after[key].items()] == []


@pytest.mark.parametrize("step", ["again", "at last"])
def test_second_run_changes_nothing(life, step):
    """All that was to be brought forward was."""
    assert life.changes(step) == []


def test_rename_changes_labels_in_place(life):
    """Given the stack renamed: no replacement, and the new label in every tag and owner record."""
    changes, before, after = life.changes("renamed"), life.facts["up"].tags, life.facts["renamed"]

    assert {op for op, _, _ in changes} <= {"update"}
    ours = {key for key, tags in before.items() if OWNER_TAG in tags}
    assert len(ours) >= 6
    assert {after.tags[key][OWNER_TAG] for key in ours} == {NEW}
    assert {name for items in after.variables.values() for name in items if name[0] not in "~/"} == {NEW}


def test_secret_is_not_in_the_state_in_clear(life):
    """Neither before nor after."""
    assert "not-a-real-secret" not in json.dumps(life.engine.deployment())


def test_resources_of_the_state_are_the_recorded_ones(life):
    """Each keeps its id."""
    kept = {name: found[0] for name, found in life.facts["before"].resources.items()}

    assert len(kept) > 60
    now = {name: found[0] for name, found in life.facts["up"].resources.items()}
    assert {name: now.get(name) for name in kept} == kept


@pytest.mark.parametrize("command", ["verify", "plan", "claims"])
def test_json_keeps_every_key(life, command):
    """What read the JSON of e27e896 finds every key of it, but for those that got another name before 0.1."""
    before = recorded.read(worlds.RECORDINGS / "stack", f"{command}.json")
    spec = life.engine.sandbox.project / ".sandbox/Pulumi.sandbox.yaml"
    outputs = life.engine.sandbox.project.parent / "outputs.json"
    [root] = [item for item in life.engine.resources() if item["type"] == "pulumi:pulumi:Stack"]
    outputs.write_text(json.dumps(root["outputs"]))
    words = [] if command == "claims" else ["--stack-output", outputs, spec]
    words += ["--owner", NEW] if command == "plan" else []

    done = life.engine.sandbox.exec("nomad-csi", command, "--json", *words)

    wanted = {".".join(RENAMED.get(name, name) for name in path.split(".")) for path in keys(before)}
    assert wanted - keys(json.loads(done.stdout)) == set()


def keys(value, path=""):
    """Return the path of every key in a JSON value; items of a list are one."""
    if isinstance(value, dict):
        return {found for key, item in value.items() for found in {f"{path}.{key}", *keys(item, f"{path}.{key}")}}
    return {found for item in value for found in keys(item, f"{path}[]")} if isinstance(value, list) else set()
