"""``nomad-csi acl-policy``."""

import argparse
import shlex
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import inputs, usage
from nomad_csi.nomad import acl_policy

EPILOG = """\
commands, as they are typed, with the options that need more; up, preview, refresh and destroy are Pulumi's:
{commands}

All others ask Nomad nothing. The policy is put to use by

  nomad-csi acl-policy COMMAND... > policy.hcl
  nomad acl policy apply nomad-csi policy.hcl
  nomad acl token create -name=nomad-csi -policy=nomad-csi"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG.format(commands="\n".join(f"  {_typed(name)}" for name in acl_policy.COMMANDS))
    text = "what the token is for, in quotes where it has spaces (default: all of them)"
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=text)
    places = parser.add_mutually_exclusive_group()
    text = "a spec, or a Pulumi stack config that holds one: the policy is for the namespaces of its jobs and volumes"
    places.add_argument("--spec", type=Path, metavar="SPEC", help=text)
    text = "namespace of plugin jobs and volumes, or a pattern such as '*'; may be repeated (default: default)"
    places.add_argument("--namespace", action="append", default=[], metavar="NAMESPACE", help=text)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the policy, with the commands that it is for and what it cannot grant as comments."""
    commands = list(dict.fromkeys(arguments.commands or acl_policy.COMMANDS))
    known = ", ".join(map(_typed, acl_policy.COMMANDS))
    unknown = [name for name in commands if name not in acl_policy.COMMANDS]
    usage.refuse(
        (errors.Problem(path="COMMAND", got=repr(name), allowed=f"one of {known}") for name in unknown), "acl-policy"
    )
    jobs, volumes = _namespaces(arguments)
    print(f"# for {', '.join(commands)}" if arguments.commands else "# for every command of nomad-csi, and for Pulumi")
    for name in commands:
        if remark := acl_policy.COMMANDS[name].remark:
            print(f"# {name}: {remark}")
    print(acl_policy.of(commands, jobs=jobs, volumes=volumes).as_hcl())
    return 0


def _namespaces(arguments: argparse.Namespace) -> tuple[set[str], set[str]]:
    """Return the namespaces of plugin jobs, and of volumes."""
    if arguments.spec is None:
        named = set(arguments.namespace) or {acl_policy.DEFAULT_NAMESPACE}
        return named, named
    plan = inputs.read_plan(arguments.spec)
    jobs = {job.namespace for plugin in plan.plugins for job in plugin.jobs}
    return jobs, {volume.registration.namespace for volume in plan.volumes}


def _typed(command: str) -> str:
    return shlex.quote(command)
