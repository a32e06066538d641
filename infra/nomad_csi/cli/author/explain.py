"""``nomad-csi explain``."""

from nomad_csi.cli.common import command, output, usage
from nomad_csi.findings import registry


def _code(given: str) -> str:
    known = registry.codes()
    if given not in known:
        raise usage.wrong("the code of a finding", given, usage.nearest(given, known))
    return given


@command.command()
@command.argument(
    "code CODE",
    "the code of a finding, as any command prints it",
    type=_code,
    shell_complete=command.completing(lambda _ctx, _text: registry.codes()),
)
@command.as_json()
def run(arguments: command.Arguments) -> int:
    """Print what the registry says about the code."""
    condition = registry.codes()[arguments.code]
    output.show(arguments, condition.as_json(), registry.as_text(condition))
    return 0
