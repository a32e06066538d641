"""
Components in a program of one's own, as e27e896 left them, whose stack and project are renamed.

Once before this release runs for the first time, and once after. Emulated are AWS, Nomad and the CSI plugins; the engine
is the emulator, and Pulumi's own where it is on PATH.
"""

import pytest

from tests.upgrade.conftest import KINDS

OWNER_TAG = "nomad-csi:owner"
RENAMED = {"first": ("bank", "live"), "second": ("shop", "prod")}


@pytest.fixture(scope="module", params=KINDS)
def life(request, begin):
    """The stack: renamed, previewed, brought up, renamed, previewed, brought up, and previewed again."""
    found = begin("components", request.param)
    for name, (project, stack) in RENAMED.items():
        found.engine.rename(stack, project)
        found.do(f"{name} preview", "preview")
        found.do(name, "up")
    found.do("at last", "preview")
    return found


def owners(facts):
    """Return the labels in the tags of storage that a stack made, and in the owner records."""
    tags = {found[OWNER_TAG] for found in facts.tags.values() if OWNER_TAG in found}
    return tags | {name for items in facts.variables.values() for name in items if name[0] not in "~/"}


@pytest.mark.parametrize("step", [f"{name}{suffix}" for name in RENAMED for suffix in (" preview", "")])
def test_nothing_is_replaced(life, step):
    """Updates in place; the first run makes the identity of the stack."""
    changes = life.changes(step)

    assert "update" in {op for op, _, _ in changes}
    others = [change for change in changes if change[0] != "update"]
    assert others == ([("create", "nomad-csi:index:StackIdentity", "nomad-csi")] if "first" in step else [])


@pytest.mark.parametrize("name", RENAMED)
def test_storage_registrations_and_tasks_stay(life, name):
    """The same ids in AWS, registrations made once, tasks that were not restarted, and the new label everywhere."""
    before, after = life.facts["before"], life.facts[name]

    assert len(before.registrations) == 7
    assert (after.storage, after.registrations, after.tasks) == (before.storage, before.registrations, before.tasks)
    assert owners(after) == {"/".join(RENAMED[name])}


@pytest.mark.parametrize("name", RENAMED)
def test_preview_changes_nothing(life, name):
    """Neither in AWS nor in Nomad nor in the state."""
    before = life.facts["before" if name == "first" else "first"]
    after = life.facts[f"{name} preview"]

    assert (after.storage, after.tags, after.registrations) == (before.storage, before.tags, before.registrations)
    assert (after.tasks, after.variables) == (before.tasks, before.variables)


def test_last_preview_has_nothing_to_do(life):
    """All labels were changed by one `up`."""
    assert life.changes("at last") == []
