"""
The command ``nomad-csi``: parse, call one function, print. One file for each command, as `run` in it.

Exit codes: 0 success, 1 a finding of severity error, drift or a refused step, 2 it could not be determined, 64 usage
error, 130 interrupted, 141 its output was closed, 143 terminated by SIGTERM, which is handled as an interrupt.
"""

import contextlib
import importlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from nomad_csi import errors
from nomad_csi.cli.common import argument_secrets, command, output, signals, usage

NAME = "nomad-csi"

SECTIONS = {
    "author": {
        "init": "start a project: a spec or a Pulumi program, with hooks and a pipeline",
        "validate": "check a spec, without writing files and without asking Nomad or AWS",
        "render": "write the plugin job and volume files of a spec, or check that they are up to date",
        "lint": "check job files, volume files and IAM policies",
        "snippet": "print the blocks by which a job uses a volume of a spec",
        "import": "turn job and volume files that exist into a spec, and say what is old, unsafe or wrong in them",
        "schema": "print the JSON schema of a spec for editors",
        "drivers": "show requirements, known issues and test status of the CSI drivers",
        "plugin": "let a Pulumi project of your own find the provider plugin, or say which one it would use",
        "acl-policy": "print the least Nomad ACL policy for what a token is to run",
    },
    "operate": {
        "plan": "show what would change in jobs, volumes and files, without changing anything",
        "register": "register volumes of a spec or of volume files, many at a time, each with an outcome of its own",
        "create": "have plugins make the volumes of a spec that they are to make, and grow them",
        "deregister": "deregister volumes once their claims are released; the storage stays",
        "delete": "delete volumes with their data, after confirmation: only what this package created",
        "snapshot": "make, list and delete snapshots of volumes through their plugin",
        "claims": "list which allocations claim each volume and which claims are stuck; repair one step by step",
        "smoke": "test a volume with a small job: write, release, read back on another client, clean up",
        "eject": "remove plugins and volumes from a Pulumi stack, and continue with committed files",
    },
    "observe": {
        "verify": "compare what a spec expects with what Nomad and the plugins say",
        "doctor": "preflight checks: versions, rights, clients, zones, tags, keys, orphaned storage",
        "report": "write one page, HTML or JSON, of zones, clients, plugins, volumes, claims and findings",
        "probe": "ask one CSI plugin over its socket whether it is healthy",
        "csi": "call any RPC of a CSI plugin over its socket, from Identity to snapshots",
    },
    "try it": {
        "sandbox": "run the whole job on this machine, with emulators for what it lacks",
    },
}
"""Every command and its description, as help shows them. A command's module is imported only when it is called."""

COMMANDS = {name: summary for commands in SECTIONS.values() for name, summary in commands.items()}

MODULES = {"acl-policy": "acl_policy", "import": "import_files"}
"""Modules of commands whose name is not a Python identifier."""

PACKAGES = ("author", "operate", "observe")
"""Sections whose commands are in a package of the same name."""

EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
"""128 and the number of the signal, as in shells."""


COMPLETE = "_NOMAD_CSI_COMPLETE"
"""Environment variable of shells that complete a command, as named by Click."""


SANDBOX = "NOMAD_CSI_SANDBOX"
"""Environment variable with the parts of a sandbox, as named by `nomad_csi.ownership.sandbox_mark`."""


def _package(name: str) -> str:
    """Return the package of a command's module: that of its section, as ``author.``, or none."""
    return next((f"{section}." for section in PACKAGES if name in SECTIONS[section]), "")


class _Program(command.Group):
    """All commands; each is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"nomad_csi.cli.{_package(cmd_name)}{MODULES.get(cmd_name, cmd_name)}")
        found: click.Command = module.run
        found.name, found.help = cmd_name, f"{COMMANDS[cmd_name][0].upper()}{COMMANDS[cmd_name][1:]}."
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by sections."""
        del ctx
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl(list(commands.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return the completions of *incomplete*, without importing a command."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  # only shells pay for it

        found = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)


PROGRAM = _Program(
    name=NAME,
    help="CSI storage for Nomad: rendered, run, registered and verified.",
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
)
click.version_option(package_name=NAME, message="%(package)s %(version)s", help="print the version")(PROGRAM)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in *argv* (default: the process's own) and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with output.prepared(), output.guarded(), _advising():
            return _run(words)
    except output.ClosedError:
        return output.EXIT_CLOSED
    except OSError as error:  # such as a full disk that receives the output
        output.print_error(f"error: {usage.describe_file_error(error, {})}")
        return errors.EXIT_ERROR


@contextlib.contextmanager
def _advising() -> Iterator[None]:
    """Suggest the commands of the sandbox if it has no `pulumi`."""
    if "engine:emulator" not in os.environ.get(SANDBOX, "").split(",") or shutil.which("pulumi"):
        yield
        return
    from nomad_csi.findings import printing  # noqa: PLC0415  # only a sandbox pays for it

    with printing.advise_sandbox():
        yield


def _run(words: list[str]) -> int:
    try:
        with signals.terminated():
            return _called(words)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.message, file=sys.stderr)
        return errors.EXIT_USAGE
    except click.UsageError as error:
        context = error.ctx or click.Context(PROGRAM, info_name=NAME)
        print(f"{context.get_usage()}\nerror: {context.command_path}: {usage.sentence(error)}", file=sys.stderr)
        return errors.EXIT_USAGE
    except usage.UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return errors.EXIT_USAGE
    except errors.RefusedError as error:
        print(f"refused: {error}", file=sys.stderr)
        return errors.EXIT_CHANGES
    except errors.NomadCsiError as error:
        print(f"error: {error}", file=sys.stderr)
        return errors.EXIT_ERROR
    except signals.Terminated:
        print("ended by SIGTERM; safe to re-run", file=sys.stderr)
        return EXIT_TERMINATED
    except KeyboardInterrupt:
        print("interrupted; safe to re-run", file=sys.stderr)
        return EXIT_INTERRUPTED


def _called(words: list[str]) -> int:
    """Run the command; Click's own `main` has other exit codes, and reports an interrupt as another error."""
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete  # noqa: PLC0415  # only shells pay for it

        return shell_complete(PROGRAM, {}, NAME, COMPLETE, instruction)
    if why := argument_secrets.objection(words):
        raise click.UsageError(why)
    with PROGRAM.make_context(NAME, words) as context:
        return int(PROGRAM.invoke(context))
