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
