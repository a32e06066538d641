"""``nomad-csi verify``: once, at intervals, as a page, or as a periodic job."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from nomad_csi import errors, exit_codes, nomad
from nomad_csi.aws import regions
from nomad_csi.cli import probe
from nomad_csi.cli.common import command, inputs, options, output, specs
from nomad_csi.diagnosis import claims_report, cluster_report, page, prometheus, rounds, verification
from nomad_csi.hcl import disk, documents, environment
from nomad_csi.health import gather, probe_run
from nomad_csi.nomad import sandbox_mark
from nomad_csi.nomad.connection import VARIABLES
from nomad_csi.plan import program_jobs

_ADDRESS = "unix://${NOMAD_SECRETS_DIR}/api.sock"
"""Of the client's agent, in each of its tasks, whatever the agent's own address and certificates."""

SECTION = "on all clients at once"

STDOUT = Path("-")
"""Replaces a metrics file."""

EVERY_S = 10.0
"""Interval between rounds of --watch. Nomad probes a plugin every 30 s, and reports an ended task at once."""

EVERY_ON_NODES_S = 60.0
"""The same with --on-nodes: each round places and ends a task on every client."""

PAUSE_MIN_S = 1.0
"""Minimum pause between two rounds."""

on_nodes_options = command.together(
    command.option(
        "--on-nodes",
        "probe every instance over its own socket too, by a job on their clients that is purged afterwards",
        section=SECTION,
    ),
    probe.job_options(SECTION),
    probe.client_options(SECTION, " for that job, in each round"),
)


def how(arguments: command.Arguments, connection: Any) -> probe_run.OnNodes | None:
    """Return how instances are probed, in namespace and region of *connection*; ``None``: not by a job."""
    if not arguments.on_nodes:
        return None
    return probe_run.OnNodes(
        job=probe.job_of(arguments, connection, timeout_s=arguments.probe_timeout_s),
        timeout_s=arguments.timeout_s,
        report=output.print_progress,
    )


def _metrics_file(given: str) -> Path:
    """Return the path *given*. Raises `click.BadParameter`: a spec at that path would be overwritten."""
    if given == str(STDOUT) or given.endswith(prometheus.METRICS_FILE_ENDING):
        return Path(given)
    raise command.wrong(f"a file that ends in {prometheus.METRICS_FILE_ENDING}, or - for standard output", given)


_options = command.together(
    inputs.stack_output,
    options.strict,
    options.duration("stable", default_text="0s, one run", default_s=0.0, without=("watch",)),
    options.duration("probe-timeout", "; all are asked at the same time", default_s=gather.PROBE_TIMEOUT_S),
    command.as_json("; with --watch a line each round"),
    command.option(
        "--prometheus FILE",
        f"write Prometheus metrics to FILE{prometheus.METRICS_FILE_ENDING}, without FILE to standard output",
        type=_metrics_file,
        is_flag=False,
        flag_value=str(STDOUT),
    ),
)
"""Of `run`, and of the job, which passes them on."""


_watch_options = command.together(
    command.option("--watch", "verify at intervals, until Ctrl-C"),
    options.duration("every", default_text=f"{EVERY_S:g}s, with --on-nodes {EVERY_ON_NODES_S:g}s", needs=("watch",)),
)

_page_options = command.together(
    command.option(
        "--html FILE",
        "write a page of it; --json prints its data",
        without=("watch", "on_nodes", "prometheus"),
    ),
    command.option("--title TEXT", "its title (default: region or address)", default="", needs=("html",)),
    command.option(
        "--smoke FILE",
        "output of `nomad-csi smoke --json`, to show it; may be repeated",
        multiple=True,
        needs=("html",),
    ),
    specs.aws_options,
)

_job_options = command.together(
    probe.job_options(section=command.OPTIONS, needs=()),
    command.option(
        "--cron CRON", f"when, as cron has it, in UTC (default: {program_jobs.CRON})", default=program_jobs.CRON
    ),
    command.option("--job-id ID", f"id of the job (default: {program_jobs.JOB_ID})", default=program_jobs.JOB_ID),
    command.option("--on-client NAME", "name of the only client that runs it (default: any); needed with --prometheus"),
    command.option(
        "--token-variable PATH",
        f"Nomad variable with the token as item {program_jobs.TOKEN_ITEM} (default: its own identity is the token)",
    ),
)


@command.family()
@specs.optional("; only --html works without")
@_options
@on_nodes_options
@_watch_options
@_page_options
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Compare, and print the report, once or at intervals; or write the page."""
    _refuse_conflicts(arguments)
    if arguments.html:
        return _page(arguments)
    arguments.spec = arguments.spec or specs.required()
    plan = inputs.read_plan(arguments.spec)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    with inputs.connect(arguments, [arguments.spec]) as nomad:
        verifier = verification.Verifier(
            nomad,
            plan,
            external_ids,
            probe_timeout_s=arguments.probe_timeout_s,
            on_nodes=how(arguments, nomad.connection),
            aws=_aws(arguments),
        )
        file: Path | None = arguments.prometheus
        going = rounds.Rounds(verifier, last_answer_s=prometheus.last_answer_s(disk.read(file) or "") if file else 0.0)
        if arguments.watch:
            return _watch(arguments, verifier, going)
        inputs.warn_of_erasing(nomad)
        return _once(arguments, going)


def _aws(arguments: command.Arguments) -> regions.Choice:
    """Return the region in which AWS is asked for the volumes' storage: only one that is named."""
    reason = "" if arguments.no_aws else "AWS was not queried; --aws-region REGION does, and so does `nomad-csi doctor`"
    return regions.Choice(named=arguments.aws_region, is_left_out=not arguments.aws_region, reason=reason)


def _once(arguments: command.Arguments, going: rounds.Rounds) -> int:
    done = going.run(watch_s=arguments.stable_s)
    _write_metrics(arguments.prometheus, done)
    if isinstance(done.outcome, errors.NomadApiError):
        raise done.outcome
    if arguments.json:  # which conflict with metrics on standard output
        output.print_json(done.outcome.as_json())
    elif arguments.prometheus != STDOUT:
        print(done.outcome.as_table(colour=output.has_colours()), end="")
    return options.exit_code(arguments, done.exit_code, done.outcome.findings)


def _write_metrics(file: Path | None, done: rounds.VerificationRound) -> None:
    if file == STDOUT:
        print(done.metrics, end="")
    elif file:
        disk.write(file, output.without_secrets(done.metrics), mode=prometheus.FILE_MODE)


def _watch(arguments: command.Arguments, verifier: verification.Verifier, going: rounds.Rounds) -> int:
    """Run rounds until interrupted; return the exit code of the last complete one."""
    every_s = arguments.every_s or (EVERY_ON_NODES_S if arguments.on_nodes else EVERY_S)
    summary, has_reported, code = "", False, exit_codes.ERROR
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            began = verifier.clock.now()
            done = going.run()
            if done.error is not None and done.error.kind == "refused" and not done.last_answer_s:
                raise done.error  # waiting does not fix a wrong token; after one success, it may
            code = options.exit_code(arguments, done.exit_code, done.report.findings if done.report else ())
            _write_metrics(arguments.prometheus, done)
            if arguments.json:
                print(json.dumps(output.document(done.as_json())), flush=True)
            else:
                _print_round(done, is_first=not has_reported, before=summary)
            summary, has_reported = done.summary, has_reported or done.report is not None
            verifier.clock.sleep(max(every_s - (verifier.clock.now() - began), PAUSE_MIN_S))
    return code


def _print_round(done: rounds.VerificationRound, *, is_first: bool, before: str) -> None:
    """Print the whole report once, then a line for each change, and the summary if it is not as *before*."""
    if done.report is not None and is_first:
        print(done.report.as_table(colour=output.has_colours()))
    for line in (*done.changed, *([done.summary] if done.summary != before else ())):
        print(f"{claims_report.time_text(done.at_s)}  {line}")
    sys.stdout.flush()


def _refuse_conflicts(arguments: command.Arguments) -> None:
    """Raise `click.UsageError` for options whose values conflict."""
    if arguments.prometheus == STDOUT and (arguments.watch or arguments.json):
        raise command.usage("--prometheus", allowed=f"a FILE{prometheus.METRICS_FILE_ENDING} with --watch or --json")


def _page(arguments: command.Arguments) -> int:
    """Read the cluster, and write the page."""
    question = cluster_report.ReportOptions(
        plan=inputs.read_plan(arguments.spec) if arguments.spec else None,
        spec=str(arguments.spec or ""),
        external_ids=inputs.read_external_ids(arguments.stack_output),
        aws=specs.aws_choice(arguments, arguments.spec),
        smoke=tuple(cluster_report.read_smoke(inputs.text(path), str(path)) for path in arguments.smoke),
        title=arguments.title,
        sandbox=os.environ.get(sandbox_mark.ENVIRONMENT, ""),
    )
    with inputs.reading(arguments, [arguments.spec] if arguments.spec else ()) as nomad:
        report = cluster_report.build_report(nomad, question)
    text = environment.html(page.render_page(report), shown_rows=page.ROWS, tool_version=metadata.version("nomad-csi"))
    shown = output.without_secrets(text)
    disk.write(arguments.html, shown)
    wrote = f"wrote {arguments.html} ({len(shown.encode()) / 1e3:.1f} kB): {page.status(report)[0]}"
    output.show(arguments, report.data, wrote)
    code = exit_codes.CHANGES if report.errors else exit_codes.ERROR if report.unexpected else 0
    return options.exit_code(arguments, code, report.findings)


@run.command("job", help="Print a periodic job that verifies this spec, without prompts; it contains no secret.")
@specs.spec
@_options
@_job_options
@inputs.nomad_connection
def _job(arguments: command.Arguments) -> int:
    _refuse_metrics(arguments.prometheus, arguments.on_client)
    inputs.read_plan(arguments.spec)  # for its problems
    external_ids = inputs.read_external_ids(arguments.stack_output)
    target = inputs.target(arguments, [arguments.spec])
    job = program_jobs.VerifyJob(
        spec=program_jobs.as_data(inputs.read_document(arguments.spec)),
        external_ids=program_jobs.as_data({"externalIds": external_ids}) if external_ids else "",
        job_id=arguments.job_id,
        namespace=target.namespace,
        region=target.region,
        client=arguments.on_client,
        cron=arguments.cron,
        command=arguments.command,
        image=arguments.image,
        environment=_environment(arguments, target.insecure_http),
        token_variable=arguments.token_variable,
        options=tuple(_passed_on(arguments)),
        metrics_file=str(arguments.prometheus or ""),
    )
    print(documents.verify_job_file(job), end="")
    return 0


def _refuse_metrics(file: Path | None, client: str) -> None:
    """Raise `click.UsageError` if the job could not write the metrics *file* on *client*."""
    if file is None:
        return
    if not file.is_absolute():
        raise command.usage("--prometheus", allowed="an absolute path on the client")
    if not client:
        allowed = "the name of a client with --prometheus: files of several would count everything several times"
        raise command.usage("--on-client", allowed=allowed)


def _environment(arguments: command.Arguments, is_insecure: bool) -> dict[str, str]:
    """Return the job's environment for Nomad. Raises `errors.SpecError` if its token would be sent unencrypted."""
    address = arguments.address or inputs.address_of_stack(arguments.spec)
    if address:
        nomad.Connection(address=address, token="of-the-job", insecure_http=is_insecure)  # noqa: S106  # refuses it
    values = {VARIABLES["address"]: address or _ADDRESS} | ({VARIABLES["insecure_http"]: "true"} if is_insecure else {})
    own = {"address", "namespace", "region"}  # of the job itself, or above
    return values | {
        VARIABLES[name]: value for name in inputs.CONNECTION if (value := getattr(arguments, name)) and name not in own
    }


def _passed_on(arguments: command.Arguments) -> Iterator[str]:
    """Yield the options that are passed to the job's own command."""
    if arguments.strict:
        yield "--strict"
    if arguments.stable_s:
        yield from ("--stable", f"{arguments.stable_s:g}s")
    if arguments.probe_timeout_s != gather.PROBE_TIMEOUT_S:
        yield from ("--probe-timeout", f"{arguments.probe_timeout_s:g}s")
    if arguments.json:
        yield "--json"
