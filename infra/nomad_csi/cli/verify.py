"""``nomad-csi verify``."""

import argparse
import json
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli import verify_job, verify_on_nodes, verify_watch
from nomad_csi.cli.common import codes, erasing, inputs, strict, usage, waits
from nomad_csi.health import gather
from nomad_csi.verification import metrics_file, rounds, verification


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    what = parser.add_mutually_exclusive_group(required=True)
    text = "a spec, or a Pulumi stack config that holds one"
    what.add_argument("spec", type=Path, nargs="?", metavar="SPEC", help=text)
    codes.add(what, "all findings of the verification, the end of docs/verify.md")
    inputs.add_stack_output(parser)
    inputs.add_nomad(parser)
    strict.add(parser)
    waits.add(parser, "stable", told="0, one look", default=0.0)
    waits.add(parser, "probe-timeout", "; all are asked at the same time", default=gather.PROBE_TIMEOUT_S)
    parser.add_argument("--json", action="store_true", help="print the report as JSON; with --watch a line each round")
    text = (
        f"write metrics in Prometheus' text format: to FILE{metrics_file.ENDING} for the node exporter's textfile "
        "collector, put in place whole; without FILE to standard output, in place of the report"
    )
    parser.add_argument(
        "--prometheus", type=_metrics_file, nargs="?", const=verify_watch.STDOUT, metavar="FILE", help=text
    )
    verify_on_nodes.configure(parser)
    verify_watch.configure(parser)
    verify_job.configure(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, and print the report, once or round after round; or print the job, or explain a finding."""
    if codes.explain(arguments, "verify"):
        return 0
    _check(arguments)
    if arguments.print_job:
        return verify_job.run(arguments)
    plan = inputs.read_plan(arguments.spec)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    with inputs.connect(arguments, [arguments.spec]) as nomad:
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


def _once(arguments: argparse.Namespace, verifier: verification.Verifier) -> int:
    file: Path | None = arguments.prometheus
    earlier_s = verify_watch.last_answer_s(file) if file else 0.0
    done = rounds.Rounds(verifier, last_answer_s=earlier_s).run(watch_s=arguments.stable_s)
    if file == verify_watch.STDOUT:
        print(done.metrics, end="")
    elif file:
        metrics_file.write(file, done.metrics)
    if isinstance(done.outcome, errors.NomadApiError):
        raise done.outcome
    if file != verify_watch.STDOUT:
        print(json.dumps(done.outcome.as_json(), indent=2) if arguments.json else done.outcome.as_table())
    return strict.exit_code(arguments, done.exit_code, done.outcome.findings)


def _metrics_file(given: str) -> Path:
    """Return the path *given*. Raises `argparse.ArgumentTypeError`: a spec in its place would be written over."""
    if given == str(verify_watch.STDOUT) or given.endswith(metrics_file.ENDING):
        return Path(given)
    ending = metrics_file.ENDING
    raise argparse.ArgumentTypeError(f"expected a file that ends in {ending}, or - for standard output, got {given!r}")


def _check(arguments: argparse.Namespace) -> None:
    """Raise `usage.UsageError` for options that do not go together."""
    file: Path | None = arguments.prometheus
    is_printed = file == verify_watch.STDOUT
    wrong: dict[str, str] = {
        "--stable-s": "it without --watch, whose rounds see what restarts between them"
        if arguments.watch and arguments.stable_s
        else "",
        "--every-s": "it only with --watch" if arguments.every_s is not None and not arguments.watch else "",
        "--prometheus": f"a FILE{metrics_file.ENDING} with --watch or --print-job"
        if is_printed and (arguments.watch or arguments.print_job)
        else "",
        "--json": "it without metrics on standard output: give --prometheus a FILE"
        if arguments.json and is_printed
        else "",
        "--watch": "it without --print-job, whose job runs one round at a time"
        if arguments.watch and arguments.print_job
        else "",
    }
    wrong |= {**verify_on_nodes.wrong(arguments), **verify_job.wrong(arguments)}
    usage.refuse((errors.Problem(path=name, got="", allowed=each) for name, each in wrong.items() if each), "verify")
