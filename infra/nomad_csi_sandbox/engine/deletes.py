"""
Deletions: what has to go first, in which order, side by side where nothing stands between.

Source: pulumi/pulumi, ``pkg/resource/deploy``: ``ScheduleDeletes`` and ``calculateDependentReplacements`` in
``step_generator.go``, ``DeleteStep`` in ``step.go``.
"""

import concurrent.futures
from collections.abc import Collection

from nomad_csi import errors
from nomad_csi.provider import wire
from nomad_csi_sandbox.engine import deployment, goal, plugins, report, state, values


def target(resource: state.Resource) -> plugins.Target:
    """Return which resource *resource* is, for a call."""
    _, name = report.kind_and_name(resource["urn"])
    return plugins.Target(urn=resource["urn"], type=resource["type"], name=name)


def needs(resource: state.Resource) -> set[str]:
    """Return the URNs of everything that has to outlive *resource*."""
    by_property = resource.get("propertyDependencies", {}).values()
    urns = {
        resource.get("parent", ""),
        *resource.get("dependencies", ()),
        *(urn for urns in by_property for urn in urns),
    }
    urns.add(resource.get("provider", "").rpartition("::")[0])
    return urns - {"", resource["urn"]}


def is_provider(resource: state.Resource) -> bool:
    """Whether *resource* is a provider."""
    return bool(resource["type"].startswith(goal.PROVIDER_TYPE))


def is_default_provider(resource: state.Resource) -> bool:
    """Whether *resource* is a provider that no program registered; the CLI shows none of them."""
    _, name = report.kind_and_name(resource["urn"])
    return is_provider(resource) and (name == "default" or name.startswith("default_"))


# --- one
def delete(run: deployment.Deployment, old: state.Resource, op: str, *, pending: bool = False) -> None:
    """
    Delete *old*, as a step called *op*; with *pending* its state stays until the replacement is there.

    Raises `errors.CancelledError` once a failure has been reported.
    """
    with run.slot(after_failure=True):
        watch = deployment.Watch()
        shown = not is_default_provider(old)
        urn = str(run.renamed.get(old["urn"], old["urn"]))  # the old object keeps its name to its end
        if shown:
            run.display.began(op, urn)
        with deployment.Failing(run, op, urn):
            _refuse_protected(old, op)
            if _has_object(old) and not run.dry:
                _delete_object(run, old, urn)
        if pending:
            run.snapshot.mark(old, "pendingReplacement")
        else:
            run.snapshot.drop(old)
        if shown:
            run.display.ended(op, urn, watch.seconds)


def delete_ahead(run: deployment.Deployment, old: state.Resource) -> None:
    """Delete *old* ahead of a replacement. Raises `errors.CancelledError` once a failure has been reported."""
    if old.get("delete"):
        delete(run, old, "delete")
    else:
        delete(run, old, "delete-replaced", pending=True)


def _refuse_protected(old: state.Resource, op: str) -> None:
    if old.get("protect") and op == "delete":
        raise errors.RefusedError(
            f'resource "{old["urn"]}" cannot be deleted\n'
            "because it is protected. To unprotect the resource, either remove the `protect` flag from the resource in "
            "your Pulumi program and run `pulumi up`, or use the command:\n"
            f"`pulumi state unprotect '{old['urn']}'`"
        )


def _has_object(old: state.Resource) -> bool:
    """Whether there is an object of ours behind *old* that is to go with it."""
    kept = old.get("external") or old.get("retainOnDelete")
    return bool(old["custom"]) and not kept and not is_provider(old)


def _delete_object(run: deployment.Deployment, old: state.Resource, urn: str) -> None:
    plugin = run.providers.of(old["provider"])
    timeout_s = old.get("customTimeouts", {}).get("delete", 0.0)
    with run.pending("deleting", old):
        plugin.delete(target({**old, "urn": urn}), run.opened(old), timeout_s)


# --- all
def delete_all(run: deployment.Deployment, condemned: list[state.Resource]) -> None:
    """Delete *condemned*, each after everything that needs it; what a failed one needs stays."""
    left = list(reversed(condemned))
    spared: set[str] = set()
    with concurrent.futures.ThreadPoolExecutor(run.parallel) as pool:
        while left and not run.cancelled.is_set():
            ready = _ready(left)
            left = [each for each in left if not any(each is one for one in ready)]
            going = [each for each in ready if each["urn"] not in spared]
            spared |= {urn for each in ready if each["urn"] in spared for urn in needs(each)}
            for each, gone in zip(going, pool.map(lambda each: _gone(run, each), going), strict=True):
                spared |= set() if gone else needs(each)


def _ready(left: list[state.Resource]) -> list[state.Resource]:
    """Return those of *left* that nothing else in it needs. Old objects of a replaced resource need what it needs."""
    needed = {urn for each in left for urn in needs(each)}
    return [each for each in left if each["urn"] not in needed] or left[:1]


def _gone(run: deployment.Deployment, old: state.Resource) -> bool:
    if old.get("pendingReplacement") and not old.get("delete"):
        run.snapshot.drop(old)
        return True
    try:
        delete(run, old, "delete-replaced" if old.get("delete") else "delete")
    except errors.CancelledError:
        return False
    return True


# --- ahead of a replacement
def must_go_first(run: deployment.Deployment, root: state.Resource, taken: Collection[str]) -> list[state.Resource]:
    """
    Return what a replacement of *root* deletes before it makes the new object: dependents first, *root* last.

    A dependent goes too when a property of it comes from what goes, and its provider says that a change of that
    property needs a new object, also one that an earlier run deleted; *root* itself goes only once. Those that the
    program has registered or deleted already (*taken*) depend on *root* no more.
    """
    going = [root]
    for each in run.snapshot.left():
        if each["urn"] in taken or not each["custom"] or each.get("external") or is_provider(each):
            continue
        if _falls(run, each, {old["urn"] for old in going}):
            _refuse_protected_dependent(each, root)
            going.append(each)
    return going[:0:-1] if root.get("pendingReplacement") else going[::-1]


def _falls(run: deployment.Deployment, resource: state.Resource, going: set[str]) -> bool:
    """Whether *resource* has to be replaced with those *going*."""
    if resource.get("provider", "").rpartition("::")[0] in going:
        return True
    by_property = resource.get("propertyDependencies", {})
    touched = {key for key, urns in by_property.items() if going & set(urns)}
    old = run.opened(resource)
    inputs = old.get("inputs", {})
    if not touched & set(inputs):
        return False
    supposed = {key: wire.UNKNOWN if key in touched else value for key, value in inputs.items()}
    difference = run.providers.of(resource["provider"]).diff(target(resource), old, supposed)
    return _replaces(resource, difference, supposed)


def _replaces(resource: state.Resource, difference: plugins.Difference, supposed: values.Properties) -> bool:
    changed = difference.marks or supposed
    forced = {key for key in changed if key in resource.get("replaceOnChanges", ())}
    return difference.changed and bool(difference.replaces or forced)


def _refuse_protected_dependent(resource: state.Resource, root: state.Resource) -> None:
    if resource.get("protect") and not resource.get("delete"):
        raise errors.RefusedError(
            f'unable to replace resource "{resource["urn"]}" as part of replacing "{root["urn"]}" as it is currently '
            "marked for protection. To unprotect the resource, remove the `protect` flag from the resource in your "
            "Pulumi program and run `pulumi up`, or use the command:\n"
            f"`pulumi state unprotect '{resource['urn']}'`"
        )
