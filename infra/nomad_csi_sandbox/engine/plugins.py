"""
One provider: the calls of Pulumi's provider protocol, as the engine makes them.

Source: pulumi/pulumi, ``proto/pulumi/provider.proto``; ``sdk/go/common/resource/plugin/provider_plugin.go``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from nomad_csi import errors
from nomad_csi_sandbox.engine import launch, state, values

STEP_TIMEOUT_S = 3600.0
"""Deadline of a create, read, update or delete that sets none itself (``customTimeouts``)."""

CALL_TIMEOUT_S = 300.0
"""Deadline of every other call."""

_KINDS = provider_pb2.PropertyDiff
_REPLACE_KINDS = (_KINDS.ADD_REPLACE, _KINDS.DELETE_REPLACE, _KINDS.UPDATE_REPLACE)
_MARKS = {_KINDS.ADD: "+", _KINDS.ADD_REPLACE: "+", _KINDS.DELETE: "-", _KINDS.DELETE_REPLACE: "-"}


@dataclass(frozen=True, kw_only=True)
class Target:
    """Which resource a call is about."""

    urn: str
    type: str
    name: str

    def fields(self) -> dict[str, Any]:
        """Return the three fields that name a resource on the wire."""
        return {"urn": self.urn, "type": self.type, "name": self.name}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a create, update or read left behind."""

    identity: str
    """Empty: there is no such object."""

    outputs: values.Properties

    inputs: values.Properties = field(default_factory=dict)
    """As the provider read them; only a read gives them."""

    refresh_before_update: bool = False

    reasons: tuple[str, ...] = ()
    """Why the object, though it exists, is not as it should be."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What a provider says separates a state from what is wanted."""

    changed: bool
    marks: Mapping[str, str] = field(default_factory=dict)
    """``~``, ``+`` or ``-`` by path."""

    replaces: frozenset[str] = frozenset()
    """The paths whose change needs a new object."""

    delete_before_replace: bool = False


class Plugin:
    """A provider that answers."""

    def __init__(self, port: int, process: launch.Process | None) -> None:
        self.process = process
        options = [("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0)]
        if process is None:  # one connection for each provider, as the real engine has: it distinguishes them
            options.append(("grpc.use_local_subchannel_pool", 1))
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=options)
        self._stub = provider_pb2_grpc.ResourceProviderStub(self._channel)
        self._accepts_secrets = False
        self.supports_preview = True

    # --- life
    def greet(self, address: str, plugin_folder: Path, program_folder: Path) -> None:
        """Report to the provider who the engine is; *address* is where it may log to."""
        request = provider_pb2.ProviderHandshakeRequest(
            engine_address=address,
            root_directory=str(plugin_folder),
            program_directory=str(program_folder),
            configure_with_urn=True,
            supports_refresh_before_update=True,
        )
        reply = self._call("Handshake", request, optional=True)
        self._accepts_secrets = bool(reply and reply.accept_secrets)
        if self.process is None:
            self._call("Attach", plugin_pb2.PluginAttach(address=address), optional=True)

    def check_config(self, urn: str, news: values.Properties) -> None:
        """Ask whether *news* will do as configuration. Raises `errors.RefusedError` where it will not."""
        request = provider_pb2.CheckRequest(urn=urn, news=values.dump(values.reveal(news)))
        reply = self._call("CheckConfig", request, optional=True)
        if reply and reply.failures:
            raise errors.RefusedError("\n".join(_failure(each) for each in reply.failures))

    def diff_config(self, urn: str, olds: values.Properties, news: values.Properties) -> Difference:
        """Return what changes with the configuration."""
        old, new = values.dump(values.reveal(olds)), values.dump(values.reveal(news))
        reply = self._call(
            "DiffConfig", provider_pb2.DiffRequest(urn=urn, olds=old, news=new, old_inputs=old), optional=True
        )
        return _difference(reply, olds, news) if reply else Difference(changed=olds != news)

    def configure(self, urn: str, identity: str, inputs: values.Properties) -> None:
        """Hand the provider its configuration."""
        plain = values.reveal(inputs)
        request = provider_pb2.ConfigureRequest(
            args=values.dump(plain),
            variables={key: value if isinstance(value, str) else json.dumps(value) for key, value in plain.items()},
            acceptSecrets=True,
            acceptResources=True,
            sends_old_inputs=True,
            sends_old_inputs_to_delete=True,
            urn=urn,
            id=identity,
        )
        reply = self._call("Configure", request)
        self._accepts_secrets = self._accepts_secrets or reply.acceptSecrets
        self.supports_preview = reply.supportsPreview

    def cancel(self) -> None:
        """Ask the provider to give up what it is at; what does not answer within a second is not waited for."""
        try:
            self._stub.Cancel(empty_pb2.Empty(), timeout=1.0)
        except grpc.RpcError:
            return  # a provider without Cancel, or one that is gone: the steps under way report it

    def close(self) -> None:
        """Say that the operation is over and end the process, if it is ours."""
        self.cancel()
        self._channel.close()
        if self.process is not None:
            self.process.stop()

    # --- resources
    def check(self, target: Target, olds: values.Properties, news: values.Properties, seed: bytes) -> values.Properties:
        """Return *news* as the provider wants them. Raises `errors.RefusedError` with everything that is wrong."""
        request = provider_pb2.CheckRequest(
            olds=self._encode(olds), news=self._encode(news), randomSeed=seed, **target.fields()
        )
        reply = self._call("Check", request)
        if reply.failures:
            raise errors.RefusedError("\n".join(_invalid(target, news, each) for each in reply.failures))
        return self._decode(reply.inputs, news)

    def diff(
        self, target: Target, old: state.Resource, news: values.Properties, ignore: Sequence[str] = ()
    ) -> Difference:
        """Return what separates *old*, its secrets opened, from *news*."""
        request = provider_pb2.DiffRequest(
            id=old["id"],
            olds=self._encode(old.get("outputs", {})),
            old_inputs=self._encode(old.get("inputs", {})),
            news=self._encode(news),
            ignoreChanges=ignore,
            **target.fields(),
        )
        return _difference(self._call("Diff", request), old.get("inputs", {}), news)

    def create(self, target: Target, news: values.Properties, *, preview: bool, timeout_s: float) -> Outcome:
        """Make the object, or in a preview say what making it would give."""
        request = provider_pb2.CreateRequest(
            properties=self._encode(news), preview=preview, timeout=timeout_s, **target.fields()
        )
        return self._step("Create", request, news, timeout_s)

    def update(
        self,
        target: Target,
        old: state.Resource,
        news: values.Properties,
        *,
        preview: bool,
        timeout_s: float,
        ignore: Sequence[str],
    ) -> Outcome:
        """Change the object in place."""
        request = provider_pb2.UpdateRequest(
            id=old["id"],
            olds=self._encode(old.get("outputs", {})),
            old_inputs=self._encode(old.get("inputs", {})),
            news=self._encode(news),
            ignoreChanges=ignore,
            preview=preview,
            timeout=timeout_s,
            **target.fields(),
        )
        return self._step("Update", request, news, timeout_s, old["id"])

    def read(self, target: Target, identity: str, inputs: values.Properties, outputs: values.Properties) -> Outcome:
        """Return the object as it is now; an `Outcome` without identity when it is gone."""
        request = provider_pb2.ReadRequest(
            id=identity, inputs=self._encode(inputs), properties=self._encode(outputs), **target.fields()
        )
        return self._step("Read", request, inputs, 0.0)

    def delete(self, target: Target, old: state.Resource, timeout_s: float) -> None:
        """Remove the object."""
        request = provider_pb2.DeleteRequest(
            id=old["id"],
            properties=self._encode(old.get("outputs", {})),
            old_inputs=self._encode(old.get("inputs", {})),
            timeout=timeout_s,
            **target.fields(),
        )
        self._call("Delete", request, timeout_s or STEP_TIMEOUT_S)

    def invoke(self, token: str, arguments: values.Properties, *, preview: bool) -> provider_pb2.InvokeResponse:
        """Call a function of the provider."""
        request = provider_pb2.InvokeRequest(tok=token, args=values.dump(values.reveal(arguments)), preview=preview)
        return self._call("Invoke", request)

    # --- wire
    def _step(
        self, method: str, request: Any, inputs: values.Properties, timeout_s: float, identity: str = ""
    ) -> Outcome:
        try:
            reply = getattr(self._stub, method)(request, timeout=timeout_s or STEP_TIMEOUT_S)
        except grpc.RpcError as error:
            failed = _init_failure(error)
            if failed is None:
                raise errors.RefusedError(self._words(method, error)) from error
            reply, reasons = failed, tuple(failed.reasons)
        else:
            reasons = ()
        read_inputs = self._decode(reply.inputs, inputs) if method == "Read" else {}
        return Outcome(
            identity=identity or reply.id,
            outputs=self._decode(reply.properties, inputs),
            inputs=read_inputs,
            refresh_before_update=reply.refresh_before_update,
            reasons=reasons,
        )

    def _call(self, method: str, request: Any, timeout_s: float = CALL_TIMEOUT_S, *, optional: bool = False) -> Any:
        try:
            return getattr(self._stub, method)(request, timeout=timeout_s)
        except grpc.RpcError as error:
            if optional and error.code() == grpc.StatusCode.UNIMPLEMENTED:
                return None
            raise errors.RefusedError(self._words(method, error)) from error

    def _words(self, method: str, error: grpc.RpcError) -> str:
        if self.process is not None and error.code() == grpc.StatusCode.UNAVAILABLE:
            return self.process.premature_end()
        if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
            return f"{method}: the provider did not answer in time"
        return str(error.details())

    def _encode(self, properties: values.Properties) -> Any:
        return values.dump(properties if self._accepts_secrets else values.reveal(properties))

    def _decode(self, struct: Any, inputs: values.Properties) -> values.Properties:
        """Return *struct*; what was secret in *inputs* is secret in it, whatever the provider says."""
        found = values.load(struct)
        hidden = {key for key, value in inputs.items() if values.has_secret(value)}
        bare = {key for key in hidden & set(found) if not values.has_secret(found[key])}
        return found | {key: values.secret(found[key]) for key in bare}


def _failure(failure: provider_pb2.CheckFailure) -> str:
    return f"{failure.property}: {failure.reason}" if failure.property else str(failure.reason)


def _invalid(target: Target, news: values.Properties, failure: provider_pb2.CheckFailure) -> str:
    """Return the real engine's sentence (``sdk/go/common/diag/errors.go``), but never a secret in it."""
    subject = f"{target.type} resource '{target.name}'"
    if failure.property:
        shown = values.redact(news.get(failure.property))
        subject += f": property {failure.property} value {shown}"
    return f"{subject} has a problem: {failure.reason}"


def _difference(reply: Any, olds: values.Properties, news: values.Properties) -> Difference:
    plain_olds, plain_news = values.reveal(olds), values.reveal(news)
    keys = sorted(key for key in {*plain_olds, *plain_news} if plain_olds.get(key) != plain_news.get(key))
    unknown = provider_pb2.DiffResponse.DIFF_UNKNOWN
    changed = bool(keys) if reply.changes == unknown else reply.changes == provider_pb2.DiffResponse.DIFF_SOME
    detailed = {path: each.kind for path, each in reply.detailedDiff.items()}
    plain = dict.fromkeys(reply.diffs or (keys if changed else ()), _KINDS.UPDATE)
    return Difference(
        changed=changed,
        marks={path: _MARKS.get(kind, "~") for path, kind in (detailed or plain).items()},
        replaces=frozenset(reply.replaces) | {path for path, kind in detailed.items() if kind in _REPLACE_KINDS},
        delete_before_replace=reply.deleteBeforeReplace,
    )


def _init_failure(error: grpc.RpcError) -> provider_pb2.ErrorResourceInitFailed | None:
    """Return what a provider attached to *error* when the object exists but is not as it should be."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                failed = provider_pb2.ErrorResourceInitFailed()
                if detail.Unpack(failed):
                    return failed
    return None
