"""Which part is real."""

import pytest

from nomad_csi import errors
from nomad_csi_sandbox.session import parts


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """Put programs, and nothing else, on PATH."""

    def put(*names):
        for name in names:
            (tmp_path / name).write_text("#!/bin/sh\n")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return put


@pytest.mark.parametrize(
    ("programs", "user", "engine", "nomad"),
    [
        ((), 0, "emulator", "emulator"),
        (("pulumi",), 0, "emulator", "emulator"),
        (("pulumi", "pulumi-language-python"), 1000, "real", "emulator"),
        (("nomad",), 1000, "emulator", "emulator"),
        (("nomad",), 0, "emulator", "real"),
    ],
)
def test_part_is_real_where_it_is_at_hand(on_path, monkeypatch, programs, user, engine, nomad):
    """Pulumi needs its language host, and Nomad's client root."""
    on_path(*programs)
    monkeypatch.setattr("os.geteuid", lambda: user)

    decided = parts.decide()

    assert decided == {"engine": engine, "nomad": nomad, "aws": "moto", "plugins": "emulator"}


def test_operator_chooses(on_path, monkeypatch):
    """What is asked for goes before what is at hand."""
    on_path("pulumi", "pulumi-language-python", "nomad")
    monkeypatch.setattr("os.geteuid", lambda: 0)

    decided = parts.decide(engine="emulator", nomad="emulator")

    assert (decided["engine"], decided["nomad"]) == ("emulator", "emulator")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"engine": "real"}, "pulumi and pulumi-language-python are not on PATH; use --engine emulator"),
        ({"nomad": "real"}, "nomad is not on PATH, or this is not root; use --nomad emulator"),
    ],
)
def test_rejects_a_real_part_that_is_not_at_hand(on_path, wanted, message):
    """Nothing stands in for what was asked for."""
    on_path()

    with pytest.raises(errors.RefusedError, match=message):
        parts.decide(**wanted)
