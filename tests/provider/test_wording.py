"""Operators read clean lines."""

from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.provider import configuration, wire
from nomad_csi.spec import names


def test_all_problems_stand_on_one_line():
    """The engine's table shows one line of an error, so all problems are on it."""
    problems = tuple(errors.Problem(path=path, got="x", allowed="y") for path in ("a", "b"))

    assert (
        wire.sentence(errors.SpecError(problems, source="import"))
        == "import: a: expected y, got x; b: expected y, got x"
    )
    assert wire.sentence(errors.RefusedError("no")) == "no"


def test_every_text_of_a_secret_is_found():
    """In objects and lists, to be masked."""
    assert list(wire.texts({"a": ["b", {"c": "d"}], "e": 1, "f": "g"})) == ["b", "d", "g"]


def test_settings_are_those_of_the_connection():
    """Each by its name; the environment fills in what is not given, and the folder is no part of it."""
    given = {
        "address": "https://nomad.internal:4646",
        "token": "own-token",
        "namespace": "own",
        "region": "eu",
        "caCert": "/ca.pem",
        "caPath": "/ca",
        "clientCert": "/cert.pem",
        "clientKey": "/key.pem",
        "tlsServerName": "server.eu.nomad",
        "tlsSkipVerify": "TRUE",
        "httpAuth": "me:secret",
        "insecureHttp": "true",
        "root": "/srv",
    }
    values, problems = configuration.check(given)

    found = configuration.connection(values, {})

    flags = {"tlsSkipVerify": True, "insecureHttp": True}
    assert (values, problems) == (given | flags, ())
    assert {name: getattr(found, names.python_name(name)) for name in given if name != "root"} | {
        "root": "/srv"
    } == values
    assert configuration.root(values, {"NOMAD_CSI_ROOT": "/env"}) == Path("/srv")
    assert configuration.root({"root": names.UNKNOWN}, {}) is None
    with pytest.raises(errors.SpecError) as refused:
        configuration.connection({"address": names.UNKNOWN, "region": names.UNKNOWN, "token": "x"}, {})
    assert str(refused.value) == (
        "the nomad-csi provider: 1 problem\n"
        "  address, region: expected a value known in this step, got a value that is not known yet"
    )
