"""``nomad-csi verify``."""

import json
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import codes, command, erasing, guard, inputs, output, strict, usage, waits
from nomad_csi.cli.observe import verify_job, verify_on_nodes, verify_watch
from nomad_csi.health import gather
from nomad_csi.verification import metrics_file, rounds, verification


@command.Typed
def _metrics_file(given: str) -> Path:
    """Return the path *given*. Raises `click.BadParameter`: a spec in its place would be written over."""
    if given == str(verify_watch.STDOUT) or given.endswith(metrics_file.ENDING):
        return Path(given)
    raise usage.wrong(f"a file that ends in {metrics_file.ENDING}, or - for standard output", given)


@command.command(either=("spec", "explain", "docs"))
@inputs.optional_spec()
@codes.options("all findings of the verification, the end of docs/verify.md")
@inputs.stack_output
@strict.option
@waits.seconds(
    "stable",
    told="0, one run",
    default=0.0,
    job="passed",
    without={"watch": ", whose rounds see what restarts between them"},
)
@waits.seconds("probe-timeout", "; all are asked at the same time", default=gather.PROBE_TIMEOUT_S, job="passed")
@command.as_json("; with --watch a line each round")
@command.option(
    "--prometheus FILE",
    f"write metrics in Prometheus' text format: to FILE{metrics_file.ENDING} for the node exporter's textfile "
    "collector, put in place whole; without FILE to standard output, in place of the report",
    type=_metrics_file,
    is_flag=False,
    flag_value=str(verify_watch.STDOUT),
    job="held",
)
@verify_on_nodes.options
@verify_watch.options
@verify_job.options
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Compare, and print the report, once or round after round; or print the job, or explain a finding."""
    if codes.explain(arguments, "verify"):
        return 0
    _check(arguments)
    if arguments.print_job:
        return verify_job.run(arguments)
    plan = inputs.read_plan(arguments.spec)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    with inputs.connect(arguments, [arguments.spec]) as nomad, inputs.advising(arguments.spec):
        verifier = verification.Verifier(
            nomad,
            plan,
            external_ids,
            probe_timeout_s=arguments.probe_timeout_s,
            on_nodes=verify_on_nodes.how(arguments, nomad.connection),
        )
        if arguments.watch:
            return verify_watch.run(arguments, verifier)
        erasing.warn(nomad)
        return _once(arguments, verifier)


def _once(arguments: command.Arguments, verifier: verification.Verifier) -> int:
    file: Path | None = arguments.prometheus
    earlier_s = verify_watch.last_answer_s(file) if file else 0.0
    with guard.waiting("asking Nomad and the plugins"):
        done = rounds.Rounds(verifier, last_answer_s=earlier_s).run(watch_s=arguments.stable_s)
    if file == verify_watch.STDOUT:
        print(done.metrics, end="")
    elif file:
        metrics_file.write(file, done.metrics)
    if isinstance(done.outcome, errors.NomadApiError):
        raise done.outcome
    if file != verify_watch.STDOUT:
        print(
            json.dumps(done.outcome.as_json(), indent=2) + "\n"
            if arguments.json
            else done.outcome.as_table(colour=output.has_colours()),
            end="",
        )
    return strict.exit_code(arguments, done.exit_code, done.outcome.findings)


def _check(arguments: command.Arguments) -> None:
    """Raise `usage.UsageError` for values that do not go together."""
    is_printed = arguments.prometheus == verify_watch.STDOUT
    wrong: dict[str, str] = {}
    if is_printed and (arguments.watch or arguments.print_job):
        wrong["--prometheus"] = f"a FILE{metrics_file.ENDING} with --watch or --print-job"
    if arguments.json and is_printed:
        wrong["--json"] = "it without metrics on standard output: give --prometheus a FILE"
    wrong |= {**verify_on_nodes.wrong(arguments), **verify_job.wrong(arguments)}
    usage.refuse(errors.Problem(path=name, got="", allowed=each) for name, each in wrong.items())
