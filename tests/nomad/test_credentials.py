"""Where a token, a password and CSI secrets may be sent: to addresses that the operator named, and not in clear."""

import itertools

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import connection

TOKEN = "9d0f-ci-secret-token"
NAMED = "https://nomad.internal:4646"
EVIL = "https://evil.example.com:4646"
SECRETS = {"NOMAD_TOKEN": TOKEN, "NOMAD_HTTP_AUTH": f"ci:{TOKEN}"}
FAR = ("http://10.0.0.1:4646", "http://nomad.internal:4646", "http://0.0.0.0:4646", "http://localhost.evil.example:1")
NEAR = ("http://127.0.0.1:4646", "http://127.9.9.9:1", "http://[::1]:4646", "http://LocalHost:4646")


@pytest.mark.parametrize(("variable", "with_address"), list(itertools.product(SECRETS, (True, False))))
def test_rejects_an_address_of_a_file_for_credentials_of_the_environment(variable, with_address):
    """Given a file that names another address than NOMAD_ADDR (or than its default), it gets neither of them."""
    environment = {variable: SECRETS[variable]} | ({"NOMAD_ADDR": NAMED} if with_address else {})
    named = NAMED if with_address else "http://127.0.0.1:4646"

    with pytest.raises(errors.SpecError) as caught:
        nomad.Connection.from_environment(environment, {"address": EVIL})

    assert str(caught.value) == (
        "the connection to Nomad: 1 problem\n"
        f"  address (NOMAD_ADDR): expected {named}, the only address that {variable} may be sent to, got '{EVIL}' from a "
        f"file; if it is right, type it (--address {EVIL}), or set NOMAD_ADDR to it; a Pulumi program can have the "
        "token beside the address: pulumi config set --secret nomad-csi:token"
    )


def test_rejects_it_for_other_secrets_too():
    """Given CSI secrets that the caller read elsewhere, and no token."""
    with pytest.raises(errors.SpecError, match="the only address that CSI secrets may be sent to"):
        nomad.Connection.from_environment({}, {"address": EVIL}, secrets="CSI secrets")


@pytest.mark.parametrize(
    ("environment", "file", "overrides"),
    [
        ({}, {"address": EVIL}, {}),
        ({"NOMAD_ADDR": NAMED}, {"address": EVIL}, {}),
        ({"NOMAD_ADDR": NAMED, "NOMAD_TOKEN": TOKEN}, {"address": EVIL, "token": "of-the-file"}, {}),
        ({"NOMAD_TOKEN": TOKEN}, {"address": EVIL}, {"token": "typed"}),
        ({"NOMAD_TOKEN": TOKEN, "NOMAD_ADDR": EVIL}, {"address": f"{EVIL}/"}, {}),
        (
            {"NOMAD_TOKEN": TOKEN, "NOMAD_ADDR": "HTTPS://Evil.example.com:4646"},
            {"address": "https://evil.example.com:4646/"},
            {},
        ),
    ],
    ids=["no credentials", "none, another address", "token beside it", "token typed", "the same", "the same otherwise"],
)
def test_address_of_a_file_is_used_where_it_gets_nothing_of_the_environment(environment, file, overrides):
    """Its own token, none, or that of an environment which names the same address."""
    made = nomad.Connection.from_environment(environment, file, **overrides)

    assert connection.same_address(made.address, file["address"])
    assert made.token in {"", "of-the-file", "typed"} or connection.same_address(
        environment["NOMAD_ADDR"], made.address
    )


def test_a_typed_address_takes_precedence_over_the_file():
    """The token goes where the operator says."""
    environment = {"NOMAD_TOKEN": TOKEN, "NOMAD_ADDR": NAMED}

    made = nomad.Connection.from_environment(environment, {"address": EVIL}, address="https://typed.example.net")

    assert (made.address, made.token) == ("https://typed.example.net", TOKEN)


@pytest.mark.parametrize(("address", "field"), list(itertools.product(FAR, connection.CREDENTIALS)))
def test_rejects_credentials_over_plain_http(address, field):
    """To another machine; the message holds no value."""
    with pytest.raises(errors.SpecError) as caught:
        nomad.Connection(address=address, **{field: TOKEN})

    variable = connection.VARIABLES[field]
    assert str(caught.value) == (
        "the connection to Nomad: 1 problem\n"
        f"  address (NOMAD_ADDR): expected https:// to another machine, as {variable} would be sent unencrypted, got "
        f"'{address}'; to send it anyway: --insecure-http, NOMAD_CSI_INSECURE_HTTP=1, or nomad-csi:insecureHttp in Pulumi"
    )


@pytest.mark.parametrize("address", [*NEAR, "https://10.0.0.1:4646", "unix:///secrets/api.sock"])
def test_accepts_credentials_that_others_cannot_read(address):
    """Loopback, a socket, TLS."""
    assert nomad.Connection(address=address, token=TOKEN, http_auth="a:b").is_private


@pytest.mark.parametrize("address", FAR)
def test_accepts_plain_http_without_credentials_and_where_the_operator_says_so(address):
    """No token, nothing to read; with the option it is the operator's decision."""
    assert not nomad.Connection(address=address).is_private
    assert nomad.Connection(address=address, token=TOKEN, insecure_http=True).token == TOKEN


@pytest.mark.parametrize(("address", "insecure"), [(FAR[0], False), (FAR[0], True), (NEAR[0], False)])
def test_csi_secrets_are_sent_to_nomad_as_the_token_is(address, insecure):
    """Given a cluster without ACLs: a request with secrets leaves this machine in clear with the option only."""
    seen = []
    with nomad.Nomad(
        nomad.Connection(address=address, insecure_http=insecure),
        timeout_s=0.2,
        observe=lambda method, path: seen.append((method, path)),
    ) as client:
        expected = errors.NomadApiError if insecure or address in NEAR else errors.RefusedError
        with pytest.raises(expected):
            client.request("PUT", "/v1/volumes", body={}, secrets=["hunter2"])

    assert seen == ([] if expected is errors.RefusedError else [("PUT", "/v1/volumes")])
