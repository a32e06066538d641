"""``nomad-csi verify job``: the periodic job that verifies."""

from collections.abc import Iterator
from pathlib import Path

import click

from nomad_csi import errors, nomad
from nomad_csi.cli.common import command, inputs, usage
from nomad_csi.cli.observe import probe_on_nodes
from nomad_csi.nomad.http.connection import VARIABLES
from nomad_csi.plan import verify_job
from nomad_csi.render import documents

PASSED, HELD = "passed", "held"
"""Values of an option's ``job``: the job's command receives it, or the job contains it."""

_ADDRESS = "unix://${NOMAD_SECRETS_DIR}/api.sock"
"""Of the client's agent, in each of its tasks, whatever the agent's own address and certificates."""

options = command.together(
    probe_on_nodes.job_options(section=command.OPTIONS, needs=()),
    command.option(
        "--cron CRON", f"when, as cron has it, in UTC (default: {verify_job.CRON})", default=verify_job.CRON
    ),
    command.option("--job-id ID", f"id of the job (default: {verify_job.JOB_ID})", default=verify_job.JOB_ID),
    command.option("--on-client NAME", "name of the only client that runs it (default: any); needed with --prometheus"),
    command.option(
        "--token-variable PATH",
        f"Nomad variable with the token as item {verify_job.TOKEN_ITEM} (default: its own identity is the token)",
    ),
)


def _check(file: Path | None, client: str) -> None:
    """Raise `usage.UsageError` for a metrics *file* that the job cannot write on *client*."""
    wrong: dict[str, str] = {}
    if file is not None and not file.is_absolute():
        wrong["--prometheus"] = "an absolute path on the client"
    if file is not None and not client:
        wrong["--on-client"] = (
            "the name of a client with --prometheus: files of several would count everything several times"
        )
    usage.refuse(errors.Problem(path=name, got="", allowed=each) for name, each in wrong.items())


def run(arguments: command.Arguments) -> int:
    """Print the job."""
    _check(arguments.prometheus, arguments.on_client)
    inputs.read_plan(arguments.spec)  # for its problems
    external_ids = inputs.read_external_ids(arguments.stack_output)
    place = inputs.target(arguments, [arguments.spec])
    job = verify_job.VerifyJob(
        spec=verify_job.as_data(inputs.read_document(arguments.spec)),
        external_ids=verify_job.as_data({"externalIds": external_ids}) if external_ids else "",
        job_id=arguments.job_id,
        namespace=place.namespace,
        region=place.region,
        client=arguments.on_client,
        cron=arguments.cron,
        command=arguments.command,
        image=arguments.image,
        environment=_environment(arguments, place.insecure_http),
        token_variable=arguments.token_variable,
        options=tuple(_passed_on()),
        metrics_file=str(arguments.prometheus or ""),
    )
    print(documents.verify_job_file(job), end="")
    return 0


def _environment(arguments: command.Arguments, is_insecure: bool) -> dict[str, str]:
    """Return the job's environment for Nomad. Raises `errors.SpecError` if its token would be sent unencrypted."""
    address = arguments.address or inputs.address_of_stack(arguments.spec)
    if address:
        nomad.Connection(address=address, token="of-the-job", insecure_http=is_insecure)  # noqa: S106  # refuses it
    found = {VARIABLES["address"]: address or _ADDRESS} | ({VARIABLES["insecure_http"]: "true"} if is_insecure else {})
    held = set(inputs.CONNECTION) - {"address", "namespace", "region"}  # these are the job's own, or in the list above
    return found | {VARIABLES[name]: value for name in sorted(held) if (value := getattr(arguments, name))}


def _passed_on() -> Iterator[str]:
    """Yield the options that are passed to the job's own command."""
    values = click.get_current_context().params
    for each in command.given():
        if isinstance(each, command.Option) and each.job == PASSED:
            value = values[each.name]
            yield usage.shown(each)
            if not each.is_flag:
                yield f"{value:g}s" if isinstance(value, float) else str(value)
