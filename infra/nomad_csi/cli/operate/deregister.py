"""``nomad-csi deregister``."""

import dataclasses
import json
import re
from collections.abc import Iterable

from nomad_csi import errors, nomad
from nomad_csi.aws import ebs_volumes
from nomad_csi.cli.common import command, inputs, output, owners, usage
from nomad_csi.cli.common import options as shared_options
from nomad_csi.compare import outcome
from nomad_csi.nomad import volumes
from nomad_csi.registration import deregistration
from nomad_csi.registration import outcomes as registration_outcomes

FORCE = (
    "--force deregisters volumes together with the claims on them. It does not unmount them, does not detach "
    "them from their instances, and does not touch their data; what still runs there can go on writing. Nomad refuses "
    "it for a volume that an allocation holds which has not ended."
)

_DIGITS = re.compile(r"[0-9]+")


@command.command()
@command.argument("volumes VOLUME...", "volume or namespace/volume to deregister", type=inputs.volume_key)
@inputs.asked_aws_region
@shared_options.seconds("timeout", " for claims to go, and for EC2 to detach where it is asked", default=0.0)
@owners.owner(owners.AS_OWN)
@command.option("--adopt", "deregister volumes that belong to another stack, too")
@command.option("--force", "deregister what is still claimed after that; asks first")
@shared_options.yes
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Deregister, and print the outcome of each volume."""
    if arguments.force and not shared_options.agreed(FORCE, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was deregistered")
    options = deregistration.DeregistrationOptions(
        wait_s=arguments.timeout_s,
        is_forced=arguments.force,
        aws_region=arguments.aws_region,
        requester=owners.requester(arguments),
    )
    with inputs.connect(arguments) as client, output.waiting("waiting for Nomad"):
        done = deregistration.deregister(client, arguments.volumes, options, tell=output.print_progress)
        outcomes = [_explained(client, item) for item in done]
    could_ask = not arguments.aws_region and any(ebs_volumes.is_ebs(item.external_id) for item in outcomes)
    note = "; EC2 was not asked whether they are detached (--aws-region)" if could_ask else ""
    lines = [outcome.as_text(outcomes, registration_outcomes.DeregistrationOutcome, note=note)]
    for item in outcomes:
        if item.status == "deregistered" and item.external_id:
            again = f"existing: {{external_id: {json.dumps(item.external_id, ensure_ascii=False)}}}"
            lines.append(f"{item.key}: storage {item.external_id} stays; to register it again: {again}")
    shown = {"volumes": [item.as_json() for item in outcomes], "asked_ec2": bool(arguments.aws_region)}
    output.show(arguments, shown, "\n".join(lines))
    return outcome.exit_code(outcomes)


def _explained(
    client: nomad.Nomad, item: registration_outcomes.DeregistrationOutcome
) -> registration_outcomes.DeregistrationOutcome:
    """Return *item*; if it does not exist, refused for the id of a set, or with a similar registered id."""
    if item.status != "gone":
        return item
    try:
        if members := volumes.members(client, item.namespace, item.volume_id):
            return dataclasses.replace(item, status="refused", reason=f"{item.reason}; {members}")
        near = _near(item.volume_id, (volume_id for _, volume_id in volumes.listed(client, [item.namespace])))
    except errors.NomadApiError as error:
        near = f"could not determine whether it is a set: {error}"
    reason = "; ".join(filter(None, [item.reason, "nothing to do", near]))
    return dataclasses.replace(item, reason=reason)


def _near(volume_id: str, there: Iterable[str]) -> str:
    """Return the likely volume of *there*. An id that differs only by its number is another of a series."""
    return usage.nearest(volume_id, (item for item in there if _DIGITS.sub("", item) != _DIGITS.sub("", volume_id)))
