"""``nomad-csi check``."""

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nomad_csi import errors, exit_codes
from nomad_csi.cli.common import command, documents, inputs, options, output, specs
from nomad_csi.diagnosis.file_rules import judge, policies
from nomad_csi.findings import Finding, errors_of, printing
from nomad_csi.hcl import documents as rendered
from nomad_csi.plan import model
from nomad_csi.text import listing

ABOUT = """\
A spec is checked against all rules, and its files are rendered in memory: nothing is written, and
neither Nomad nor AWS is queried. Exits 1 where something is wrong, 2 where a file cannot be read.
"""

UNKNOWN_ID = "known-after-pulumi-up"
"""Placeholder for an external id that is not in the spec."""


@command.command(epilog=ABOUT)
@command.argument(
    "files [SPEC|FILE...]",
    "a spec, or a Pulumi stack config that holds one; a job file, a volume file, an IAM policy; a directory includes "
    "all *.hcl, and the IAM policies among *.json, below it (default: the spec of this directory)",
    callback=specs.or_discovered,
)
@inputs.templates
@documents.variables
@command.as_json()
@options.strict
def run(arguments: command.Arguments) -> int:
    """Print the problems of specs, and the findings."""
    paths: Sequence[Path] = arguments.files
    specs = [path for path in paths if path.suffix in inputs.YAML and not path.is_dir()]
    given = documents.given_variables(arguments)
    read, broken = documents.load([path for path in paths if path not in specs], given, with_policies=True)
    checked: list[dict[str, Any]] = []
    findings = list(judge.judge(read))
    for path in specs:
        try:
            checked.append(_check_spec(path, arguments.templates))
            findings += _secrets_in(path)
        except OSError as error:
            broken.append(command.describe_file_error(error))
    for line in broken:
        print(f"error: {line}", file=sys.stderr)
    is_ok = all(spec["ok"] for spec in checked) and not errors_of(findings)
    if arguments.json:
        shown = printing.as_json(findings, printing.LINTED)
        output.print_json({"ok": is_ok and not broken, "specs": checked, "findings": shown})
    else:
        _print(checked, findings, len(read), is_all=not broken)
    if broken:
        return exit_codes.ERROR
    return options.exit_code(arguments, 0 if is_ok else exit_codes.CHANGES, findings)


def _print(specs: Sequence[dict[str, Any]], findings: Sequence[Finding], read: int, *, is_all: bool) -> None:
    for spec in specs:
        for problem in spec["problems"]:
            line = f":{problem['line']}" if problem["line"] else ""
            print(f"error: {spec['spec']}{line}: {problem['message']}", file=sys.stderr)
    for item in findings:
        print(printing.as_line(item))
    for spec in specs:
        if spec["ok"]:
            counts = ", ".join(listing.counted(spec[f"{noun}s"], noun) for noun in ("plugin", "volume"))
            print(f"{spec['spec']}: valid, {counts}")
    total = read + len(specs)
    files_read = listing.counted(total, "file") + ("" if is_all else " (not all could be read)")
    if findings:
        print(f"{len(findings)} found in {files_read}; `nomad-csi explain CODE` explains it")
    elif read:
        print(f"{files_read}, nothing found")


def _secrets_in(path: Path) -> Iterator[Finding]:
    """Yield the findings on secrets in clear in the spec in *path*; none where it cannot be read as one."""
    try:
        document = inputs.read_document(path)
    except errors.SpecError:
        return  # `_check_spec` reports it
    if isinstance(document, dict):
        for item in policies.check_spec(document, lambda paths: inputs.lines(path, paths)):
            yield dataclasses.replace(item, file=str(path), subject="spec")


def _check_spec(path: Path, templates: Path | None) -> dict[str, Any]:
    """Return the content of the spec in *path*, or its problems, as JSON values."""
    counts: dict[str, int] = {}
    problems: list[dict[str, Any]] = []
    try:
        plan = inputs.read_plan(path)
        counts = {"plugins": len(plan.plugins), "volumes": len(plan.volumes)}
        problems += map(_problem, _refused_files(plan, templates))
    except inputs.LocatedError as error:
        problems += [_problem(text, item.path, line) for line, text, item in error.located]
    return {"spec": str(path), "ok": not problems, **counts, "problems": problems}


def _problem(message: str, path: str = "", line: int | None = None) -> dict[str, Any]:
    return {"path": path, "line": line, "message": message}


def _refused_files(plan: model.StoragePlan, templates: Path | None) -> Iterator[str]:
    """Yield why files of *plan* cannot be rendered, each reason once, with the first file that it applies to."""
    external_ids = {item.key: UNKNOWN_ID for item in plan.volumes}
    reasons: dict[str, str] = {}
    for name, item in rendered.planned_files(plan).items():
        try:
            rendered.file_text(item, external_ids, templates)
        except errors.NomadCsiError as error:
            reasons.setdefault(str(error), name)
    yield from (f"{name}: {reason}" for reason, name in reasons.items())
