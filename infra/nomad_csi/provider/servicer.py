"""The plugin as one gRPC servicer: it serves the custom resources; its base class serves the components."""

# ruff: noqa: N802  # gRPC names the methods

import asyncio
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import grpc
from google.protobuf import empty_pb2, message
from pulumi.provider import Provider, server
from pulumi.runtime.proto import provider_pb2

from nomad_csi import errors, nomad
from nomad_csi.frame import registry, resource
from nomad_csi.nomad import cluster_identity, sandbox_mark
from nomad_csi.nomad.connection import CREDENTIALS, VARIABLES
from nomad_csi.provider import configuration, hosting, status, wire
from nomad_csi.spec import names
from nomad_csi.text import foreign, redaction

_STRUCTS = ("properties", "inputs", "olds", "old_inputs", "news", "args")
"""Fields of requests that hold properties."""


def _answered(work: Callable[["Servicer", Any], Any]) -> Any:
    """Make of *work* a method of the protocol: it is done in a thread, and an error becomes one line."""

    @functools.wraps(work)
    async def method(self: "Servicer", request: Any, context: Any) -> Any:
        try:
            return await asyncio.to_thread(work, self, request)
        except resource.InitFailedError as error:
            await context.abort_with_status(self._init_failed(request, error))
        except errors.NomadCsiError as error:
            await context.abort(grpc.StatusCode.UNKNOWN, self._clean(request, wire.sentence(error)))
        except Exception as error:  # noqa: BLE001  # the only place that reports a bug
            await context.abort(grpc.StatusCode.INTERNAL, wire.bug(error))

    return method


class Servicer(server.ProviderServicer):
    """
    Serves the engine: each call is translated, done in a thread by a class of `frame.registry`, and translated back.

    An expected error becomes one line, any other one "bug in nomad-csi" with its location and no values.
    """

    def __init__(
        self, hosted: Provider, arguments: list[str], engine_address: str, environment: Mapping[str, str]
    ) -> None:
        super().__init__(hosted, arguments, engine_address)
        self._environment = environment
        self._mark = environment.get(sandbox_mark.ENVIRONMENT, "")
        self._engine = status.Engine()
        self._engine.connect(engine_address)
        self._cancelled = threading.Event()
        self._operation = resource.Operation()
        self._settings: Mapping[str, Any] = {}
        self._client: nomad.Nomad | None = None
        """Whether, in the sandbox, the client's Nomad is verified to be the sandbox's own."""
        self._client_lock = threading.Lock()

    async def Cancel(self, request: Any, context: Any) -> Any:
        """Cancel waiting steps. The engine calls this at the end of every operation, also after success."""
        del request, context
        self.interrupt()
        return empty_pb2.Empty()

    def interrupt(self) -> None:
        """Cancel every waiting step."""
        self._cancelled.set()

    async def Construct(self, request: Any, context: Any) -> Any:
        """Construct a component for a program in another language."""
        try:
            hosting.keep_named_dependencies(request)
            with hosting.shared(request):
                return await self._construct(request, context)
        except errors.NomadCsiError as error:
            await context.abort(grpc.StatusCode.UNKNOWN, self._clean(request, wire.sentence(error)))
        except server.ComponentInitError as error:
            await context.abort(grpc.StatusCode.INTERNAL, wire.bug(error.inner))

    @staticmethod
    async def _construct_inputs(inputs: Any, input_dependencies: Any) -> dict[str, Any]:
        """Return the inputs of a component, with outputs only where their leaves are."""
        given = await server.ProviderServicer._construct_inputs(inputs, input_dependencies)  # noqa: SLF001  # overridden
        return {name: await hosting.opened(value, name) for name, value in given.items()}

    @_answered
    def Handshake(self, request: Any) -> Any:
        """Begin an operation of the engine."""
        self._begin(request.engine_address)
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True, accept_outputs=False)

    @_answered
    def Attach(self, request: Any) -> Any:
        """Begin an operation of an engine that found this process running (``PULUMI_DEBUG_PROVIDERS``)."""
        self._begin(request.address)
        return empty_pb2.Empty()

    def _begin(self, engine_address: str) -> None:
        self._cancelled.clear()
        self._operation = resource.Operation()
        self.engine_address = engine_address
        self._engine.connect(engine_address)

    @_answered
    def CheckConfig(self, request: Any) -> Any:
        """Check the provider's settings, including those of the environment."""
        given, _ = wire.load(request.news)
        values, problems = configuration.check(given)
        if not problems and wire.UNKNOWN not in values.values():
            configuration.connection(values, self._environment)
        return wire.check(values, map(str, problems), configuration.SECRET)

    @_answered
    def DiffConfig(self, request: Any) -> Any:
        """Compare the provider's settings; a change of them replaces no object."""
        old, new = (configuration.check(wire.load(struct)[0])[0] for struct in (request.old_inputs, request.news))
        changed = provider_pb2.DiffResponse.DIFF_SOME if old != new else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(changes=changed)

    @_answered
    def Configure(self, request: Any) -> Any:
        """Apply the provider's settings."""
        settings, problems = configuration.check(wire.load(request.args)[0])
        if problems:
            raise errors.SpecError(problems, source="the nomad-csi provider")
        self._settings = settings
        with self._client_lock:
            if self._client is not None:
                self._client.close()
            self._client = None
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, acceptResources=True, acceptOutputs=False
        )

    @_answered
    def Check(self, request: Any) -> Any:
        """Check the inputs of a resource."""
        kind = _kind(request.urn)
        inputs, marked = wire.load(request.news)
        values, problems = kind.check(inputs)
        if not problems:
            self._operation.declare(kind.declared.token, request.urn, values)
        reasons = (self._clean(request, str(problem)) for problem in problems)
        return wire.check(values, reasons, marked | kind.declared.secret)

    @_answered
    def Diff(self, request: Any) -> Any:
        """Compare the recorded with the desired state."""
        kind = _kind(request.urn)
        old_inputs, outputs, inputs = (wire.load(item)[0] for item in (request.old_inputs, request.olds, request.news))
        sandbox_mark.refuse_other_side(outputs, self._mark)
        self._operation.record(request.urn, outputs)
        self._operation.see(outputs)
        diff = kind.diff(request.id, old_inputs, outputs, inputs)
        if not diff.replaces and self._is_elsewhere(outputs):
            # The update is refused with what to do.
            diff = dataclasses.replace(diff, updates=(*diff.updates, "cluster"))
        answer = wire.difference(diff, kind.declared.inputs, request.ignoreChanges)
        if diff.notice and answer.detailedDiff and self._operation.declared(kind.declared.token, request.urn) == inputs:
            # Not in a refresh, which compares in the other direction, and not where the engine tries an unknown value.
            self._engine.warn(request.urn, self._clean(request, diff.notice))
        return answer

    def _is_elsewhere(self, outputs: Mapping[str, Any]) -> bool:
        """Return whether the connection is known to lead to another cluster than the one that *outputs* record."""
        if not outputs.get("cluster") or wire.UNKNOWN in self._settings.values():
            return False
        read = functools.partial(cluster_identity.compare, self._connect(), outputs)
        try:
            return self._operation.once(f"cluster {outputs['cluster']}", read) in {"other", "lost"}
        except errors.NomadApiError:
            return False  # not known: the refresh before says that Nomad does not answer

    @_answered
    def Create(self, request: Any) -> Any:
        """Create an object; in a preview, return its planned outputs."""
        kind = _kind(request.urn)
        inputs, marked = wire.load(request.properties)
        secrets = marked | kind.declared.secret
        if request.preview:
            self._preflight(request, kind, self._operation.recorded(request.urn), inputs)
            identity, outputs = kind.preview(inputs)
        else:
            identity, outputs = kind.create(self._context(request), inputs)
            self._operation.create(kind.declared.token, identity)
        return provider_pb2.CreateResponse(
            id="" if identity == wire.UNKNOWN else identity,
            properties=wire.dump(self._marked(outputs), secrets),
            refresh_before_update=True,
        )

    @_answered
    def Read(self, request: Any) -> Any:
        """Read the observed state of an object."""
        kind = _kind(request.urn)
        inputs, marked_inputs = wire.load(request.inputs)
        outputs, marked_outputs = wire.load(request.properties)
        sandbox_mark.refuse_other_side(outputs, self._mark)
        self._operation.see(outputs)
        state = kind.read(self._context(request), request.id, inputs, outputs)
        if state is None:
            return provider_pb2.ReadResponse(id="")
        secrets = marked_inputs | marked_outputs | kind.declared.secret
        return provider_pb2.ReadResponse(
            id=request.id,
            inputs=wire.dump(state[0], secrets),
            properties=wire.dump(self._marked(state[1]), secrets),
            refresh_before_update=True,
        )

    @_answered
    def Update(self, request: Any) -> Any:
        """Update an object; in a preview, return its planned outputs."""
        kind = _kind(request.urn)
        old_outputs, was_marked = wire.load(request.olds)
        inputs, marked = wire.load(request.news)
        secrets = was_marked | marked | kind.declared.secret
        sandbox_mark.refuse_other_side(old_outputs, self._mark)
        if request.preview:
            self._preflight(request, kind, old_outputs, inputs)
            outputs = kind.preview(inputs)[1]
        else:
            outputs = kind.update(self._context(request), request.id, old_outputs, inputs)
        return provider_pb2.UpdateResponse(
            properties=wire.dump(self._marked(outputs), secrets), refresh_before_update=True
        )

    @_answered
    def Delete(self, request: Any) -> Any:
        """Delete an object."""
        outputs, _ = wire.load(request.properties)
        sandbox_mark.refuse_other_side(outputs, self._mark)
        _kind(request.urn).delete(self._context(request), request.id, outputs)
        return empty_pb2.Empty()

    @_answered
    def Invoke(self, request: Any) -> Any:
        """Return the cluster id: the provider's only function."""
        given, _ = wire.load(request.args)
        makes, recorded, cluster_id = given.get("make") is True, given.get("recorded") or (), ""
        try:
            cluster_id = cluster_identity.cluster_of_stack(self._connect(), recorded, make=makes)
        except errors.NomadApiError as error:
            if makes:
                raise
            line = f"the preview does not know the cluster, which Nomad did not report: {wire.sentence(error)}"
            self._engine.warn("", self._clean(request, line))
        answer = provider_pb2.InvokeResponse()
        getattr(answer, "return").CopyFrom(wire.dump({"id": cluster_id}))  # the field has the name of a keyword
        return answer

    def _preflight(self, request: Any, kind: resource.Resource, old_outputs: Any, inputs: Mapping[str, Any]) -> None:
        """Check the cluster for a preview, unless the connection is not known yet."""
        if self._is_elsewhere(old_outputs):
            name = request.urn.rpartition("::")[2]
            raise cluster_identity.refusal(self._connect(), f"resource {name}", old_outputs)
        if wire.UNKNOWN not in self._settings.values():
            kind.preflight(self._context(request), old_outputs, inputs)

    def _init_failed(self, request: Any, error: resource.InitFailedError) -> grpc.Status:
        """Return the status of an object whose initialization failed: the engine records it, with its new inputs."""
        new, old = (request.news, request.olds) if hasattr(request, "news") else (request.properties, None)
        (inputs, marked), was_marked = wire.load(new), wire.load(old)[1] if old is not None else frozenset()
        error.outputs = self._marked(error.outputs)
        reasons = [self._clean(request, reason) for reason in error.reasons]
        return wire.init_failed(error, inputs, marked | was_marked | _kind(request.urn).declared.secret, reasons)

    def _context(self, request: Any) -> resource.Context:
        return resource.Context(
            connect=self._connect,
            root=configuration.root(self._settings, self._environment),
            stack=_stack(request.urn),
            imports=bool(self._environment.get(names.IMPORTS)),
            sandbox=self._mark,
            status=lambda line: self._engine.status(request.urn, self._clean(request, line)),
            warn=lambda line: self._engine.warn(request.urn, self._clean(request, line)),
            cancelled=self._cancelled,
            timeout_s=getattr(request, "timeout", 0),
            urn=request.urn,
            operation=self._operation,
        )

    def _connect(self) -> nomad.Nomad:
        with self._client_lock:
            if self._client is None:
                self._client = nomad.Nomad(configuration.connection(self._settings, self._environment))
            return self._client

    def _marked(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        return dict(outputs) | ({sandbox_mark.OUTPUT: self._mark} if self._mark else {})

    def _clean(self, request: message.Message, text: str) -> str:
        return foreign.visible(redaction.mask(text, [*_secrets(request), *self._own_secrets()]))

    def _own_secrets(self) -> Iterator[str]:
        """Yield the credentials, and the part of each behind a colon: the password of HTTP basic authentication."""
        given = [text for name in configuration.SECRET for text in wire.texts(self._settings.get(name))]
        for text in (*given, *(self._environment.get(VARIABLES[name], "") for name in CREDENTIALS)):
            yield from (text, text.partition(":")[2])


def _kind(urn: str) -> resource.Resource:
    """Return the custom resource of *urn*."""
    return registry.find(names.read_urn(urn).type)


def _stack(urn: str) -> str:
    """Return the stack of *urn* as ``project/stack``."""
    parts = names.read_urn(urn)
    return f"{parts.project}/{parts.stack}"


def _secrets(request: message.Message) -> Iterator[str]:
    """Yield every secret string of *request*, marked as secret or not."""
    urn = getattr(request, "urn", "")
    is_ours = bool(urn) and names.read_urn(urn).type in registry.TOKENS
    always = configuration.SECRET | (_kind(urn).declared.secret if is_ours else {"secrets"})
    for field in _STRUCTS:
        struct = getattr(request, field, None)
        if struct is not None:
            values, marked = wire.load(struct)
            for name in marked | always:
                yield from wire.texts(values.get(name))
