"""
The emulator on Pulumi's wire. Only translates: types are in `table`, what follows in `inputs` and `lifecycle`.

Which calls a real engine makes, and in which order, was measured with pulumi 3.260.
"""

import importlib.metadata
import threading
from collections.abc import Mapping
from typing import Any, TypeAlias

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from nomad_csi import errors
from nomad_csi.provider import wire
from nomad_csi_sandbox.aws.provider import (
    answers,
    clients,
    configuration,
    faults,
    functions,
    inputs,
    lifecycle,
    schema,
    table,
)

Context: TypeAlias = grpc.ServicerContext


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """An emulator of the ``aws`` provider. One process serves all configurations of it that a program has."""

    def __init__(self, endpoint_url: str, environment: Mapping[str, str]) -> None:
        self._endpoint_url = endpoint_url
        self._environment = environment
        self._cancelled = threading.Event()
        self._access: clients.Access | None = None
        self._pool: clients.Pool | None = None
        self._configured = configuration.ByConnection()

    def Handshake(self, _request: Any, _context: Context) -> Any:  # noqa: N802  # a name of the protocol, as below
        """Say what this provider can take; an operation begins."""
        self._cancelled.clear()
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True)

    def Attach(self, _request: Any, _context: Context) -> Any:  # noqa: N802
        """Accept an engine; an operation begins."""
        self._cancelled.clear()
        return empty_pb2.Empty()

    def GetPluginInfo(self, _request: Any, _context: Context) -> Any:  # noqa: N802
        """Say the version of the SDK that this emulator follows."""
        return plugin_pb2.PluginInfo(version=importlib.metadata.version("pulumi-aws"))

    def GetSchema(self, _request: Any, _context: Context) -> Any:  # noqa: N802
        """Return the schema, which programs in YAML need."""
        return provider_pb2.GetSchemaResponse(schema=schema.text())

    def CheckConfig(self, request: Any, _context: Context) -> Any:  # noqa: N802
        """Refuse a configuration without credentials or region."""
        arguments, _ = wire.load(request.news)
        reasons = configuration.failures(arguments, self._endpoint_url, self._environment)
        return provider_pb2.CheckResponse(inputs=request.news, failures=answers.failures(reasons))

    def DiffConfig(self, request: Any, _context: Context) -> Any:  # noqa: N802
        """Say whether the configuration changed; what that means for a resource, its own inputs show."""
        old, new = ({**wire.load(struct)[0], "version": ""} for struct in (request.old_inputs, request.news))
        return provider_pb2.DiffResponse(changes=answers.changes(old != new))

    def Configure(self, request: Any, context: Context) -> Any:  # noqa: N802
        """Take the configuration."""
        arguments, _ = wire.load(request.args)
        with answers.answering(context):
            access = configuration.access(arguments, self._endpoint_url, self._environment)
            if access is None:
                raise errors.AwsError(faults.NO_CREDENTIALS)
        if self._pool is None or self._access != access:
            self._access, self._pool = access, clients.Pool(access, self._cancelled)
        defaults = configuration.defaults(arguments, self._environment)
        aws = clients.Clients(self._pool, defaults.region)
        self._configured.add(context.peer(), configuration.Configured(aws=aws, defaults=defaults))
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True, acceptResources=True)

    def Cancel(self, _request: Any, _context: Context) -> Any:  # noqa: N802
        """End what waits. Engines call this at the end of every operation, too."""
        self._cancelled.set()
        return empty_pb2.Empty()

    def Check(self, request: Any, context: Context) -> Any:  # noqa: N802
        """Fill in defaults and a generated name; refuse what the real provider's schema refuses."""
        with answers.answering(context):
            row = table.of_urn(request.urn)
            defaults = self._configured.of(context.peer()).defaults
        (olds, _), (news, secrets) = wire.load(request.olds), wire.load(request.news)
        chosen = {row.autonamed} - {"", *news}
        kept = chosen & answers.generated(request.olds)
        name = olds[row.autonamed] if kept else inputs.generated_name(request.name, request.randomSeed)
        checked = inputs.checked(row, news, defaults, generated_name=name)
        return provider_pb2.CheckResponse(
            inputs=answers.properties(checked, secrets, chosen),
            failures=answers.failures(inputs.failures(row, request.name, news)),
        )

    def Diff(self, request: Any, context: Context) -> Any:  # noqa: N802
        """Say which inputs change in place and which need a new object."""
        with answers.answering(context):
            row = table.of_urn(request.urn)
        old_inputs, outputs, news = map(_plain, (request.old_inputs, request.olds, request.news))
        updates, replaces = (
            [name for name in names if name not in request.ignoreChanges]
            for names in inputs.changed(row, old_inputs, outputs, news)
        )
        detail = {
            **answers.property_diffs(updates, old_inputs, news, replace=False),
            **answers.property_diffs(replaces, old_inputs, news, replace=True),
        }
        named_by_hand = bool({row.autonamed} - {"", *answers.generated(request.news), *replaces})
        return provider_pb2.DiffResponse(
            changes=answers.changes(bool(detail)),
            diffs=list(detail),
            replaces=replaces,
            detailedDiff=detail,
            hasDetailedDiff=True,
            deleteBeforeReplace=bool(replaces) and (row.delete_before_replace or named_by_hand),
        )

    def Create(self, request: Any, context: Context) -> Any:  # noqa: N802
        """Make the object, or say what is known before."""
        wanted, secrets = wire.load(request.properties)
        with answers.answering(context):
            if request.preview:
                known = inputs.unknown_outputs(table.of_urn(request.urn), wanted)
                return provider_pb2.CreateResponse(properties=answers.properties(known, secrets))
            made = self._lifecycle(context, request.urn, wanted).create(wanted)
        if made.problem:
            answers.abort_recorded(context, made, request.properties, secrets)
        return provider_pb2.CreateResponse(id=made.identity, properties=answers.properties(made.outputs, secrets))

    def Read(self, request: Any, context: Context) -> Any:  # noqa: N802
        """Return what the object is now; nothing when it is gone."""
        (state, outer), (old_inputs, inner) = wire.load(request.properties), wire.load(request.inputs)
        with answers.answering(context):
            found = self._lifecycle(context, request.urn, state).read(request.id, old_inputs)
        if found is None:
            return provider_pb2.ReadResponse(id="")
        current, known = found
        return provider_pb2.ReadResponse(
            id=request.id,
            inputs=answers.properties(current, outer | inner, answers.generated(request.inputs)),
            properties=answers.properties(known, outer | inner),
        )

    def Update(self, request: Any, context: Context) -> Any:  # noqa: N802
        """Change the object in place, or say what is known before."""
        old_inputs, outputs = map(_plain, (request.old_inputs, request.olds))
        wanted, secrets = wire.load(request.news)
        with answers.answering(context):
            if request.preview:
                return provider_pb2.UpdateResponse(properties=answers.properties({**outputs, **wanted}, secrets))
            made = self._lifecycle(context, request.urn, wanted).update(request.id, old_inputs, wanted)
        if made.problem:
            answers.abort_recorded(context, made, request.news, secrets)
        return provider_pb2.UpdateResponse(properties=answers.properties(made.outputs, secrets))

    def Delete(self, request: Any, context: Context) -> Any:  # noqa: N802
        """Remove the object."""
        state = _plain(request.properties)
        with answers.answering(context):
            self._lifecycle(context, request.urn, state).delete(request.id, state)
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Context) -> Any:  # noqa: N802
        """Call a function."""
        with answers.answering(context):
            result = functions.call(request.tok, self._configured.of(context.peer()).aws, _plain(request.args))
        reply = {"return": wire.dump(result)}  # a keyword of Python, so not written as an argument
        return provider_pb2.InvokeResponse(**reply)  # type: ignore[arg-type]  # the stub has no such argument

    def _lifecycle(self, context: Context, urn: str, properties: Mapping[str, Any]) -> lifecycle.Lifecycle:
        """Return what works on the resource *urn*, in the region that its properties name."""
        found = self._configured.of(context.peer())
        aws = found.aws.in_region(properties.get("region"))
        return lifecycle.Lifecycle(row=table.of_urn(urn), aws=aws, defaults=found.defaults)


def _plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Return the values of *struct*; which of them are secret does not matter to the caller."""
    return wire.load(struct)[0]
