"""Secrets leave this machine over an encrypted way, or with the operator's consent."""

import pytest

from nomad_csi import errors
from nomad_csi.csi import channel, endpoint, records, services, validation
from nomad_csi.volumes import deleters
from tests import deadlines

SECRETS = {"password": "hunter2"}


@pytest.mark.parametrize(
    ("text", "is_private"),
    [
        ("unix:///run/csi.sock", True),
        ("/run/csi.sock", True),
        ("127.0.0.1:9000", True),
        ("tcp://[::1]:9000", True),
        ("LocalHost:9000", True),
        ("10.0.0.1:9000", False),
        ("0.0.0.0:9000", False),
        ("[2001:db8::1]:9000", False),
        ("localhost.example.net:9000", False),
    ],
)
def test_sockets_and_loopback_are_private(text, is_private):
    """What is sent there, nobody on a network can read."""
    assert endpoint.parse(text).is_private is is_private


@pytest.fixture
def far(start_plugin):
    """A plugin that is asked by an address that is not this machine's name, and its endpoint."""
    plugin = start_plugin()
    return plugin, f"0.0.0.0:{plugin.port}"


def test_no_call_sends_readable_secrets(far):
    """Whichever function makes the call: the request is not sent; with consent it is."""
    plugin, text = far
    with channel.connect(endpoint.parse(text)) as connection, pytest.raises(errors.RefusedError) as caught:
        services.delete_volume(connection, volume_id="v", secrets=SECRETS, timeout_s=deadlines.PATIENT_S)

    assert plugin.requests == []
    assert str(caught.value) == (
        f"{text}: CSI secrets would be sent unencrypted to another machine; use the plugin's socket (ssh:// for one on "
        "another machine); to send them anyway: --insecure-http, NOMAD_CSI_INSECURE_HTTP=1, or nomad-csi:insecureHttp in "
        "Pulumi"
    )
    with channel.connect(endpoint.parse(text), insecure=True) as connection:
        services.delete_volume(connection, volume_id="v", secrets=SECRETS, timeout_s=deadlines.PATIENT_S)
        assert dict(plugin.requests[-1].secrets) == SECRETS


def test_a_refusal_is_no_answer_of_the_plugin(far):
    """Given many questions at once: the run is refused, not the volume."""
    plugin, text = far
    uses = (("single-node-writer", "file-system"), ("multi-node-reader-only", "block-device"))
    question = records.ValidationQuestion(key=("default", "a"), external_id="v", uses=uses)
    options = {"secrets": {("default", "a"): SECRETS}, "timeout_s": deadlines.PATIENT_S}
    with pytest.raises(errors.RefusedError):
        validation.ask(text, [question], **options)

    assert plugin.requests == []
    found = validation.ask(text, [question], insecure=True, **options)
    assert found == {question.key: records.Validated(confirmed=True, message="as asked")}
    [asked] = plugin.requests
    assert asked.volume_capabilities == [
        services.volume_capability(access_mode=mode, attachment_mode=attachment) for mode, attachment in uses
    ]


def test_refusal_of_a_plugin_has_its_code_once(start_plugin):
    """The code stands beside the words."""
    question = records.ValidationQuestion(key=("default", "a"), external_id="v", uses=())

    found = validation.ask(start_plugin(serves=("node",)).socket, [question], timeout_s=deadlines.PATIENT_S)

    assert found == {question.key: records.Validated(code="UNIMPLEMENTED", message="Method not found!")}


def test_a_deletion_is_refused_before_anything_is_changed(far):
    """Its check comes before the volume is deregistered."""
    plugin, text = far
    with pytest.raises(errors.RefusedError, match="CSI secrets would be sent unencrypted"):
        deleters.PluginDeleter(endpoint=text, provider="p", secrets=SECRETS).check(with_snapshot=False)

    assert plugin.requests == []
