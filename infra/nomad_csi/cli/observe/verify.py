"""``nomad-csi verify``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.aws import regions
from nomad_csi.cli.common import command, inputs, options, output, specs, usage
from nomad_csi.cli.observe import probe_on_nodes, verify_job, verify_page, verify_watch
from nomad_csi.diagnosis import prometheus, rounds, verification
from nomad_csi.health import gather, probe_run

# ``nomad-csi verify --on-nodes``: the probe job probes plugins on their own clients.


EVERY_MIN_S = 60.0
"""Minimum interval of --watch: each round places and ends a task on every client."""

SECTION = "on all clients at once"

on_nodes_options = command.together(
    command.option(
        "--on-nodes",
        "probe every instance over its own socket too, by a job on their clients that is purged afterwards",
        section=SECTION,
    ),
    probe_on_nodes.job_options(SECTION),
    probe_on_nodes.client_options(SECTION, " for that job, in each round"),
)


def wrong_on_nodes(arguments: command.Arguments) -> Mapping[str, str]:
    """Return the options whose values conflict, and how to fix them."""
    found = {}
    if arguments.on_nodes and arguments.watch and (arguments.every_s or 0.0) < EVERY_MIN_S:
        found["--watch"] = f"--every of {EVERY_MIN_S:g}s or more with --on-nodes: a round runs a job on every client"
    return found


def _silent(_line: str) -> None:
    """Print nothing: a watch itself shows how long it waits, and may draw on the terminal."""


def how(arguments: command.Arguments, place: Any) -> probe_run.OnNodes | None:
    """Return how instances are probed, in namespace and region of the connection *place*; ``None``: not by a job."""
    if not arguments.on_nodes:
        return None
    return probe_run.OnNodes(
        job=probe_on_nodes.job_of(arguments, place, timeout_s=arguments.probe_timeout_s),
        timeout_s=arguments.timeout_s,
        tell=_silent if arguments.watch else output.print_progress,
    )


# The command.


def _metrics_file(given: str) -> Path:
    """Return the path *given*. Raises `click.BadParameter`: a spec at that path would be overwritten."""
    if given == str(verify_watch.STDOUT) or given.endswith(prometheus.METRICS_FILE_ENDING):
        return Path(given)
    raise usage.wrong(f"a file that ends in {prometheus.METRICS_FILE_ENDING}, or - for standard output", given)


_options = command.together(
    inputs.stack_output,
    options.strict,
    options.duration(
        "stable",
        default_text="0s, one run",
        default_s=0.0,
        job="passed",
        without=("watch",),
    ),
    options.duration(
        "probe-timeout", "; all are asked at the same time", default_s=gather.PROBE_TIMEOUT_S, job="passed"
    ),
    command.as_json("; with --watch a line each round"),
    command.option(
        "--prometheus FILE",
        f"write metrics in Prometheus' text format to FILE{prometheus.METRICS_FILE_ENDING}; without FILE to standard "
        "output, instead of the report",
        type=_metrics_file,
        is_flag=False,
        flag_value=str(verify_watch.STDOUT),
        job="held",
    ),
)
"""Of `run`, and of the job, which passes them on."""


@command.family()
@specs.optional("; only --html works without")
@_options
@on_nodes_options
@verify_watch.options
@verify_page.options
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Compare, and print the report, once or at intervals; or write the page."""
    _check(arguments)
    if arguments.html:
        return verify_page.run(arguments)
    plan = inputs.read_plan(specs.refuse_without(arguments.spec))
    external_ids = inputs.read_external_ids(arguments.stack_output)
    with inputs.connect(arguments, [arguments.spec]) as nomad, inputs.advising(arguments.spec):
        verifier = verification.Verifier(
            nomad,
            plan,
            external_ids,
            probe_timeout_s=arguments.probe_timeout_s,
            on_nodes=how(arguments, nomad.connection),
            aws=_aws(arguments),
        )
        if arguments.watch:
            return verify_watch.run(arguments, verifier)
        inputs.warn_of_erasing(nomad)
        return _once(arguments, verifier)


def _aws(arguments: command.Arguments) -> regions.Choice:
    """Return the region in which AWS is asked for the volumes' storage: only one that is named."""
    reason = "" if arguments.no_aws else "AWS was not queried; --aws-region REGION does, and so does `nomad-csi doctor`"
    return regions.Choice(named=arguments.aws_region, is_left_out=not arguments.aws_region, reason=reason)


def _once(arguments: command.Arguments, verifier: verification.Verifier) -> int:
    file: Path | None = arguments.prometheus
    earlier_s = verify_watch.last_answer_s(file) if file else 0.0
    with output.waiting("asking Nomad and the plugins"):
        done = rounds.Rounds(verifier, last_answer_s=earlier_s).run(watch_s=arguments.stable_s)
    if file == verify_watch.STDOUT:
        print(done.metrics, end="")
    elif file:
        prometheus.write_file(file, output.without_secrets(done.metrics))
    if isinstance(done.outcome, errors.NomadApiError):
        raise done.outcome
    if arguments.json:  # which conflict with metrics on standard output
        output.print_json(done.outcome.as_json())
    elif file != verify_watch.STDOUT:
        print(done.outcome.as_table(colour=output.has_colours()), end="")
    return options.exit_code(arguments, done.exit_code, done.outcome.findings)


def _check(arguments: command.Arguments) -> None:
    """Raise `usage.UsageError` for values that conflict."""
    is_printed = arguments.prometheus == verify_watch.STDOUT
    wrong: dict[str, str] = {}
    if is_printed and arguments.watch:
        wrong["--prometheus"] = f"a FILE{prometheus.METRICS_FILE_ENDING} with --watch"
    if arguments.json and is_printed:
        wrong["--json"] = "it without metrics on standard output: give --prometheus a FILE"
    wrong |= wrong_on_nodes(arguments)
    usage.refuse(errors.Problem(path=name, got="", allowed=each) for name, each in wrong.items())


@run.command("job", help="Print a periodic job that verifies this spec, without prompts; it contains no secret.")
@specs.spec
@_options
@verify_job.options
@inputs.nomad_connection
def _job(arguments: command.Arguments) -> int:
    if arguments.prometheus == verify_watch.STDOUT:
        usage.refuse([errors.Problem(path="--prometheus", got="", allowed=f"a FILE{prometheus.METRICS_FILE_ENDING}")])
    return verify_job.run(arguments)
