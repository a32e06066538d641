"""
What has to be done about one resource: nothing, a create, an update, a replacement, and in which order.

Pure decisions; `registration` carries them out.
Source: pulumi/pulumi, ``continueStepsFromDiff`` in ``pkg/resource/deploy/step_generator.go``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi import errors
from nomad_csi_sandbox.engine import goal, plugins, state, values

Op = Literal["same", "create", "update", "replace"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """What to do about one resource."""

    op: Op
    inputs: values.Properties
    """As the provider checked them."""

    marks: Mapping[str, str] = field(default_factory=dict)
    """What differs, for the display: ``~``, ``+`` or ``-`` by path."""

    delete_first: bool = False
    """Of a replacement: whether the old object goes before the new one comes."""


def decide(
    wanted: goal.Goal, old: state.Resource | None, inputs: values.Properties, difference: plugins.Difference
) -> Step:
    """
    Return what to do to get from *old*, its secrets opened, to *wanted* with the checked *inputs*.

    A replacement that an earlier run did not complete is completed, whatever the *difference* is by now. Where that is
    none, providers ask for no deletion ahead, and the object that is gone is deleted once more after the new one came.
    """
    if old is None:
        return Step(op="create", inputs=inputs)
    marks = difference.marks or _option_marks(wanted, old)
    if old.get("pendingReplacement") or (difference.changed and wanted.forces_new(difference)):
        delete_first = wanted.delete_before_replace
        if delete_first is None:
            delete_first = difference.delete_before_replace
        return Step(op="replace", inputs=inputs, marks=marks, delete_first=delete_first)
    op: Op = "update" if difference.changed or old.get("initErrors") else "same"
    return Step(op=op, inputs=inputs, marks=marks)


def component(wanted: goal.Goal, old: state.Resource | None) -> Step:
    """Return what to do about a component, which has no provider to ask."""
    if old is None:
        return Step(op="create", inputs=wanted.inputs)
    olds = old.get("inputs", {})
    changed = {key: "~" for key in {*olds, *wanted.inputs} if olds.get(key) != wanted.inputs.get(key)}
    marks = changed or _option_marks(wanted, old)
    return Step(op="update" if changed else "same", inputs=wanted.inputs, marks=marks)


def _option_marks(wanted: goal.Goal, old: state.Resource) -> dict[str, str]:
    """Return what differs although the provider sees no difference."""
    return {"protect": "~"} if wanted.protect != bool(old.get("protect")) else {}


def refuse_replacement(wanted: goal.Goal, old: state.Resource) -> str:
    """Return the real engine's reason for refusing to replace *old*; empty where it may be replaced."""
    if wanted.protect and old.get("protect"):
        return (
            f'unable to replace resource "{wanted.urn}"\n'
            "as it is currently marked for protection. To unprotect the resource, remove the `protect` flag from the "
            "resource in your Pulumi program and run `pulumi up`"
        )
    return ""


def refuse_import(wanted: goal.Goal, step: Step) -> None:
    """Raise `errors.RefusedError` for the replacement of a resource that the program still imports by its id."""
    if wanted.import_id:
        keys = ", ".join(sorted(step.marks))
        raise errors.RefusedError(
            "previously-imported resources that still specify an ID may not be replaced; please remove the `import` "
            f"declaration from your program; it differs in {keys}"
        )
