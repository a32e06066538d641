"""
The resource monitor: what the SDK calls while the program runs, from its worker threads, in process.

Of the features only these are announced: secrets and alias specs, which there are, and ``deletedWith`` and
``replaceWith``, so that our own sentence refuses them. The SDK then sends no output values, and refuses hooks and
transforms before they get here.
Source: pulumi/pulumi, ``proto/pulumi/resource.proto`` and ``sdk/python/lib/pulumi/runtime``.
"""

from collections.abc import Callable
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import resource_pb2

from nomad_csi import errors
from nomad_csi_sandbox.engine import builtin, deployment, goal, reading, registration, values

_FEATURES = (
    resource_pb2.RESOURCE_MONITOR_FEATURE_SECRETS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
    resource_pb2.RESOURCE_MONITOR_FEATURE_REPLACE_WITH,
)


class RpcFailure(grpc.RpcError):
    """What the SDK takes for a failed call: an error with a code and details."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(details)
        self._code, self._details = code, details

    def code(self) -> grpc.StatusCode:
        """Return the status; UNAVAILABLE makes the SDK shut down without a word."""
        return self._code

    def details(self) -> str:
        """Return the message."""
        return self._details


class Monitor:
    """One run of the program."""

    def __init__(self, run: deployment.Deployment) -> None:
        self._run = run
        self._registrar = registration.Registrar(run)

    # --- about the run
    def GetDeploymentInfo(self, _request: Any) -> Any:  # noqa: N802  # the protocol's names, here and below
        """Say what is run and what this engine can do."""
        project = self._run.project
        return resource_pb2.DeploymentInfo(
            project=project.name,
            stack=project.stack,
            dryRun=self._run.dry,
            supportedFeatures=_FEATURES,
        )

    def SupportsFeature(self, request: Any) -> Any:  # noqa: N802
        """Say whether this engine has a feature."""
        return resource_pb2.SupportsFeatureResponse(hasSupport=request.id in ("secrets", "aliasSpecs"))

    def SignalAndWaitForShutdown(self, _request: Any) -> Any:  # noqa: N802
        """Return at once: nothing calls back into the program."""
        return empty_pb2.Empty()

    # --- resources
    def RegisterResource(self, request: Any) -> Any:  # noqa: N802
        """Bring a resource about."""
        urn = self._run.project.urn(request.type, request.name, request.parent)
        resource = self._told(urn, lambda: self._registrar.register(goal.read(request, urn)))
        outputs = resource.get("outputs", {}) if resource["custom"] else {}
        return resource_pb2.RegisterResourceResponse(
            urn=urn, id=_known(resource.get("id", "")), object=values.dump(outputs)
        )

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802
        """Complete a component."""
        outputs = values.load(request.outputs)
        self._told(request.urn, lambda: self._registrar.finish(request.urn, outputs))
        if request.urn == self._run.project.root_urn:
            self._run.display.report.outputs = outputs
        return empty_pb2.Empty()

    def ReadResource(self, request: Any) -> Any:  # noqa: N802
        """Read an object that is not ours."""
        urn = self._run.project.urn(request.type, request.name, request.parent)
        resource = self._told(urn, lambda: reading.read(self._run, request, urn))
        return resource_pb2.ReadResourceResponse(
            urn=urn, id=resource["id"], properties=values.dump(resource["outputs"])
        )

    # --- functions
    def Invoke(self, request: Any) -> Any:  # noqa: N802
        """Call a function of a provider, or one of the engine's own. What it refuses is for the program to catch."""
        arguments = values.load(request.args)
        if values.has_unknown(arguments):
            return resource_pb2.ResourceInvokeResponse(unknown=True)
        try:
            self._run.go_on()
            if request.tok.startswith("pulumi:pulumi:"):
                self._run.providers.note_builtin()
                reply = values.dump(builtin.invoke(self._run, request.tok, arguments))
                return _reply(reply)
            reference = request.provider or self._run.providers.default(request.tok, request.version)
            found = self._run.providers.of(reference).invoke(request.tok, arguments, preview=self._run.dry)
        except errors.CancelledError as error:
            raise RpcFailure(grpc.StatusCode.UNAVAILABLE, str(error)) from error
        except errors.NomadCsiError as error:
            raise RpcFailure(grpc.StatusCode.UNKNOWN, str(error)) from error
        return _reply(getattr(found, "return"), found.failures)

    def Call(self, request: Any) -> Any:  # noqa: N802
        """Refuse: methods of remote components need the pulumi CLI."""
        raise self._refused(f"{request.tok}: calls of methods")

    def RegisterPackage(self, request: Any) -> Any:  # noqa: N802
        """Refuse: parameterized packages need the pulumi CLI."""
        raise self._refused(f"{request.name}: parameterized packages")

    def RegisterStackTransform(self, _request: Any) -> Any:  # noqa: N802
        """Refuse."""
        raise self._refused("transforms")

    RegisterStackInvokeTransform = RegisterStackTransform

    def RegisterResourceHook(self, _request: Any) -> Any:  # noqa: N802
        """Refuse."""
        raise self._refused("resource hooks")

    RegisterErrorHook = RegisterResourceHook

    # --- failures
    def _refused(self, what: str) -> RpcFailure:
        message = f"{what} are not supported by the emulator of the Pulumi engine; they need the pulumi CLI"
        self._run.fail("same", "", message)
        return RpcFailure(grpc.StatusCode.UNAVAILABLE, message)

    def _told(self, urn: str, work: Callable[[], Any]) -> Any:
        """Return what *work* does. A refusal is told once, at *urn*; the SDK only hears that it is over."""
        try:
            return work()
        except errors.CancelledError as error:
            raise RpcFailure(grpc.StatusCode.UNAVAILABLE, str(error)) from error
        except errors.NomadCsiError as error:
            self._run.fail("same", urn, str(error))
            raise RpcFailure(grpc.StatusCode.UNAVAILABLE, str(error)) from error


def _reply(found: Any, failures: Any = ()) -> Any:
    """Return what an invoke answered; its field has the name of a keyword."""
    fields: dict[str, Any] = {"return": found, "failures": failures}
    return resource_pb2.ResourceInvokeResponse(**fields)


def _known(identity: str) -> str:
    return "" if values.has_unknown(identity) else identity
