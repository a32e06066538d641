"""
Checks before anything is created or changed.

They find storage of an interrupted run that is not in the state, changes to EBS volumes that EC2 would refuse, and
volumes in the storage of one that is removed.
EC2 creates a second volume for the same request, so an unrecorded one is reported before another is created.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nomad_csi import errors
from nomad_csi.aws import ebs_volumes, tagged
from nomad_csi.components import functions, program
from nomad_csi.plan import dependents, model, volumes
from nomad_csi.plan.rules import ebs_rules
from nomad_csi.spec import model as spec
from nomad_csi.spec import names

PlannedEbsVolume = tuple[str, spec.EbsSpec]
"""The path of the ``ebs`` part of a volume, such as ``volumes[0].ebs``, and that part."""


def refuse_unrecorded(aws_regions: Iterable[str], *, profile: str | None = None) -> None:
    """
    Raise `errors.RefusedError` when AWS has a volume or file system of this stack that its state does not.

    Raises `errors.AwsError` when AWS does not answer.
    """
    refuse_what_cannot_be(aws_regions, {}, profile=profile)


def refuse_what_cannot_be(
    aws_regions: Iterable[str], wanted: Mapping[str, PlannedEbsVolume], *, profile: str | None = None
) -> None:
    """
    Refuse storage of this stack that its state lacks, and changes to EBS volumes that EC2 would refuse, all together.

    *wanted* are the volumes of the spec by ``namespace/volume_id``. Raises `errors.RefusedError` for what an
    interrupted run left in AWS, `errors.SpecError` for a size below the present one, and for a change while an earlier
    one is under way, `errors.AwsError` when AWS does not answer.
    """
    state, found = functions.recorded(), {}
    known = functions.stack_ids(state), functions.clusters(state)
    for region in sorted(set(aws_regions)):
        items = tagged.find(program.owner(), region, profile=profile)
        found[region] = [item for item in items if not dependents.is_of_another(item.stack_id, item.cluster, *known)]
    _refuse_unrecorded([item for items in found.values() for item in items], state)
    problems = [problem for region, items in found.items() for problem in _problems(items, region, wanted, profile)]
    if problems:
        raise errors.SpecError(tuple(problems), names.STACK_CONFIG_KEY)


def refuse_removed_owners(wanted: Mapping[str, model.VolumePlan], systems: Mapping[str, spec.FileSystemSpec]) -> None:
    """
    Refuse to remove a disk or file system that contains one of the volumes *wanted*, by path, according to the state.

    Raises `errors.SpecError` with all of them.
    """
    if not any(map(dependents.is_placed, wanted.values())):
        return
    made = {
        str(state["arn"]).rpartition("/")[2]: key
        for state in functions.storage(functions.recorded())
        if isinstance(state.get("arn"), str) and (key := volumes.maker(state.get("tags") or {}))
    }
    if problems := tuple(dependents.check_removed(wanted, made, systems)):
        raise errors.SpecError(problems, names.STACK_CONFIG_KEY)


def _problems(
    items: Iterable[tagged.Tagged], aws_region: str, wanted: Mapping[str, PlannedEbsVolume], profile: str | None
) -> Iterator[errors.Problem]:
    pairs = [(item.volume, wanted[item.key]) for item in items if item.volume and item.key in wanted]
    changing = [present.external_id for present, (_, planned) in pairs if ebs_rules.changes(present, planned)]
    latest = ebs_volumes.latest_modifications(changing, aws_region, profile=profile) if changing else {}
    for present, (path, planned) in pairs:
        yield from ebs_rules.check_change(present, planned, latest.get(present.external_id), path)


def _refuse_unrecorded(found: Sequence[tagged.Tagged], state: functions.State) -> None:
    lost = set(dependents.unrecorded((item.external_id for item in found), functions.arns(state)))
    if lost:
        lines = [_sentence(item) for item in found if item.external_id in lost]
        raise errors.RefusedError(
            "\n".join([f"made by an interrupted run of {program.owner()} and not in its state:", *lines])
        )


def _sentence(item: tagged.Tagged) -> str:
    namespace, _, volume_id = item.key.rpartition("/")
    name = program.component_name(namespace or "default", volume_id) if volume_id else "NAME"
    kind = "volume" if namespace or not item.key else "file system"
    return (
        f"  {item.external_id} for {kind} {item.key or 'unknown'}; bring it in with "
        f"`pulumi import {item.resource_type} {name} {item.external_id} --parent ...`; where another stack of this "
        f"name made it, give it the tag {volumes.STACK_ID_TAG} of that stack"
    )
