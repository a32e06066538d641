"""``nomad-csi acl-policy``."""

import shlex
import textwrap
from pathlib import Path

from nomad_csi.cli.common import command, inputs
from nomad_csi.nomad import permissions

EPILOG = """\
Commands, as they are typed, with the options that need more; up, preview, refresh and destroy are Pulumi's,
job is `nomad job run` of jobs that use the volumes of SPEC:
{commands}

All others send nothing to Nomad. To use the policy:

  nomad-csi acl-policy COMMAND... > policy.hcl
  nomad acl policy apply nomad-csi policy.hcl
  nomad acl token create -name=nomad-csi -policy=nomad-csi"""


def _listed() -> str:
    """Return the commands, several a line; none is broken."""
    names = ", ".join(shlex.quote(name).replace(" ", "\N{NO-BREAK SPACE}") for name in permissions.table().commands)
    lines = textwrap.fill(names, 98, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return lines.replace("\N{NO-BREAK SPACE}", " ")


@command.command(epilog=EPILOG.format(commands=_listed()))
@command.argument(
    "commands [COMMAND...] [SPEC]", "what the token is for, in quotes where it has spaces (default: all of them)"
)
@command.option(
    "--spec SPEC",
    "a spec, or a Pulumi stack config that holds one: the policy is for the namespaces of its jobs and volumes",
)
@command.option(
    "--namespace NAMESPACE",
    "namespace of plugin jobs and volumes, or a pattern such as '*'; may be repeated (default: default)",
    multiple=True,
    without=("spec",),
)
def run(arguments: command.Arguments) -> int:
    """Print the policy, with comments: the commands that it is for and what it cannot grant."""
    given, arguments.spec = _spec_of(arguments)
    commands = list(dict.fromkeys(given or permissions.table().commands))
    for name in commands:
        if name not in permissions.table().commands:
            allowed = f"one of {', '.join(map(shlex.quote, permissions.table().commands))}"
            raise command.usage("COMMAND", got=repr(name), allowed=allowed)
    jobs, volumes = _namespaces(arguments)
    print(f"# for {', '.join(commands)}" if given else "# for every command of nomad-csi, and for Pulumi")
    for name in commands:
        if remark := permissions.table().commands[name].remark:
            print(f"# {name}: {remark}")
    print(permissions.least_policy(commands, jobs=jobs, volumes=volumes).as_hcl())
    return 0


def _spec_of(arguments: command.Arguments) -> tuple[list[str], Path | None]:
    """Return the commands, and the spec: that of the option, or a YAML file among the commands."""
    given = [name for name in arguments.commands if Path(name).suffix not in inputs.YAML]
    named = [Path(name) for name in arguments.commands if name not in given]
    return given, arguments.spec or next(iter(named), None)


def _namespaces(arguments: command.Arguments) -> tuple[set[str], set[str]]:
    """Return the namespaces of plugin jobs, and of volumes."""
    if arguments.spec is None:
        named = set(arguments.namespace) or {permissions.DEFAULT_NAMESPACE}
        return named, named
    plan = inputs.read_plan(arguments.spec)
    jobs = {job.namespace for plugin in plan.plugins for job in plugin.jobs}
    return jobs, {volume.registration.namespace for volume in plan.volumes}
