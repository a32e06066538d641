"""The registrations of a plan: those whose storage exists, and by name those that a plugin makes."""

from collections.abc import Mapping
from dataclasses import dataclass

from nomad_csi import errors
from nomad_csi.plan import model, registration, volumes


@dataclass(frozen=True, kw_only=True)
class Documents:
    """The volumes of a plan."""

    documents: tuple[registration.VolumeRegistration, ...]

    made_by_plugin: tuple[str, ...]
    """``namespace/volume_id`` of those that a plugin makes: they are created, not registered."""


def of_plan(plan: model.StoragePlan, external_ids: Mapping[str, str]) -> Documents:
    """
    Return the registrations of *plan*.

    *external_ids* are those of storage that Pulumi makes, by ``namespace/volume_id``. Raises `errors.SpecError` naming
    every volume whose external id is not known.
    """
    made = tuple(item.key for item in plan.volumes if item.made_by_plugin)
    existing = [item for item in plan.volumes if not item.made_by_plugin]
    documents = tuple(volumes.desired_document(item, external_ids) for item in existing)
    problems = tuple(
        errors.Problem(
            path=f"external id of {item.key}",
            got="nothing",
            allowed="the id of storage that is made by Pulumi",
            fix="pass --stack-output with the output of `pulumi stack output --json`",
        )
        for item, document in zip(existing, documents, strict=True)
        if not document.external_id
    )
    if problems:
        raise errors.SpecError(problems)
    return Documents(documents=documents, made_by_plugin=made)
