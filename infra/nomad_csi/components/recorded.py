"""What the state has of the storage of components: a change that cannot be is refused before it is sent."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import pulumi

from nomad_csi import errors
from nomad_csi.components import arguments, functions, identity, lifting, program, resources, scope
from nomad_csi.plan import model, recorded_storage, volumes
from nomad_csi.spec import model as spec
from nomad_csi.spec import names
from nomad_csi.volumes import desired, volume_properties

T = TypeVar("T")


def guarded(  # noqa: PLR0917  # called by our own components only
    value: lifting.Later[T],
    kind: str,
    component: program.Component,
    name: str,
    plan: lifting.Lifted[Any],
    source: Callable[[Any], spec.EbsSpec | spec.EfsSettings],
    *,
    is_protected: bool,
) -> pulumi.Output[T]:
    """
    Return *value*, which fails where the storage *name* of a *kind*, in *component*, cannot be what the *plan* says.

    *source* returns the storage of a plan.
    """

    async def check(known: Any) -> None:
        urn, state, planned = known
        outputs = {} if component.may_change_inputs else _find(urn, kind, name, getattr(planned, "key", name), state)
        checked = recorded_storage.check_change(kind, source(planned), outputs, plan.path, is_protected=is_protected)
        wrong = tuple(checked) if outputs else ()
        if isinstance(plan.whole, pulumi.Output) and await plan.whole.is_secret():
            wrong = tuple(map(lifting.without_value, wrong))
        if wrong and plan.path:
            raise program.late_error(errors.SpecError(wrong, names.STACK_CONFIG_KEY))
        if wrong:
            called = f"{type(component).__name__} {name}"
            raise program.late_error(errors.SpecError(tuple(map(arguments.of_argument, wrong)), called))

    return lifting.after(pulumi.Output.all(component.urn, identity.state(), plan.whole).apply(check), value)


def _find(urn: str, kind: str, name: str, key: str, state: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the outputs of the child *name* of *urn*; where it had another name, of the storage that is for *key*."""
    above, _, _ = urn.rpartition("::")
    if outputs := state.get(f"{above}${kind}::{name}"):
        return outputs
    tagged = (item for other, item in state.items() if names.read_urn(other).type == kind)
    return next((item for item in tagged if volumes.maker(item.get("tags") or {}) == key), {})


def note_registration(component: program.Component, name: str, plan: lifting.Lifted[model.VolumePlan]) -> None:
    """Note that the program registers the volume *name*, for `warn_of_removed`."""
    warn_of_removed()
    keys = () if isinstance(plan.whole, pulumi.Output) else (plan.whole.key,)
    scope.scope().registered |= {name, *component.former_names, *keys}


def warn_of_removed() -> None:
    """
    Warn in a preview, once the program has ended, of protected volumes that it does not have any more.

    Pulumi refuses to remove their storage, but does not say where `protect` is, nor that it takes two runs.
    """
    own = scope.scope()
    if not own.warns_of_removed and own.run is not None and pulumi.runtime.is_dry_run():
        own.warns_of_removed = True
        warned: pulumi.Output[None] = identity.state().apply(lambda state: _warn_of_removed(own, state))
        del warned  # Pulumi waits for every output


async def _warn_of_removed(own: scope.Scope, state: Mapping[str, Mapping[str, Any]]) -> None:
    while own.run is not None and own.run.get_coro().cr_running:  # type: ignore[union-attr]  # noqa: ASYNC110  # the program
        await asyncio.sleep(0.01)
    for urn, outputs in state.items():
        volume = names.read_urn(urn)
        is_deleted = volume.type == names.VOLUME_REGISTRATION_TYPE and (outputs.get("storage") or {}).get("owned")
        key = f"{outputs.get('namespace')}/{outputs.get('volumeId')}"
        if is_deleted and outputs.get("protect") and not {urn.rpartition("::")[2], key} & own.registered:
            own.warn_once(
                f"volume {key} is not declared any more, and is protected: declare it with protect: false, run "
                "`pulumi up`, and remove it then"
            )


def refuse_handed_over(registration: resources.VolumeRegistration, storage: Mapping[str, pulumi.Input[Any]]) -> None:
    """
    Let a preview fail where `up` would be refused: *registration* needs what another resource deletes.

    *storage* is what the program knows of its storage. The engine calls no provider for a removal in a preview; but the
    state has the resource that created the storage, and the program the one that registers it now.
    """
    if not pulumi.runtime.is_dry_run():
        return
    new_inputs: dict[str, Any] = {
        "namespace": registration.namespace,
        "volumeId": registration.volume_id,
        "externalId": registration.external_id,
        "storage": storage,
    }
    pulumi.Output.all(registration.urn, identity.state(), new_inputs).apply(lambda known: _refuse(*known))


def _refuse(urn: str, state: Mapping[str, Mapping[str, Any]], new_inputs: Mapping[str, Any]) -> None:
    volume = _volume(new_inputs)
    storage = desired.planned_storage(volume)
    for other, recorded in state.items():
        if other == urn or names.read_urn(other).type != names.VOLUME_REGISTRATION_TYPE:
            continue
        before = _volume(recorded)
        left = desired.left_storage(before, volume) if before.key == volume.key else None
        if left is not None and left.contains(storage):
            from nomad_csi.volumes import hold  # noqa: PLC0415  # it loads the client of Nomad

            dependents = hold.StorageDependents(storage=left, keys=(volume.key,))
            raise program.late_error(dependents.refusal(f"volume {volume.document.key} is not removed", volume.key))


def _volume(values: Mapping[str, Any]) -> desired.DesiredVolume:
    """Return the volume with its id and its storage alone: other properties may be encrypted in a state."""
    known = {name: values[name] for name in ("namespace", "volumeId", "externalId", "storage") if name in values}
    return desired.of_properties(volume_properties.REGISTRATION, known)


def refuse_removed_owners(wanted: Mapping[str, model.VolumePlan], systems: Mapping[str, spec.FileSystemSpec]) -> None:
    """
    Let a run fail that would remove a disk or file system which contains one of the volumes *wanted*, by path.

    The state says what the disks and file systems of the stack were made for.
    """
    if any(map(recorded_storage.is_placed, wanted.values())):
        identity.state().apply(lambda state: refuse_without_owner(state, wanted, systems))


def refuse_without_owner(
    state: functions.State, wanted: Mapping[str, model.VolumePlan], systems: Mapping[str, spec.FileSystemSpec]
) -> None:
    """Refuse what `refuse_removed_owners` describes, with the *state* known."""
    makers = {
        outputs["arn"].rpartition("/")[2]: key
        for outputs in functions.storage(state)
        if outputs.get("arn") and (key := volumes.maker(outputs.get("tags") or {}))
    }
    if problems := tuple(recorded_storage.check_removed(wanted, makers, systems)):
        raise program.late_error(errors.SpecError(problems, names.STACK_CONFIG_KEY))
