"""
Reading what there is: all of it for ``refresh``, before updates and destroys only what asked (``refreshBeforeUpdate``).

Source: pulumi/pulumi, ``RefreshStep`` in ``pkg/resource/deploy/step.go``, ``rebuildBaseState`` in
``deployment_executor.go``.
"""

import concurrent.futures
import dataclasses
from typing import Any

from nomad_csi import errors
from nomad_csi_sandbox.engine import deletes, deployment, plugins, state, values


def refresh(run: deployment.Deployment, *, flagged_only: bool) -> None:
    """Bring the snapshot up to what the providers read. What is gone leaves it, and is forgotten by its dependents."""
    with concurrent.futures.ThreadPoolExecutor(run.parallel) as pool:
        found = list(pool.map(lambda old: _one(run, old, flagged_only=flagged_only), run.snapshot.left()))
    run.go_on()
    kept = [resource for resource in found if resource is not None]
    gone = {old["urn"] for old, now in zip(run.snapshot.left(), found, strict=True) if now is None}
    gone -= {resource["urn"] for resource in kept}
    run.snapshot.restore([_without(resource, gone) for resource in kept])


def _one(run: deployment.Deployment, old: state.Resource, *, flagged_only: bool) -> state.Resource | None:
    if flagged_only and not old.get("refreshBeforeUpdate"):
        return old
    if not old["custom"] or deletes.is_provider(old) or old.get("pendingReplacement"):
        if not flagged_only and not deletes.is_default_provider(old):
            run.display.unchanged(old["urn"])
        return old
    try:
        return _read(run, old, count=not flagged_only)
    except errors.CancelledError:
        return old  # told already; the refresh as a whole does not come about


def _read(run: deployment.Deployment, old: state.Resource, *, count: bool) -> state.Resource | None:
    urn, watch = old["urn"], deployment.Watch()
    with run.slot(after_failure=True), deployment.Failing(run, "refresh", urn):
        opened = run.opened(old)
        inputs, outputs = opened.get("inputs", {}), opened.get("outputs", {})
        found = run.providers.of(old["provider"]).read(deletes.target(old), old["id"], inputs, outputs)
    if not found.identity:
        run.display.ended("delete", urn, watch.seconds, count=count)
        return None
    if found.reasons:
        text = "\n* ".join(["Refreshed resource is in an unhealthy state:", *found.reasons])
        run.display.say("warning", urn, text)
    shown = values.hidden(found.outputs, found.inputs, old.get("additionalSecretOutputs", ()))
    found = dataclasses.replace(found, outputs=shown)
    known = run.opened(old, found.inputs).get("inputs", {})
    difference = _difference(run, old, found, known)
    run.display.ended("update" if difference.changed else "same", urn, watch.seconds, difference.marks, count=count)
    changed = _differing(run, outputs, found.outputs) or _differing(run, inputs, found.inputs)
    return _now(old, found, changed=bool(changed))


def _difference(
    run: deployment.Deployment, old: state.Resource, found: plugins.Outcome, inputs: values.Properties
) -> plugins.Difference:
    """Return what separates what was *found* from the old *inputs*, in the provider's eyes; outputs do not count."""
    if old.get("external"):
        keys = _differing(run, old.get("outputs", {}), found.outputs)
        return plugins.Difference(changed=bool(keys), marks=dict.fromkeys(keys, "~"))
    now = {"id": found.identity, "inputs": found.inputs, "outputs": found.outputs}
    plugin = run.providers.of(old["provider"])
    difference = plugin.diff(deletes.target(old), now, inputs)
    return plugins.Difference(changed=difference.changed, marks=dict.fromkeys(difference.marks, "~"))


def _now(old: state.Resource, found: plugins.Outcome, *, changed: bool) -> state.Resource:
    """Return the state of *old* as it was *found*. A secret that was not known stays the digest that it was."""
    dropped = ("initErrors", "refreshBeforeUpdate")
    kept = {key: value for key, value in old.items() if key not in dropped}
    resource = {**kept, "id": found.identity, "outputs": found.outputs}
    if found.inputs or old.get("inputs"):
        resource["inputs"] = found.inputs
    if found.reasons:
        resource["initErrors"] = list(found.reasons)
    if found.refresh_before_update:
        resource["refreshBeforeUpdate"] = True
    if changed:
        resource["modified"] = state.now()
    return resource


def _differing(run: deployment.Deployment, old: values.Properties, new: values.Properties) -> list[str]:
    """Return the keys that differ; a secret is compared by its digest, which is all that is known of an old one."""
    closed_old, closed_new = run.snapshot.seal.close(old), run.snapshot.seal.close(new)
    return sorted(key for key in {*old, *new} if closed_old.get(key) != closed_new.get(key))


def _without(resource: state.Resource, gone: set[str]) -> state.Resource:
    """Return *resource* without its dependencies on what is *gone*."""
    if not gone & deletes.needs(resource):
        return resource
    trimmed: dict[str, Any] = {**resource}
    if "dependencies" in resource:
        trimmed["dependencies"] = [urn for urn in resource["dependencies"] if urn not in gone]
    if "propertyDependencies" in resource:
        by_property = resource["propertyDependencies"].items()
        trimmed["propertyDependencies"] = {key: [urn for urn in urns if urn not in gone] for key, urns in by_property}
    return {key: value for key, value in trimmed.items() if value or key != "dependencies"}
