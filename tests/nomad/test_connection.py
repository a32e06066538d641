"""Where Nomad is and who asks."""

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import connection


def test_connection_without_settings_is_the_agent_on_this_machine():
    """Nothing set means what it means for Nomad's own command."""
    found = nomad.Connection.from_environment({})

    assert found.is_default
    assert found == nomad.Connection(
        address="http://127.0.0.1:4646", namespace="default", region="", token="", tls_skip_verify=False
    )


def test_connection_reads_every_variable_of_nomads_command():
    """Nomad's eleven variables, and ours, arrive in their fields."""
    environment = {
        "NOMAD_ADDR": "https://nomad.example.net:4646",
        "NOMAD_TOKEN": "5f0c",
        "NOMAD_NAMESPACE": "storage",
        "NOMAD_REGION": "eu",
        "NOMAD_CACERT": "/tls/ca.pem",
        "NOMAD_CAPATH": "/tls/cas",
        "NOMAD_CLIENT_CERT": "/tls/cert.pem",
        "NOMAD_CLIENT_KEY": "/tls/key.pem",
        "NOMAD_TLS_SERVER_NAME": "server.eu.nomad",
        "NOMAD_SKIP_VERIFY": "true",
        "NOMAD_HTTP_AUTH": "me:secret",
        "NOMAD_CSI_INSECURE_HTTP": "1",
    }

    assert nomad.Connection.from_environment(environment) == nomad.Connection(
        address="https://nomad.example.net:4646",
        token="5f0c",
        namespace="storage",
        region="eu",
        ca_cert="/tls/ca.pem",
        ca_path="/tls/cas",
        client_cert="/tls/cert.pem",
        client_key="/tls/key.pem",
        tls_server_name="server.eu.nomad",
        tls_skip_verify=True,
        http_auth="me:secret",
        insecure_http=True,
    )
    assert set(connection.VARIABLES.values()) == set(environment)


def test_override_wins_over_the_environment_and_none_does_not():
    """What the caller gives goes before the environment; what it does not give leaves it alone."""
    environment = {"NOMAD_ADDR": "http://a:4646", "NOMAD_REGION": "eu"}

    made = nomad.Connection.from_environment(environment, address="http://b:4646", region=None)

    assert (made.address, made.region, made.is_default) == ("http://b:4646", "eu", False)


@pytest.mark.parametrize(("words", "value"), [("1 t T TRUE true True", True), ("0 f F FALSE false False", False)])
def test_skip_verify_reads_what_go_reads_as_a_boolean(words, value):
    """As Nomad's own command does."""
    for text in words.split():
        assert nomad.Connection.from_environment({"NOMAD_SKIP_VERIFY": text}).tls_skip_verify is value


@pytest.mark.parametrize(
    "address",
    [
        "",
        "127.0.0.1:4646",
        "http://\u00e9:4646",
        "ftp://a:4646",
        "http://",
        "http://a:99999",
        "http://a b:4646",
        "http://a:x",
        "http://a:0",
        "http://127.0.0.1:4646/ui/jobs",
        "unix://secrets/api.sock",
    ],
)
def test_rejects_what_is_no_address(address):
    """An address that cannot be asked is refused before anything is sent, with an example."""
    with pytest.raises(errors.SpecError) as caught:
        nomad.Connection(address=address)

    assert str(caught.value) == (
        "the connection to Nomad: 1 problem\n  address (NOMAD_ADDR): expected http:// or https:// with host and port, and "
        f"nothing behind it; or unix:// with an absolute path, got {address!r}; such as http://127.0.0.1:4646"
    )


def test_rejects_a_password_in_the_address_without_showing_it():
    """A password in the address would be in every message."""
    with pytest.raises(errors.SpecError) as caught:
        nomad.Connection(address="http://me:hunter2@a:4646")

    assert "hunter2" not in str(caught.value)
    assert "got [secret]; move user and password to NOMAD_HTTP_AUTH" in str(caught.value)


@pytest.mark.parametrize("token", ["5f0c\n", "5f 0c", "5f\u00e9"])
def test_rejects_a_token_that_no_header_can_carry_without_showing_it(token):
    """A line end from a file would make the HTTP library quote the token in its error."""
    with pytest.raises(errors.SpecError) as caught:
        nomad.Connection(token=token)

    assert str(caught.value) == (
        "the connection to Nomad: 1 problem\n  token (NOMAD_TOKEN): expected printable ASCII, got [secret]; remove spaces "
        "and line ends, as a file may have added"
    )


def test_rejects_everything_wrong_at_once():
    """All problems are reported together, each by field and variable."""
    environment = {
        "NOMAD_ADDR": "nomad:4646",
        "NOMAD_NAMESPACE": "*",
        "NOMAD_SKIP_VERIFY": "maybe",
        "NOMAD_CSI_INSECURE_HTTP": "2",
        "NOMAD_CLIENT_CERT": "/tls/cert.pem",
    }

    with pytest.raises(errors.SpecError) as caught:
        nomad.Connection.from_environment(environment)

    assert [str(problem) for problem in caught.value.problems[1:]] == [
        "namespace (NOMAD_NAMESPACE): expected the name of one namespace, got '*'",
        "client_key (NOMAD_CLIENT_KEY): expected client_cert and client_key, or neither; set NOMAD_CLIENT_KEY",
        "tls_skip_verify (NOMAD_SKIP_VERIFY): expected true or false, got 'maybe'",
        "insecure_http (NOMAD_CSI_INSECURE_HTTP): expected true or false, got '2'",
    ]
    assert caught.value.problems[0].path == "address (NOMAD_ADDR)"


def test_key_without_its_certificate_is_refused():
    """As the certificate without its key: Nomad would be asked without either."""
    with pytest.raises(errors.SpecError) as caught:
        nomad.Connection(client_key="/tls/key.pem")

    assert [problem.path for problem in caught.value.problems] == ["client_cert (NOMAD_CLIENT_CERT)"]


def test_connection_does_not_show_its_secrets():
    """Neither token nor password is in the representation; the password alone is a secret, too."""
    connection = nomad.Connection(token="5f0c-canary", http_auth="me:hunter2")
    shown = repr(connection)

    assert connection.secrets == ("5f0c-canary", "me:hunter2", "hunter2")
    assert "canary" not in shown
    assert "hunter2" not in shown
