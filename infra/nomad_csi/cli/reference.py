"""Commands that only print what is known without a cluster: of drivers, codes, keys, versions; and for a shell."""

import platform
from importlib import metadata

import click
from click import shell_completion

from nomad_csi import cli
from nomad_csi.cli.common import command, output
from nomad_csi.drivers import catalogue, facts
from nomad_csi.findings import registry
from nomad_csi.nomad import version_gates
from nomad_csi.spec import schema
from nomad_csi.text import table

DRIVERS = (*catalogue.DRIVERS, *catalogue.UNUSABLE)

COMPLETION = """\
  nomad-csi completion bash > ~/.local/share/bash-completion/completions/nomad-csi
  nomad-csi completion zsh > "${fpath[1]}/_nomad-csi"
  nomad-csi completion fish > ~/.config/fish/completions/nomad-csi.fish"""


@command.command()
@command.argument(
    "name [DRIVER]", f"all about this one: {', '.join(DRIVERS)} (default: a table of all)", type=click.Choice(DRIVERS)
)
@command.as_json()
def run_drivers(arguments: command.Arguments) -> int:
    """List the drivers, or print one."""
    drivers, unusable = catalogue.DRIVERS, catalogue.UNUSABLE
    if arguments.name:
        driver = drivers.get(arguments.name) or unusable[arguments.name]
        output.show(arguments, facts.as_json(driver), facts.as_text(driver))
        return 0
    whole = [*map(facts.as_json, drivers.values()), *map(facts.as_json, unusable.values())]
    text = table.columns(facts.rows(drivers.values(), unusable.values()), facts.WIDTH)
    output.show(arguments, {"drivers": whole}, text)
    return 0


def _subject(given: str) -> str:
    if given in registry.codes() or schema.matching(given):
        return given
    raise command.wrong("the code of a finding, or a key of a spec", given)


@command.command()
@command.argument(
    "subject CODE|KEY",
    "the code of a finding, as any command prints it, or a key of a spec: ebs.size_gib",
    type=_subject,
)
@command.as_json()
def run_explain(arguments: command.Arguments) -> int:
    """Print what the registry has about the code, or the schema about the key."""
    if condition := registry.codes().get(arguments.subject):
        output.show(arguments, condition.as_json(), registry.as_text(condition))
        return 0
    keys = schema.matching(arguments.subject)
    lines = []
    for key in keys:
        lines.append(key.path)
        texts = {"": key.description, "type     ": key.type, "allowed  ": key.allowed, "default  ": key.default}
        for label, text in texts.items():
            lines += table.wrapped(f"  {label}", text, registry.WIDTH) if text else ()
    output.show(arguments, {"keys": [key.as_json() for key in keys]}, "\n".join(lines))
    return 0


@command.command()
@command.option("--stack-config", "the JSON schema of a Pulumi stack config that holds a spec")
def run_schema(arguments: command.Arguments) -> int:
    """Print the JSON schema."""
    print(output.as_json(schema.stack_config_schema() if arguments.stack_config else schema.document()))
    return 0


@command.command()
@command.as_json()
def run_version(arguments: command.Arguments) -> int:
    """Print the versions."""
    releases = version_gates.releases()
    versions = {
        "nomad_csi": metadata.version(cli.NAME),
        "python": platform.python_version(),
        "pulumi_sdk": metadata.version("pulumi"),
        "pulumi_oldest": releases.pulumi,
        "driver_catalogue": max(driver.as_of for driver in catalogue.DRIVERS.values()),
        "nomad_oldest": releases.oldest,
        "nomad_tested": list(releases.tried),
    }
    output.show(arguments, versions, f"{cli.NAME} {versions['nomad_csi']}")
    return 0


@command.command(epilog=COMPLETION)
@command.argument("shell SHELL", "bash, zsh or fish", type=click.Choice(("bash", "zsh", "fish")))
def run_completion(arguments: command.Arguments) -> int:
    """Print the script that makes the shell complete commands, options and values."""
    if completion_class := shell_completion.get_completion_class(arguments.shell):
        print(completion_class(cli.PROGRAM, {}, cli.NAME, cli.COMPLETE).source())
    return 0
