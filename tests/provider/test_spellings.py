"""What a peer repeats of a secret, in any spelling: the engine gets nothing of it, in an error, a reason or a line."""

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2, status_pb2

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.provider import wire
from tests.text import spelled

SHOWN = "rpc error: code = Internal desc = "


def spellings(secret):
    """Return *secret* in each spelling."""
    return {name: spell(secret) for name, spell in spelled.SPELLINGS.items()}


def shown_of(secret, lines):
    """Return those of *lines* that show a spelling of *secret*."""
    texts = list(spellings(secret).values())
    return [line for line in lines if any(spelled.is_shown(text, line) for text in texts)]


@pytest.fixture
def say(scripted, urn, monkeypatch):
    """Have a step of the provider say a text of a peer: ``say(stub, text, properties)``; return what the engine got."""

    def create(context, news):
        text = create.text
        for line in (context.warn, context.status, context.note):
            line(f"{SHOWN}{text}")
        if create.is_partial:
            raise resource.InitFailedError("a", dict(news), (f"{SHOWN}{text}",))
        raise errors.NomadApiError("PUT", "/v1/volume", f"{SHOWN}{text}", status=500, kind="refused")

    monkeypatch.setattr(scripted, "create", create)

    def run(stub, text, properties, *, is_partial):
        create.text, create.is_partial = text, is_partial
        with pytest.raises(grpc.RpcError) as failed:
            stub.Create(provider_pb2.CreateRequest(urn=urn, properties=properties))
        if not is_partial:
            return failed.value.details()
        packed = status_pb2.Status.FromString(dict(failed.value.trailing_metadata())["grpc-status-details-bin"])
        detail = provider_pb2.ErrorResourceInitFailed()
        assert packed.details[0].Unpack(detail)
        return "\n".join([failed.value.details(), packed.message, *detail.reasons])

    return run


@pytest.mark.parametrize("name", spelled.SECRETS)
def test_a_secret_of_a_resource_is_shown_in_no_spelling(plugin, engine, say, name):
    """In the error, in what a part of an object lacks, and in the engine's log."""
    secret = spelled.SECRETS[name]
    properties = wire.dump({"name": "a", "password": {"key": secret}}, secrets={"password"})
    texts = spellings(secret).values()

    told = [say(plugin, text, properties, is_partial=is_partial) for text in texts for is_partial in (False, True)]

    logged = [line for _, line, _ in engine.lines]
    assert shown_of(secret, [*told, *logged]) == []
    assert {line.startswith(SHOWN) for line in logged if not line.endswith((" warning", " warnings"))} == {True}


@pytest.mark.parametrize("name", spelled.SENT)
def test_the_token_is_shown_in_no_spelling(serve, engine, say, name):
    """That of the environment; it is in no request of the engine."""
    secret = spelled.SENT[name]
    stub = serve({"NOMAD_TOKEN": secret})
    properties = wire.dump({"name": "a"})

    told = [say(stub, text, properties, is_partial=False) for text in spellings(secret).values()]

    logged = [line for _, line, _ in engine.lines]
    assert shown_of(secret, [*told, *logged]) == []
    assert {line.startswith(SHOWN) for line in logged if not line.endswith((" warning", " warnings"))} == {True}
