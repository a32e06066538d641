"""The engine's own functions. Source: pulumi/pulumi, ``pkg/resource/deploy/builtins.go``."""

from nomad_csi import errors
from nomad_csi_sandbox.engine import deployment, state, values

READ_STACK_RESOURCE_OUTPUTS = "pulumi:pulumi:readStackResourceOutputs"


def invoke(run: deployment.Deployment, token: str, arguments: values.Properties) -> values.Properties:
    """Return what the function *token* answers. Raises `errors.RefusedError` for those that are not offered."""
    if token != READ_STACK_RESOURCE_OUTPUTS:
        raise errors.RefusedError(
            f"{token} is not supported by the emulator of the Pulumi engine; it needs the pulumi CLI"
        )
    name = str(arguments.get("stackName", ""))
    if not _is_ours(run, name):
        raise errors.RefusedError(
            f"unknown stack {name!r}: the emulator of the Pulumi engine knows {run.project.stack!r} only"
        )
    return {"name": name, "outputs": _resource_outputs(run)}


def _is_ours(run: deployment.Deployment, name: str) -> bool:
    """Whether *name* is our stack: ``stack``, ``project/stack`` or ``organization/project/stack``."""
    *before, stack = name.split("/")
    return stack == run.project.stack and (not before or before[-1] == run.project.name)


def _resource_outputs(run: deployment.Deployment) -> values.Properties:
    """Return ``{urn: {"type": …, "outputs": …}}`` of what is stored, but for what is to be deleted."""
    stored = state.read(run.snapshot.path)
    return {
        resource["urn"]: {"type": resource["type"], "outputs": run.opened(resource).get("outputs", {})}
        for resource in stored.resources
        if not resource.get("delete")
    }
