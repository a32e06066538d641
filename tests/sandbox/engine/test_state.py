"""The state file: whole, locked, without secrets."""

import json

import pytest

from nomad_csi import errors
from nomad_csi_sandbox.engine import state


def thing(name, **fields):
    return {"urn": f"urn:pulumi:dev::p::toy:index:Thing::{name}", "custom": True, "type": "toy:index:Thing", **fields}


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


def test_secret_output_passed_on_is_no_change(yard):
    """The value is not kept, yet who uses it is left alone."""
    yard.program(
        'one = toy.Thing("one", value=pulumi.Output.secret("s")); toy.Thing("two", value=one.serial.apply(str), extra=one.echo)'
    )
    yard.up()

    assert yard.up().ops() == []


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
