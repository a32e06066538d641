"""``nomad-csi explain``."""

from nomad_csi.cli.common import command, output, usage
from nomad_csi.findings import registry
from nomad_csi.spec import keys
from nomad_csi.text import table


def _subject(given: str) -> str:
    if given in registry.codes() or keys.matching(given):
        return given
    names = {path.rpartition(".")[2] for path in keys.by_path()}
    hint = usage.nearest(given, [*registry.codes(), *keys.by_path(), *sorted(names)])
    raise usage.wrong("the code of a finding, or a key of a spec", given, hint)


@command.command()
@command.argument(
    "subject CODE|KEY",
    "the code of a finding, as any command prints it, or a key of a spec: ebs.size_gib",
    type=_subject,
    shell_complete=command.completing(lambda _ctx, _text: [*registry.codes(), *keys.by_path()]),
)
@command.as_json()
def run(arguments: command.Arguments) -> int:
    """Print what the registry says about the code, or the schema about the key."""
    if condition := registry.codes().get(arguments.subject):
        output.show(arguments, condition.as_json(), registry.as_text(condition))
        return 0
    found = keys.matching(arguments.subject)
    output.show(arguments, {"keys": [key.as_json() for key in found]}, "\n".join(map(_text, found)))
    return 0


def _text(key: keys.SpecKey) -> str:
    lines = [key.path]
    for label, text in (
        ("", key.description),
        ("type     ", key.type),
        ("allowed  ", key.allowed),
        ("default  ", key.default),
    ):
        lines += table.wrapped(f"  {label}", text, registry.WIDTH) if text else ()
    return "\n".join(lines)
