"""``nomad-csi acl-policy``."""

import shlex
import textwrap

import click

from nomad_csi.cli.common import command, inputs
from nomad_csi.nomad import permissions

COMMANDS = permissions.table().commands
LISTED = textwrap.fill(", ".join(map(shlex.quote, COMMANDS)), 98, break_on_hyphens=False)
EPILOG = """\
Commands, as they are typed, with the options that need more; up, preview, refresh and destroy are Pulumi's,
job is `nomad job run` of jobs that use the volumes of SPEC:
{commands}

All others send nothing to Nomad. To use the policy:

  nomad-csi acl-policy COMMAND... > policy.hcl
  nomad acl policy apply nomad-csi policy.hcl
  nomad acl token create -name=nomad-csi -policy=nomad-csi"""


@command.command(epilog=EPILOG.format(commands=LISTED))
@command.argument(
    "commands [COMMAND...]",
    "what the token is for, in quotes where it has spaces (default: all of them)",
    type=click.Choice(list(COMMANDS)),
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
    commands = list(dict.fromkeys(arguments.commands or COMMANDS))
    jobs, volumes = _namespaces(arguments)
    print(f"# for {', '.join(commands)}" if arguments.commands else "# for every command of nomad-csi, and for Pulumi")
    for name in commands:
        if remark := COMMANDS[name].remark:
            print(f"# {name}: {remark}")
    print(permissions.least_policy(commands, jobs=jobs, volumes=volumes).as_hcl())
    return 0


def _namespaces(arguments: command.Arguments) -> tuple[set[str], set[str]]:
    """Return the namespaces of plugin jobs, and of volumes."""
    if arguments.spec is None:
        named = set(arguments.namespace) or {permissions.DEFAULT_NAMESPACE}
        return named, named
    plan = inputs.read_plan(arguments.spec)
    jobs = {job.namespace for plugin in plan.plugins for job in plugin.jobs}
    return jobs, {volume.registration.namespace for volume in plan.volumes}
