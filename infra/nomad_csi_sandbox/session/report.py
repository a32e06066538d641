"""What a person reads at the end of `up` and as `status`: what was made, where the files are, what was verified."""

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nomad_csi import exit_codes, nomad
from nomad_csi.diagnosis import verification
from nomad_csi_sandbox.session import folder, parts
from nomad_csi_sandbox.session.session import Session

NEXT = """\
What to type next:
  make preview                           see what a change would do: edit Pulumi.sandbox.yaml first
  make up                                make the change
  .venv/bin/nomad-csi sandbox status     this report again
  .venv/bin/nomad-csi sandbox exec -- .venv/bin/nomad-csi verify {config} \\
    --stack-output {outputs}
  eval "$(make -s env)"                  its Nomad and AWS, for the commands in this shell
  make down                              remove everything"""


ANYWHERE = """\
What to type next:
  {sandbox} preview    see what a change would do: edit {edited} first
  {sandbox} up         make the change
  {sandbox} status     this report again
  {sandbox} exec -- {look}
  eval "$({sandbox} status --env)"    its Nomad and AWS, for the commands in this shell
  {sandbox} down       remove the sandbox; the files of your project stay"""


def next_steps(paths: folder.Folder, *, has_spec: bool = True) -> str:
    """Return what to type next: targets of the Makefile in a checkout of this project, else the command itself."""
    is_checkout = (paths.project / "infra/nomad_csi").is_dir()
    here = is_checkout or Path.cwd() == paths.project
    sandbox = "nomad-csi sandbox" if here else f"nomad-csi sandbox --project {shlex.quote(str(paths.project))}"
    config, outputs = (
        path.relative_to(paths.project) if here else path for path in (paths.engine_config, paths.outputs)
    )
    look = f"nomad-csi verify {config} \\\n    --stack-output {outputs}" if has_spec else "nomad-csi claims"
    edited = paths.config.name if has_spec else "your program"
    words = {"sandbox": sandbox, "config": config, "outputs": outputs, "look": look, "edited": edited}
    return (NEXT if is_checkout else ANYWHERE).format(**words)


def show(session: Session, *, whole: bool = True) -> int:
    """
    Print the report; only the *whole* one lists what runs and what was made. Return 0, or 1 if not verified.

    Without a spec nothing is compared: in a program of components, the plugins' health is a resource.
    """
    record = session.record()
    plan = session.plan()
    if plan is None:
        steps = next_steps(session.paths, has_spec=False)
        session.say("\n\n".join([*(_whole(session, record) if whole else ()), steps]))
        return 0
    variables = session.environment()
    with nomad.Nomad(nomad.Connection.from_environment(variables)) as client:
        report = verification.Verifier(client, plan, session.external_ids()).verify()
    sections = (*(_whole(session, record) if whole else ()), report.as_table(), next_steps(session.paths))
    session.say("\n\n".join(section.rstrip("\n") for section in sections))
    return 0 if report.ok else exit_codes.CHANGES


def _whole(session: Session, record: folder.Record) -> Iterator[str]:
    """Yield what runs, what was made, and which files were written."""
    yield "\n".join([parts.describe(record.parts), *(f"  {lowered}" for lowered in session.lowered())])
    found = session.resources()
    yield "\n".join(["Made:", *_made(found)])
    rendered = [resource for resource in found if resource["type"] == "nomad-csi:index:RenderedFile"]
    if rendered:
        yield "\n".join(["Written:", *(f"  {resource['inputs']['path']}" for resource in rendered)])


def _made(found: list[dict[str, Any]]) -> list[str]:
    counts = Counter(resource["type"] for resource in found if resource.get("custom"))
    return [f"  {count:3}  {kind}" for kind, count in sorted(counts.items())]
