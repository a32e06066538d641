"""What a person reads at the end of `up`: what was made, where the files are, what was verified and by what."""

from collections import Counter
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.verification import verification
from nomad_csi_sandbox.session import parts
from nomad_csi_sandbox.session.session import Session

NEXT = """\
What to type next:
  make preview                           see what a change would do: edit Pulumi.sandbox.yaml first
  make up                                make the change
  .venv/bin/nomad-csi sandbox status     this report again
  .venv/bin/nomad-csi sandbox exec -- .venv/bin/nomad-csi verify {config}
  eval "$(make -s env)"                  address and token of its Nomad, for the nomad command in this shell
  make down                              remove everything"""


def show(session: Session) -> int:
    """Print the report. Return 0, or 1 when something is not verified."""
    record = session.record()
    found = session.resources()
    variables = session.environment()
    with nomad.Nomad(nomad.Connection.from_environment(variables)) as client:
        report = verification.verify(client, session.plan(), session.external_ids())
    rendered = [resource for resource in found if resource["type"] == "nomad-csi:index:RenderedFile"]
    sections = [
        "\n".join([parts.describe(record.parts), *(f"  {lowered}" for lowered in session.lowered())]),
        "\n".join(["Made:", *_made(found)]),
        "\n".join(["Written:", *(f"  {resource['inputs']['path']}" for resource in rendered)]),
        report.as_table(),
        NEXT.format(config=session.place.engine_config.relative_to(session.place.project)),
    ]
    for section in sections:
        session.say(f"\n{section}")
    return 0 if report.ok else errors.EXIT_CHANGES


def _made(found: list[dict[str, Any]]) -> list[str]:
    counts = Counter(resource["type"] for resource in found if resource.get("custom"))
    return [f"  {count:3}  {kind}" for kind, count in sorted(counts.items())]
