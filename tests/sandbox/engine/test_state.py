"""The state file: whole, locked, without secrets."""

import json

import pytest

from nomad_csi import errors
from nomad_csi_sandbox.engine import snapshot, state


@pytest.fixture
def snap(tmp_path):
    stored = state.read(tmp_path / "state.json")
    return snapshot.Snapshot(stored, tmp_path / "state.json", dry=False)


def thing(name, **fields):
    return {"urn": f"urn:pulumi:dev::p::toy:index:Thing::{name}", "custom": True, "type": "toy:index:Thing", **fields}


def saved(snap):
    return [each["urn"].split("::")[3] for each in state.read(snap.path).resources]


def test_secrets_are_not_in_clear_anywhere(yard):
    """Inputs, outputs, stack outputs, provider configuration, nested values, pending operations."""
    yard.program(
        """
        hush = pulumi.Output.secret("hush-hush")
        provider = toy.Toy("own", token=hush)
        one = toy.Thing("one", secrets={"word": hush}, opts=options(provider=provider))
        toy.Thing("marked", value="hush-hush", opts=options(additional_secret_outputs=["echo", "value"]))
        pulumi.export("hush", hush)
        """.replace('value="hush-hush"', "value=hush")
    )

    result = yard.up()

    assert "hush-hush" not in yard.state_file.read_text(encoding="utf-8")
    assert "hush-hush" not in result.text
    assert result.outputs == {"hush": "[secret]"}
    assert "hush-hush" in (yard.world / "thing-one-1.json").read_text(encoding="utf-8")


def test_unchanged_secret_is_no_change_and_another_one_is(yard):
    """Told by the digest alone."""
    text = 'toy.Thing("one", token=pulumi.Output.secret("%s"))'
    yard.program(text % "a")
    yard.up()

    assert yard.up().ops() == []

    yard.program(text % "b")
    assert yard.up().ops() == [("update", "one")]


def test_secret_output_passed_on_is_no_change(yard):
    """The value is not kept, yet who uses it is left alone."""
    yard.program(
        'one = toy.Thing("one", value=pulumi.Output.secret("s")); toy.Thing("two", value=one.serial.apply(str), extra=one.echo)'
    )
    yard.up()

    assert yard.up().ops() == []


def test_put_is_on_the_disk_when_it_returns(snap):
    """And takes the place of what was there."""
    snap.put(thing("one", id="1"))

    assert saved(snap) == ["one"]


def test_pending_operation_is_on_the_disk_until_it_ends(snap):
    """Its end is written with the change that follows."""
    token = snap.begin("creating", thing("one"))
    assert [each["type"] for each in state.read(snap.path).pending] == ["creating"]

    snap.end(token)
    snap.put(thing("one", id="1"))

    assert state.read(snap.path).pending == []


def test_replaced_object_stays_until_it_is_dropped(snap):
    """Both share a URN; the mark tells them apart."""
    snap.put(thing("one", id="1"))
    again = snapshot.Snapshot(state.read(snap.path), snap.path, dry=False)
    old = again.old(thing("one")["urn"])

    marked = again.mark(old, "delete", write=False)
    again.put(thing("one", id="2"))

    assert [(each["id"], each.get("delete")) for each in state.read(snap.path).resources] == [("2", None), ("1", True)]
    again.drop(marked)
    assert [each["id"] for each in state.read(snap.path).resources] == ["2"]


def test_dry_snapshot_writes_nothing(tmp_path):
    """A preview leaves no file behind."""
    path = tmp_path / "state.json"

    snapshot.Snapshot(state.read(path), path, dry=True).put(thing("one"))

    assert not path.exists()


def test_rename_reaches_all_references(tmp_path):
    """Parent, dependencies, property dependencies, provider."""
    path = tmp_path / "state.json"
    old, new = thing("old")["urn"], thing("new")["urn"]
    user = thing("user", parent=old, dependencies=[old], propertyDependencies={"p": [old]}, provider=f"{old}::id")
    first = snapshot.Snapshot(state.read(path), path, dry=False)
    first.put(thing("old", id="1"))
    first.put(user)
    snap = snapshot.Snapshot(state.read(path), path, dry=False)

    snap.rename(snap.old(old), new)
    snap.save()

    assert state.read(path).resources[1] == thing(
        "user", parent=new, dependencies=[new], propertyDependencies={"p": [new]}, provider=f"{new}::id"
    )


def test_state_of_the_real_engine_is_refused(tmp_path):
    """Its secrets cannot be read, and it is not of the sandbox."""
    path = tmp_path / "state.json"
    provider = {"type": "passphrase", "state": {"salt": "v1:x"}}
    path.write_text(json.dumps({"version": 3, "deployment": {"secrets_providers": provider}}), encoding="utf-8")

    with pytest.raises(errors.SpecError, match="expected nomad-csi-sandbox, a state of the sandbox, got passphrase"):
        state.read(path)


def test_broken_state_is_refused_and_left_alone(tmp_path):
    """Nothing is made of half a file."""
    path = tmp_path / "state.json"
    path.write_text('{"version": 3', encoding="utf-8")

    with pytest.raises(errors.SpecError, match="expected JSON in the shape of `pulumi stack export`"):
        state.read(path)


def test_lock_names_its_holder(tmp_path):
    """A second holder is refused, the lock is free after the block."""
    path = tmp_path / "state.json"

    with (
        state.locked(path),
        pytest.raises(errors.RefusedError, match=r"locked by another run, process \d+"),
        state.locked(path),
    ):
        pass
    with state.locked(path):
        pass


def test_state_that_cannot_be_written_is_told_once_and_stays(yard):
    """The disk is full, or has no room for one more open file: no traceback, and the next run goes on."""
    yard.program('toy.Thing("one")')
    yard.up()
    before = yard.state_file.read_text(encoding="utf-8")
    draft = yard.state_file.with_name("state.json.new")
    draft.mkdir()  # nothing can be written in its place, by any user
    yard.program('toy.Thing("one"); toy.Thing("two"); toy.Thing("three")')

    result = yard.run("up", "--skip-preview")

    assert result.code == 1
    assert result.text.count(f"error: {yard.state_file.resolve()} cannot be written: Is a directory") == 2
    assert "Traceback" not in result.text
    assert yard.state_file.read_text(encoding="utf-8") == before
    draft.rmdir()
    assert sorted(name for _, name in yard.up().ops()) == ["three", "two"]
