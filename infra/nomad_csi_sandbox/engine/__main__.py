"""
Run a Pulumi program without Pulumi: ``python -m nomad_csi_sandbox.engine up --project DIR --stack NAME --state FILE``.

An emulator of the Pulumi engine: a test double and an offline demo. Exit codes: 0 done, 1 the operation failed or was
cancelled, 7 there were changes and none was expected (all as the real CLI), 2 it could not begin, 64 typed wrong, 130
killed by a second Ctrl-C.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from nomad_csi import errors, exit_codes
from nomad_csi_sandbox.engine import deployment, phase, preview, project, report, state

EXIT_CODES = {"succeeded": 0, "failed": 1, "changed": 7, "cancelled": 1}
"""
By the result of an operation. CLIs before 3.227 had 255 for all that is not 0.

Source: pulumi/pulumi, ``pkg/cmd/pulumi/cmd/exit_codes.go`` (``ExitCodeFor``), CLI 3.260.
"""

_KINDS: dict[str, phase.Kind] = {"preview": "update", "up": "update", "refresh": "refresh", "destroy": "destroy"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what *arguments* (default: those of the process) ask for; return the exit code."""
    mark = os.environ.get("NOMAD_CSI_SANDBOX", "")
    if not mark:
        print(
            "NOMAD_CSI_SANDBOX is not set: this is an emulator of the Pulumi engine, a test double that runs in the "
            "sandbox only; use the pulumi CLI, or `nomad-csi sandbox`",
            file=sys.stderr,
        )
        return exit_codes.ERROR
    asked = _parser().parse_args(arguments)
    if not asked.no_banner:
        print(f"emulator of the Pulumi engine: a test double in the sandbox ({mark}), not the pulumi CLI\n", flush=True)
    try:
        with state.locked(asked.state):
            result = _run(asked, _options(asked))
    except errors.NomadCsiError as error:
        print(f"error: {error}", file=sys.stderr)
        return exit_codes.ERROR
    if asked.json:
        state.write(asked.json.resolve(), json.dumps(result, indent=2) + "\n")
    return EXIT_CODES[result["result"]]


def _options(asked: argparse.Namespace) -> phase.Options:
    return phase.Options(
        kind=_KINDS[asked.operation],
        project=project.read(asked.project, asked.stack, dict(asked.config), asked.config_file),
        state=asked.state.resolve(),
        parallel=asked.parallel,
        clear_pending_creates=asked.clear_pending_creates,
    )


def _run(asked: argparse.Namespace, options: phase.Options) -> dict[str, Any]:
    """Preview, then do it, as the CLI does; what a preview refuses is not begun."""
    head = {"operation": asked.operation, "project": options.project.name, "stack": options.project.stack}
    first = None
    if asked.operation != "preview" and not asked.skip_preview:
        first = preview.run(lambda: _expecting(asked, phase.run(options, dry=True), "proposed"))
        if first is None or first["result"] != "succeeded":
            return {**head, **(first or {"result": "failed"}), "preview": first}
    dry = asked.operation == "preview"
    result = _expecting(asked, phase.run(options, dry=dry), "proposed" if dry else "occurred")
    return {**head, **result.as_dict(), "preview": first}


def _expecting(asked: argparse.Namespace, result: report.Report, verb: str) -> report.Report:
    """Return *result*, as a failure where no changes were expected and there are some."""
    if asked.expect_no_changes and result.changes and not result.failed:
        message = f"no changes were expected but changes were {verb}"
        result.add(report.Diagnostic(severity="error", urn="", message=message))
        result.unexpected = True
        print(f"error: {message}", flush=True)
    return result


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m nomad_csi_sandbox.engine", description=__doc__)
    parser.add_argument("operation", choices=[*_KINDS])
    parser.add_argument("--project", type=Path, required=True, help="the folder of Pulumi.yaml")
    parser.add_argument("--stack", required=True)
    parser.add_argument("--state", type=Path, required=True, help="the file that holds the state; made if absent")
    parser.add_argument("--config", type=_pair, action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--config-file", type=Path, metavar="FILE", help="read this instead of Pulumi.STACK.yaml")
    parser.add_argument("--json", type=Path, help="write what was done to this file")
    parser.add_argument(
        "--parallel", type=int, default=deployment.PARALLEL, help="steps at once (default: %(default)s)"
    )
    parser.add_argument("--skip-preview", action="store_true", help="do not preview first")
    parser.add_argument("--no-banner", action="store_true", help="do not print first that this is an emulator")
    parser.add_argument("--expect-no-changes", action="store_true", help="fail where something would change")
    parser.add_argument(
        "--clear-pending-creates", action="store_true", help="of refresh: forget creates that were interrupted"
    )
    return parser


class _Parser(argparse.ArgumentParser):
    """Ends with the code that this package uses for what is typed wrong."""

    def error(self, message: str) -> NoReturn:
        """Print *message* and the usage, and end the process."""
        self.print_usage(sys.stderr)
        self.exit(exit_codes.USAGE, f"{self.prog}: error: {message}\n")


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, got {text}")
    return key, value


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads of a run that was cut short are not waited for
