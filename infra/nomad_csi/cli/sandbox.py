"""``nomad-csi sandbox``: the only module of the product that calls its emulators."""

import platform
import shlex
from pathlib import Path

import click

from nomad_csi import errors
from nomad_csi.cli.common import command

EXEC = """\
  nomad-csi sandbox exec -- pulumi up
  nomad-csi sandbox exec -- nomad job run examples/shop.nomad.hcl
  cd my-stack && nomad-csi sandbox --project ../sandbox exec -- pulumi up

`nomad job run FILE` and `nomad job stop JOB` work where there is no nomad, too. A Pulumi project of your own, as in
the last line, has its own stack and config. The config of the sandbox's own is Pulumi.sandbox.yaml:
pulumi config set --config-file Pulumi.sandbox.yaml KEY VALUE"""


ENV = """\
  eval "$(nomad-csi sandbox status --env)"
  nomad volume status

With --env: for a real Nomad it names the sandbox's certificates, too. What needs Pulumi is run by
`nomad-csi sandbox exec`. The token may do everything in this Nomad: keep it out of logs.
The outputs of the stack are in .sandbox/outputs.json, without secrets."""


run = command.Group()
command.option("--project DIR", "the directory of the sandbox (default: the current one)", default=Path())(run)


def _session(arguments: command.Arguments):  # type: ignore[no-untyped-def]  # noqa: ANN202  # the sandbox is optional
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


@run.command("up", help="Start it, create everything, show what was verified. An empty directory gets a project first.")
@command.option("--engine real|emulator", "default: real when pulumi is on PATH")
@command.option("--nomad real|emulator", "default: real when nomad is on PATH and you are root")
@command.option("--skip-preview", "do not preview first, as with `pulumi up`")
@command.option("--refresh", "take over into the state what has changed outside first, as with `pulumi up`")
def _up(arguments: command.Arguments) -> int:
    session = _session(arguments)
    from nomad_csi_sandbox.session import report  # noqa: PLC0415  # as above

    if arguments.refresh and (code := session.refresh()):
        return int(code)
    code = session.up(
        engine_kind=arguments.engine or "", nomad_kind=arguments.nomad or "", skip_preview=arguments.skip_preview
    )
    return code or report.show(session, whole=False)


@run.command("preview", help="Show what up would change.")
def _preview(arguments: command.Arguments) -> int:
    return int(_session(arguments).preview())


@run.command("down", help="End it and remove everything in it, protected volumes too, and the files that it rendered.")
def _down(arguments: command.Arguments) -> int:
    return int(_session(arguments).down())


@run.command("status", help="Show what runs, what was created and what is verified.", epilog=ENV)
@command.option("--env", "print address, token and certificates of its Nomad, and its AWS, as shell commands instead")
def _status(arguments: command.Arguments) -> int:
    session = _session(arguments)
    if arguments.env:
        for name, value in session.shell_variables().items():
            print(f"export {name}={shlex.quote(value)}")
        return 0
    from nomad_csi_sandbox.session import report  # noqa: PLC0415  # as above

    return report.show(session)


@run.command(
    "exec",
    help="Run a command in the sandbox's environment: its Nomad, its AWS, its Pulumi backend and stack.",
    epilog=EXEC,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@command.argument("command [-- COMMAND...]", "and its arguments", type=click.UNPROCESSED)
def _execute(arguments: command.Arguments) -> int:
    if not arguments.command:
        raise command.usage("COMMAND", got="nothing", allowed="a command to run", fix="type it behind --")
    session = _session(arguments)
    session.introduce()
    return int(session.execute(list(arguments.command)))
