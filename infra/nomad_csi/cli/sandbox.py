"""``nomad-csi sandbox``: the only door from the product to its stand-ins."""

import argparse
import json
import platform
import shlex
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import usage

Raw = argparse.RawDescriptionHelpFormatter

EXEC = """\
run a command in the sandbox's environment: its Nomad, its AWS, its Pulumi backend and stack

  nomad-csi sandbox exec -- pulumi up
  nomad-csi sandbox exec -- nomad volume status

Pulumi reads .sandbox/Pulumi.sandbox.yaml there (PULUMI_OPTION_CONFIG_FILE says so). The sandbox writes it from
Pulumi.sandbox.yaml for each command, with no more controllers than it has clients; so edit Pulumi.sandbox.yaml, or
name it: pulumi config set --config-file Pulumi.sandbox.yaml KEY VALUE"""


ENV = """\
print the address and token of the sandbox's Nomad as shell commands

  eval "$(nomad-csi sandbox env)"
  nomad volume status

This is for the nomad command and Nomad's web page (`nomad ui -authenticate`). What needs Pulumi or AWS, too, is run by
`nomad-csi sandbox exec`. The token may do everything in this Nomad: keep it out of logs."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--project", type=Path, default=Path(), metavar="DIR", help="the checkout (default: here)")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    up = actions.add_parser("up", help="start it, make everything, show what was proven")
    up.add_argument("--engine", choices=("real", "stand-in"), default="", help="default: real when pulumi is on PATH")
    text = "default: real when nomad is on PATH and you are root"
    up.add_argument("--nomad", choices=("real", "stand-in"), default="", help=text)
    up.add_argument("--skip-preview", action="store_true", help="do not preview first, as with `pulumi up`")
    up.set_defaults(run=_up)
    for name, summary in {
        "preview": "show what up would change",
        "refresh": "take over into the state what has changed outside",
        "down": "destroy everything in the safe order, and leave nothing behind",
        "status": "show what runs, what was made and what is proven",
    }.items():
        actions.add_parser(name, help=summary).set_defaults(run=_action, action=name)
    text = "print the outputs of the stack, as `pulumi stack output` does; secrets read [secret]"
    output = actions.add_parser("output", help=text, description=f"{text[0].upper()}{text[1:]}.")
    output.add_argument("name", nargs="?", default="", metavar="NAME", help="this one alone (default: all)")
    output.add_argument("--json", action="store_true", help="print JSON; --stack-output of other commands reads it")
    output.set_defaults(run=_output)
    text = "print the address and token of its Nomad as shell commands, for the nomad command in a shell of your own"
    env = actions.add_parser("env", help=text, description=ENV, formatter_class=Raw)
    env.set_defaults(run=_env)
    execute = actions.add_parser(
        "exec", help="run a command in the sandbox's environment", description=EXEC, formatter_class=Raw
    )
    execute.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ...")
    execute.set_defaults(run=_execute)


def _session(arguments: argparse.Namespace):  # type: ignore[no-untyped-def]  # noqa: ANN202  # the sandbox is optional
    if platform.system() != "Linux":
        raise errors.RefusedError(
            f"the sandbox runs on Linux only, as it finds its processes in /proc, and this is {platform.system()}; "
            "run it in a Linux virtual machine or container"
        )
    try:
        from nomad_csi_sandbox.session import session  # noqa: PLC0415  # an extra, and seconds to import
    except ImportError as error:
        raise errors.NomadCsiError(f"the sandbox needs its extra: pip install 'nomad-csi[sandbox]' ({error})") from None
    return session.Session(arguments.project)


def _up(arguments: argparse.Namespace) -> int:
    session = _session(arguments)
    from nomad_csi_sandbox.session import report  # noqa: PLC0415  # as above

    code = session.up(engine_kind=arguments.engine, nomad_kind=arguments.nomad, skip_preview=arguments.skip_preview)
    return code or report.show(session)


def _action(arguments: argparse.Namespace) -> int:
    session = _session(arguments)
    if arguments.action == "status":
        from nomad_csi_sandbox.session import report  # noqa: PLC0415  # as above

        return report.show(session)
    return int(getattr(session, arguments.action)())


def _output(arguments: argparse.Namespace) -> int:
    session = _session(arguments)
    from nomad_csi_sandbox.session import outputs  # noqa: PLC0415  # as above

    found = outputs.shown(session.outputs())
    if arguments.json:
        print(
            json.dumps(outputs.chosen(found, arguments.name) if arguments.name else found, ensure_ascii=False, indent=2)
        )
    else:
        print(outputs.as_text(found, arguments.name))
    return 0


def _env(arguments: argparse.Namespace) -> int:
    for name, value in _session(arguments).nomad_variables().items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


def _execute(arguments: argparse.Namespace) -> int:
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        problem = errors.Problem(path="COMMAND", got="nothing", allowed="a command to run", fix="type it behind --")
        usage.refuse([problem], "sandbox exec")
    return int(_session(arguments).execute(command))
