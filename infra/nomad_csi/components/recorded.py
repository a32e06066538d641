"""What the state has of a component's storage: a change that cannot be is refused before it is sent, in a preview, too."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pulumi

from nomad_csi import errors
from nomad_csi.components import arguments, identity, lifting, program
from nomad_csi.plan import volumes
from nomad_csi.pulumi_state import urns
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
        source = f"{type(component).__name__} {name}"
        raise program.ProgramError(
            foreign.visible(str(errors.SpecError(tuple(map(arguments.of_argument, wrong)), source)))
        )

    return pulumi.Output.all(component.urn, identity.state(), plan.whole).apply(run)


def _find(urn: str, kind: str, name: str, key: str, state: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the outputs of the child *name* of *urn*; of one with another name, by the tag that says what it is for."""
    above, _, _ = urn.rpartition("::")
    if found := state.get(f"{above}${kind}::{name}"):
        return found
    tagged = (item for other, item in state.items() if urns.read(other).type == kind)
    return next((item for item in tagged if volumes.maker(item.get("tags") or {}) == key), {})
