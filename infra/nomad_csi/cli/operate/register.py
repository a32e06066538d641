"""``nomad-csi register``."""

import sys
from collections.abc import Sequence

from nomad_csi import errors
from nomad_csi.cli.common import command, documents, inputs, options, output, owners
from nomad_csi.compare import outcome
from nomad_csi.health import minimum_version
from nomad_csi.registration import given_secrets, registering, secret_safety
from nomad_csi.registration import outcomes as registration_outcomes
from nomad_csi.resources.created import creation
from nomad_csi.text import listing

ABSENT = "its plugin makes it, and has not: `nomad-csi create` with the spec, or `pulumi up`"
"""Next step for a volume that is neither registered nor created."""


@command.command()
@command.argument("paths SPEC|FILE...", "a spec or stack config (.yaml), a volume file, or a folder of volume files")
@inputs.stack_output
@documents.secrets_options()
@owners.owner(owners.AS_OWN)
@command.option("--adopt", "take over volumes that belong to another stack")
@options.seconds("timeout", " for Nomad to take the volumes", default=registering.DEADLINE_S)
@command.option("--dry-run", "show what would be registered and changed, and end")
@command.option(
    "--accept erased-secrets",
    "read registered volumes with secrets also where an old Nomad can erase these by that; they are sent again",
    type=command.OneOf(["erased-secrets"]),
    multiple=True,
)
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Register, and print the outcome of each volume."""
    given = documents.secrets(arguments.secrets)
    with (
        inputs.connect(arguments, arguments.paths, secrets="CSI secrets" if given else "") as nomad,
        output.waiting("waiting for Nomad"),
    ):
        wanted = documents.read(arguments.paths, arguments.stack_output, nomad.connection.namespace)
        created = [document.key for document in wanted.created]
        own = {key: values for key, values in given.items() if key not in created}
        filled = given_secrets.filled(wanted.documents, own, wanted.needed)
        for unseen in minimum_version.refuse_older(nomad, wanted.plugins):
            print(unseen, file=sys.stderr)
        inputs.warn_of_erasing(nomad)
        secret_safety.refuse_registered(nomad, filled, is_accepted="erased-secrets" in arguments.accept)
        absent = ["/".join(key) for key in creation.absent(nomad, map(inputs.spec_volume_key, created))]
        outcomes = registering.register(
            nomad,
            filled,
            requester=owners.requester(arguments),
            deadline_s=arguments.timeout_s,
            is_dry_run=arguments.dry_run,
            tell=output.print_progress,
        )
    shown = {
        "volumes": [item.as_json() for item in outcomes],
        "made_by_plugin": created,
        "absent": absent,
        "dry_run": arguments.dry_run,
    }
    rest = [(key, "absent", ABSENT) for key in absent]
    note = _left_out(created, absent) + "; dry run" * arguments.dry_run
    text = outcome.as_text(outcomes, registration_outcomes.RegistrationOutcome, rest=rest, note=note)
    output.show(arguments, shown, text)
    return outcome.exit_code(outcomes) or (errors.EXIT_CHANGES if absent else 0)


def _left_out(made_by_plugin: Sequence[str], absent: Sequence[str]) -> str:
    """Return how many volumes of the specs are created by plugins, and with which command; empty without any."""
    if not made_by_plugin:
        return ""
    verb = "is" if len(made_by_plugin) == 1 else "are"
    state = f"{len(absent)} absent" if absent else "all registered"
    left = f"{listing.counted(len(made_by_plugin), 'volume')} with `create` {verb} left to"
    return f"; {left} `nomad-csi create` or `pulumi up` ({state})"
