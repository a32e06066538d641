"""What the state has of the storage of components: a change that cannot be is refused before it is sent."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pulumi

from nomad_csi import errors
from nomad_csi.components import arguments, identity, lifting, program, scope
from nomad_csi.plan import model, volumes
from nomad_csi.pulumi_state import urns
from nomad_csi.spec import names
from nomad_csi.text import foreign


def refused(
    component: program.Component,
    name: str,
    kind: str,
    plan: lifting.Lifted[Any],
    check: Callable[[Any, Mapping[str, Any]], Iterable[errors.Problem]],
) -> pulumi.Output[None]:
    """
    Return an output that fails with the problems of *check*, for the child *name* of *component*, of a *kind*.

    *check* gets the plan, once it is known, and the outputs of the child in the state; it is not called for a new one.
    """

    async def run(known: Any) -> None:
        urn, state, made = known
        found = _find(urn, kind, name, getattr(made, "key", name), state)
        if component.may_change_inputs or not (wrong := tuple(check(made, found) if found else ())):
            return
        if isinstance(plan.whole, pulumi.Output) and await plan.whole.is_secret():
            wrong = tuple(lifting.without_value(problem) for problem in wrong)
        told = errors.SpecError(tuple(map(arguments.of_argument, wrong)), f"{type(component).__name__} {name}")
        raise program.ProgramError(foreign.visible(str(told)))

    return pulumi.Output.all(component.urn, identity.state(), plan.whole).apply(run)


def _find(urn: str, kind: str, name: str, key: str, state: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the outputs of the child *name* of *urn*; where it had another name, of the storage that is for *key*."""
    above, _, _ = urn.rpartition("::")
    if found := state.get(f"{above}${kind}::{name}"):
        return found
    tagged = (item for other, item in state.items() if urns.read(other).type == kind)
    return next((item for item in tagged if volumes.maker(item.get("tags") or {}) == key), {})


def note_registration(component: program.Component, name: str, plan: lifting.Lifted[model.VolumePlan]) -> None:
    """
    Note that the program registers the volume *name*. A preview tells of protected ones that it does not have any more.

    Pulumi refuses to remove their storage, but does not say where `protect` is, nor that it takes two runs.
    """
    own = scope.scope()
    is_first = not own.registered
    keys = () if isinstance(plan.whole, pulumi.Output) else (plan.whole.key,)
    own.registered |= {name, *component.former_names, *keys}
    if is_first and own.run is not None and pulumi.runtime.is_dry_run():
        told: pulumi.Output[None] = identity.state().apply(lambda state: _warn_of_removed(own, state))
        del told  # Pulumi waits for every output


async def _warn_of_removed(own: scope.Scope, state: Mapping[str, Mapping[str, Any]]) -> None:
    while own.run is not None and own.run.get_coro().cr_running:  # type: ignore[union-attr]  # noqa: ASYNC110  # the program
        await asyncio.sleep(0.01)
    for urn, found in state.items():
        volume = urns.read(urn)
        is_deleted = volume.type == names.VOLUME_REGISTRATION_TYPE and (found.get("storage") or {}).get("owned")
        key = f"{found.get('namespace')}/{found.get('volumeId')}"
        if is_deleted and found.get("protect") and not {urn.rpartition("::")[2], key} & own.registered:
            own.warn_once(
                f"volume {key} is not declared any more, and is protected: declare it with protect: false, run "
                "`pulumi up`, and remove it then"
            )
