"""
The custom resource `StackIdentity`: the random id by which a stack owns objects, independent of its name.

The id is created once and kept in the state. Names are not unique, and change: two teams have a ``nomad-csi/prod``,
and a stack is renamed. A copied state cannot be distinguished from a renamed one; both get a new id with the next `up`,
which takes the objects over, and the preview says so. So only one of two copies owns the objects at any time.
"""

import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from nomad_csi import errors
from nomad_csi.frame import properties, resource
from nomad_csi.spec import base, names

STACK_ID_BYTES = 8

StackId = Annotated[str, base.Matching(names.STACK_ID, "16 hexadecimal digits")]


class Owned(properties.Properties):
    """Inputs with the owner of an object; the object itself does not depend on them."""

    owner: base.Owner = ""
    """The owning stack, as `project/stack`; its owner record, a Nomad variable, keeps other stacks away."""

    owner_id: StackId = ""
    """The owning stack's id: `stackId` of its `StackIdentity`. Without it the stack is known by its label."""


class InCluster(properties.Properties):
    """The output of an object in a cluster."""

    cluster: Annotated[str, properties.Mark.INTERNAL] = ""
    """Identity of the cluster and region that holds it; not where it is not known."""


class MadeByStack(properties.Properties):
    """Outputs of each object of a stack."""

    nonce: Annotated[str, properties.Mark.INTERNAL] = ""
    """What identifies this object among others of its name: `delete` acts only where the owner record still has it."""

    stack: Annotated[str, properties.Mark.INTERNAL] = ""
    """The stack, as `project/stack`, whose `up` made it or took it over last."""


OF_OWNER = frozenset(base.fields_of(Owned))
OUTPUTS = tuple(base.fields_of(MadeByStack))


class StackIdentityInputs(properties.Properties):
    """The random id by which this stack owns storage, registrations and jobs, whatever it is named."""

    stack: base.Owner
    """The stack's label, as `project/stack`; another one gives another id."""


class StackIdentityOutputs(properties.Properties):
    """Outputs of a `StackIdentity`."""

    stack_id: str
    """16 hexadecimal digits, made once."""


DECLARED = properties.Declaration(
    token="nomad-csi:index:StackIdentity",  # noqa: S106  # Pulumi's word for a type's name
    input_model=StackIdentityInputs,
    output_model=StackIdentityOutputs,
)


class StackIdentityResource(resource.Resource):
    """The random id of a stack. Deleting it changes nothing."""

    declared = DECLARED

    def diff(
        self,
        identity: str,
        old_inputs: Mapping[str, Any],
        old_outputs: Mapping[str, Any],
        new_inputs: Mapping[str, Any],
    ) -> resource.ResourceDiff:
        """Compare the labels; a stack that was renamed, or whose state was copied, gets a new id in place."""
        del identity, old_outputs
        diff = resource.difference(self.declared, old_inputs, new_inputs)
        if not diff.any:
            return diff
        before, now = old_inputs.get("stack"), new_inputs["stack"]
        return resource.ResourceDiff(
            updates=diff.updates,
            notice=f"this state was written by stack {before}: `up` takes its volumes and jobs over for {now}; if "
            f"{before} still exists, this state is a copy of its state, and {before} is refused its objects then: do "
            "not run `up` nor `destroy`",
        )

    def preview(self, new_inputs: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the known outputs: without the id."""
        return resource.UNKNOWN, dict(new_inputs) | {"stackId": resource.UNKNOWN}

    def create(self, context: resource.Context, new_inputs: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Create an id."""
        del context
        stack_id = _new_id()
        return stack_id, dict(new_inputs) | {"stackId": stack_id}

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return the recorded properties, which exist only in the state; an import takes the id that it names."""
        if inputs:
            return dict(inputs), dict(outputs)
        if not names.STACK_ID.fullmatch(identity):
            problem = errors.Problem(path="id", got=repr(identity), allowed="16 hexadecimal digits")
            raise errors.SpecError((problem,), source="StackIdentityResource")
        known = {"stack": context.stack}
        return known, known | {"stackId": identity}

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], new_inputs: Mapping[str, Any]
    ) -> resource.Properties:
        """Create a new id for a new label."""
        del context, identity, old_outputs
        return dict(new_inputs) | {"stackId": _new_id()}

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """Do nothing: the id is in the state alone."""


def _new_id() -> str:
    return secrets.token_hex(STACK_ID_BYTES)


def recorded(context: resource.Context, nonce: str) -> resource.Properties:
    """Return the outputs of an object with *nonce* that this step created or took over."""
    return {"nonce": nonce} | ({"stack": context.stack} if context.stack else {})


def step_outputs(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the *recorded* outputs that a refresh does not change: the nonce, and the stack that wrote it."""
    return {name: recorded[name] for name in OUTPUTS if name in recorded}


def missing_outputs(old_outputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the output that an object of an older release lacks, so that an update writes it."""
    return ("nonce",) if old_outputs.get("owner") and "nonce" not in old_outputs else ()


def other_stack(context: resource.Context, outputs: Mapping[str, Any]) -> str:
    """
    Return a sentence that the object of *outputs* was made by a stack of another label; empty where it was not.

    Its state was renamed, or copied from a stack that still exists: an `up` takes it over, with confirmation. An owner
    that was set by hand does not identify the stack.
    """
    owner = str(outputs.get("owner", ""))
    made_by = str(outputs.get("stack", owner))
    if owner != made_by or made_by in ("", context.stack) or not context.stack:
        return ""
    return (
        f"was made by stack {made_by}, and this is {context.stack}: the stack was renamed, or its state copied; "
        f"nothing was changed: run `pulumi up` with it in the program, which takes it over, or, where {made_by} still "
        "exists, "
        "remove it from this state with `pulumi state delete`"
    )


def refuse_other_stack(context: resource.Context, what: str, outputs: Mapping[str, Any]) -> None:
    """Raise `errors.RefusedError` where the object of *outputs* was made by a stack of another label."""
    if why := other_stack(context, outputs):
        raise errors.RefusedError(f"{what} {why}")
