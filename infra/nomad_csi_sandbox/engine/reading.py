"""Objects that a program reads and does not own: ``Resource.get``."""

from typing import Any

from nomad_csi import errors
from nomad_csi_sandbox.engine import deployment, goal, plugins, state, values


def read(run: deployment.Deployment, request: Any, urn: str) -> state.Resource:
    """Read the object that *request* names and record it as external. Raises `errors.RefusedError` if it is gone."""
    run.go_on()
    goal.refuse_builtin(request.type, urn)
    reference = request.provider or run.providers.default(request.type, request.version)
    target = plugins.Target(urn=urn, type=request.type, name=request.name)
    given, watch = values.load(request.properties), deployment.Watch()
    with run.slot():
        run.display.began("read", urn)
        found = run.providers.of(reference).read(target, request.id, {}, given)
    if not found.identity:
        raise errors.RefusedError(f"resource '{request.id}' does not exist")
    now = state.now()
    old = run.snapshot.old(urn)
    fields = {
        "urn": urn,
        "custom": True,
        "id": found.identity,
        "type": request.type,
        "outputs": values.hidden(found.outputs, {}, request.additionalSecretOutputs),
        "parent": request.parent,
        "external": True,
        "dependencies": list(request.dependencies),
        "provider": reference,
        "additionalSecretOutputs": list(request.additionalSecretOutputs),
        "created": old.get("created", now) if old else now,
        "modified": now,
    }
    resource = {key: value for key, value in fields.items() if value}
    resource.setdefault("outputs", {})
    run.snapshot.put(resource, instead_of=old)
    run.display.ended("read", urn, watch.seconds)
    return resource
