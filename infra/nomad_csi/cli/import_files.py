"""``nomad-csi import``: a spec of files or a cluster; or a file for ``pulumi import`` of what exists."""

import dataclasses
import functools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import yaml

from nomad_csi import exit_codes
from nomad_csi.cli.common import command, documents, inputs, options, output
from nomad_csi.diagnosis.file_rules import judge
from nomad_csi.findings import Finding, printing
from nomad_csi.hcl import disk
from nomad_csi.hcl import files as parsed
from nomad_csi.migration import adopt, aws_storage, model, terraform
from nomad_csi.pulumi_state import stack_cli, stack_import
from nomad_csi.spec import names
from nomad_csi.text import table

ABOUT = """\
Prints the spec on standard output, and on standard error what is missing in it, what was left
out, what will be rendered otherwise, and what was found old, unsafe or wrong in the files. No
secret is printed: pass them by `apply --secrets`, or as Pulumi config secrets. Exits 1 if something
is missing. Nomad's own answers are read with --cluster; a token that may only read is enough. What it
may not read is reported, and the exit code is 2 then.
"""


OF_STACK = "into the state of a Pulumi stack"

of_cluster = functools.partial(command.option, section="from a cluster")


@command.command(epilog=ABOUT)
@command.argument(
    "files [FILE...]",
    "a job file or a volume file, HCL or JSON, or a Terraform state; a directory includes all *.hcl below it",
)
@command.option(
    "--with-storage",
    "declare EBS volumes and EFS file systems of a Terraform state under ebs and efs, for a stack that takes them over "
    "(--for-pulumi); without it they stay in Terraform, under existing",
)
@inputs.aws_region("for plugins of AWS whose jobs name none")
@documents.variables
@command.as_json(": spec, remarks and findings as one document")
@of_cluster("--cluster", "read the volumes and plugin jobs that Nomad holds")
@of_cluster("--plugin ID", "only this plugin and its volumes", needs=("cluster",))
@command.option(
    "--for-pulumi OUT.json",
    "run `pulumi preview`, and write a file for `pulumi import --file` of what it would create and Nomad has",
    section=OF_STACK,
    without=("cluster",),
)
@options.pulumi_stack(section=OF_STACK, needs=("for_pulumi",))
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Print the spec and remarks on it; or write a file for ``pulumi import``."""
    if arguments.for_pulumi:
        if any(not _is_state(path) for path in arguments.files):
            raise command.usage("FILE", allowed="Terraform states only with --for-pulumi")
        return _for_pulumi(arguments, _aws(arguments.files))
    if not arguments.files and not arguments.cluster:
        raise click.UsageError("expected FILE or --cluster, got none")
    remarks = model.Remarks()
    read, broken = _load(arguments, remarks)
    for line in broken:
        print(f"error: {line}", file=sys.stderr)
    if broken:
        return exit_codes.ERROR
    providers: Mapping[str, str] = {}
    if arguments.cluster:
        live = _live(arguments, remarks, read)
        read += live.files
        providers = live.providers
    adoption = adopt.adopt(
        read,
        aws_region=arguments.aws_region,
        remarks=remarks,
        providers=providers,
        terraform_storage=_aws(arguments.files),
        takes_over=arguments.with_storage,
    )
    findings = judge.judge(read)
    reported = adoption.remarks
    if arguments.json:
        shown = [dataclasses.asdict(remark) for remark in reported]
        report = {"spec": adoption.document, "remarks": shown, "findings": printing.as_json(findings, printing.LINTED)}
        output.print_json(report)
    else:
        if adoption.document:
            print(yaml.safe_dump(dict(adoption.document), sort_keys=False, width=120), end="")
        _report(reported, findings)
    if not adoption.document:
        print("error: nothing to import was found: no job with a csi_plugin block, no CSI volume", file=sys.stderr)
    return _exit_code(adoption)


def _exit_code(adoption: model.Adoption) -> int:
    """Return 1 if something is missing in the spec, else 2 if not everything was read."""
    if adoption.document and not adoption.is_complete:
        return exit_codes.CHANGES
    if not adoption.is_all:
        return exit_codes.ERROR
    return 0 if adoption.is_complete else exit_codes.CHANGES


def _position(item: model.Remark | Finding) -> tuple[str, str, int]:
    return item.code, item.file, item.line


def _report(remarks: Sequence[model.Remark], findings: Sequence[Finding]) -> None:
    """Print each remark once, then what prevents use of the spec, how much that is, and the next command."""
    open_ = [remark for remark in remarks if remark.kind in model.OPEN]
    reported = set(map(_position, remarks))
    lines = [_line(remark) for remark in remarks if remark.kind not in model.OPEN]
    lines += [printing.as_line(item) for item in findings if _position(item) not in reported]
    if open_:
        counts = [f"{count} {kind}" for kind in model.OPEN if (count := sum(item.kind == kind for item in open_))]
        lines += ["", f"{', '.join(counts)}:", *map(_line, open_)]
        lines += ["", "next: correct or add these in the spec, then `nomad-csi check SPEC`"]
    for line in lines:
        output.print_progress(line)


def _line(item: model.Remark) -> str:
    return f"{item.file_and_line}: {item.kind}: {item.text}{f' ({item.code})' if item.code else ''}"


def _for_pulumi(arguments: command.Arguments, storage: aws_storage.AwsStorage) -> int:
    """Preview, read the objects, write the file; *storage* is Terraform's AWS storage."""
    draft, steps = stack_cli.PulumiStack(folder=arguments.project, name=arguments.stack).preview()
    with inputs.reading(arguments) as nomad:
        import_file = stack_import.fill(draft, steps, functools.partial(stack_import.read_objects, nomad), storage)
    if import_file.imported:
        disk.write(arguments.for_pulumi.resolve(), output.as_json(import_file.document) + "\n")
    if arguments.json:
        keys = ("type", "name", "id", "reason")
        output.print_json({"resources": [{key: getattr(line, key) for key in keys} for line in import_file.lines]})
    else:
        rows = [(line.type, line.name, line.id or "left out", line.reason or "-") for line in import_file.lines]
        if rows:
            print(table.columns([("type", "name", "id", "remarks"), *rows]))
        print(f"{len(import_file.imported)} of {len(import_file.lines)} can be imported")
    if not import_file.imported:
        return exit_codes.CHANGES
    print(f"go on: pulumi import --file {arguments.for_pulumi} --generate-code=false", file=sys.stderr)
    return 0


def _load(arguments: command.Arguments, remarks: model.Remarks) -> tuple[list[parsed.File], list[str]]:
    """Return the readable files, those in a Terraform state too, and why the others cannot be read."""
    read: list[parsed.File] = []
    broken: list[str] = []
    given = documents.given_variables(arguments)
    for path in arguments.files:
        if path.name.endswith(terraform.SOURCE_SUFFIXES):
            broken.append(f"{path} {terraform.NOT_A_STATE}")
        elif _is_state(path):
            read += terraform.read(inputs.text(path), str(path), remarks)
        else:
            files, wrong = documents.load([path], given)
            read += files
            broken += wrong
    return read, broken


def _aws(paths: Sequence[Path]) -> aws_storage.AwsStorage:
    """Return the AWS storage in the Terraform states among the files."""
    return terraform.read_aws((inputs.text(path), str(path)) for path in paths if _is_state(path))


def _is_state(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return terraform.is_state(file.read(terraform.HEAD_BYTES).decode(errors="replace"))
    except OSError:
        return False  # reported where it is read


def _live(arguments: command.Arguments, remarks: model.Remarks, known: Sequence[parsed.File]) -> Any:
    from nomad_csi.migration import live_files  # noqa: PLC0415  # only --cluster pays for the Nomad client

    namespace = inputs.namespace(arguments.namespace, names.EVERYWHERE)
    with inputs.reading(arguments) as nomad:
        return live_files.read(nomad, namespace, remarks, plugin_id=arguments.plugin, known=known)
