"""``nomad-csi claims``."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.claims import claim_repair, reading, repair_steps
from nomad_csi.cli.common import codes, confirm, documents, erasing, inputs, usage, waits
from nomad_csi.plan import registration
from nomad_csi.registration import batch_secrets

EVERYWHERE = "*"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    inputs.add_nomad(parser)
    parser.add_argument("--plugin", default="", metavar="ID", help="only volumes of this plugin")
    add_aws(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    codes.add(parser, "all findings about claims, the end of docs/claims.md")
    _add_repair(parser.add_argument_group("repair"))
    parser.set_defaults(run=run)


def add_aws(parser: argparse.ArgumentParser) -> None:
    """Add the option that has EC2 asked."""
    text = "ask EC2 in this region where EBS volumes are attached, with the AWS SDK's usual credentials (default: not)"
    parser.add_argument("--aws-region", default="", metavar="REGION", help=text)


def _add_repair(group: Any) -> None:
    text = "free this volume of stuck claims, step by step: wait, collect garbage, detach, forget and register again"
    group.add_argument("--repair", type=inputs.volume_key, metavar="NAMESPACE/ID", help=text)
    text = "spec, volume file or folder with the registration, for the last step"
    group.add_argument("--from", type=Path, dest="source", metavar="SPEC|FILE", help=text)
    documents.add_secrets(group)
    inputs.add_stack_output(group)
    waits.add(group, "step-timeout", " until it shows", told=f"{repair_steps.WAIT_S:g}")
    group.add_argument("--yes", action="store_true", help="do not ask before a step that can hurt")


def run(arguments: argparse.Namespace) -> int:
    """Look, and print who holds what; or repair one volume, or explain a finding."""
    if codes.explain(arguments, "claims"):
        return 0
    _check(arguments)
    if arguments.repair:
        return _repair(arguments)
    namespace = arguments.namespace or os.environ.get("NOMAD_NAMESPACE") or EVERYWHERE
    with inputs.connect(arguments) as nomad:
        erasing.warn(nomad)
        found = reading.report(nomad, namespace, plugin_id=arguments.plugin, aws_region=arguments.aws_region)
    if arguments.json:
        print(json.dumps(found.as_json(), indent=2, ensure_ascii=False))
    else:
        print(found.as_table(), end="")
    return found.exit_code


def _check(arguments: argparse.Namespace) -> None:
    """Raise `usage.UsageError` for options that would be ignored."""
    of_repair = {"--from": arguments.source, "--yes": arguments.yes, "--step-timeout-s": arguments.step_timeout_s}
    of_file = {"--secrets": arguments.secrets, "--stack-output": arguments.stack_output}
    if arguments.repair:
        wrong = dict.fromkeys(_given(of_file), "it only with --from") if not arguments.source else {}
        wrong |= dict.fromkeys(_given({"--plugin": arguments.plugin}), "it without --repair, which names the volume")
    else:
        wrong = dict.fromkeys(_given(of_repair | of_file), "it only with --repair")
    usage.refuse((errors.Problem(path=name, got="", allowed=allowed) for name, allowed in wrong.items()), "claims")


def _given(options: Mapping[str, Any]) -> list[str]:
    return [name for name, value in options.items() if value]


def _repair(arguments: argparse.Namespace) -> int:
    namespace, volume_id = arguments.repair
    order = repair_steps.RepairRequest(
        namespace=namespace,
        volume_id=volume_id,
        document=_document(arguments),
        source=str(arguments.source or ""),
        aws_region=arguments.aws_region,
        wait_s=arguments.step_timeout_s or repair_steps.WAIT_S,
        options=tuple(_repeated(arguments)),
    )
    with inputs.connect(arguments) as nomad:
        done = claim_repair.repair(
            nomad,
            order,
            ask=lambda question: confirm.agreed(question, is_agreed=arguments.yes),
            tell=lambda line: print(line, file=sys.stderr),
        )
    steps = f" (steps: {', '.join(done.steps)})" if done.steps else ""
    shown = json.dumps(done.as_json(), indent=2, ensure_ascii=False)
    print(shown if arguments.json else f"{order.key}  {done.status}  {done.reason}{steps}")
    if done.status == "deregistered":
        return errors.EXIT_ERROR
    return 0 if done.is_done else errors.EXIT_CHANGES


def _repeated(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the options that a command must have, too, which goes on with a repair."""
    names = ("secrets", "stack_output", *inputs.CONNECTION)
    for name, value in ((name, getattr(arguments, name, None)) for name in names):
        if value is not None:
            yield from (f"--{name.replace('_', '-')}", str(value))


def _document(arguments: argparse.Namespace) -> registration.VolumeRegistration | None:
    """Return the registration of the volume, with its secrets; ``None`` where none is named."""
    if arguments.source is None:
        return None
    namespace, volume_id = arguments.repair
    wanted = documents.read([arguments.source], arguments.stack_output, namespace)
    found = [item for item in wanted.documents if (item.namespace, item.volume_id) == (namespace, volume_id)]
    if len(found) != 1:
        problem = errors.Problem(
            path="", got=f"{len(found)} of them", allowed=f"one registration of {namespace}/{volume_id}"
        )
        raise errors.SpecError((problem,), str(arguments.source))
    key = f"{namespace}/{volume_id}"
    given = {name: values for name, values in documents.secrets(arguments.secrets).items() if name == key}
    [filled] = batch_secrets.filled(found, given, {key: wanted.needed.get(key, ())})
    return filled
