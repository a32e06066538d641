"""
The command ``nomad-csi``: parse, call one function, print. `MODULES` has the file of each; `plan` is in `apply`.

Table and JSON of a plan are in `jobs.apply`, those of other commands where their records are. What `init`
writes is in `hcl.project`.

Exit codes: 0 success, 1 a finding of severity error, drift or a refused step, 2 it could not be determined, 64 usage
error, 130 interrupted, 141 its output was closed, 143 terminated by SIGTERM, which is handled as an interrupt.
"""

import importlib
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import click

from nomad_csi import errors, exit_codes
from nomad_csi.cli.common import command, output

NAME = "nomad-csi"

SECTIONS = {
    "start": {
        "init": "start a project: a spec or a Pulumi program, with hooks and a pipeline",
        "check": "check specs, job files, volume files and IAM policies, without a cluster",
        "import": "turn job files, volume files or a cluster into a spec",
    },
    "files": {
        "render": "write the job and volume files of a spec, or check that they are up to date",
        "snippet": "print the blocks by which a job uses a volume",
    },
    "cluster": {
        "plan": "show what would change in jobs, volumes and files",
        "apply": "run the plugin jobs, create, grow and register the volumes, after a question",
        "remove": "deregister volumes; with --delete-data delete their storage, too",
        "snapshot": "list, create and delete snapshots of volumes",
    },
    "health": {
        "verify": "compare a spec with what Nomad and the plugins report; --html writes a page",
        "doctor": "check versions, rights, clients, zones, tags, keys, orphaned storage",
        "claims": "list which allocations claim each volume; repair stuck claims",
        "smoke": "test a volume with a small job: write, release, read back, clean up",
    },
    "more": {
        "drivers": "show requirements, known issues and test status of the CSI drivers",
        "csi": "probe a CSI plugin over its socket, or call any RPC of it",
        "explain": "explain the code of a finding",
        "eject": "remove plugins and volumes from a Pulumi stack, and continue with committed files",
        "sandbox": "run the whole job on this machine, with emulators for what it lacks",
        "schema": "print the JSON schema of a spec for editors",
        "acl-policy": "print the least Nomad ACL policy for what a token is to run",
        "plugin": "let a Pulumi project of your own find the provider plugin",
        "completion": "print the script that makes a shell complete commands",
        "version": "print the version, and those of what it was tested with",
    },
}
"""Every command and its description, as help shows them. A command's module is imported only when it is called."""

COMMANDS = {name: summary for commands in SECTIONS.values() for name, summary in commands.items()}

MODULES = (
    {name: name.replace("-", "_") for name in COMMANDS}
    | {"import": "import_files", "plan": "apply", "snippet": "render"}
    | dict.fromkeys(("completion", "drivers", "explain", "schema", "version"), "reference")
)
"""Module of each command, which is `run_NAME` or `run` in it."""

DAILY = ("start", "files", "cluster", "health")
"""Sections that the first help shows with a line for each command; the others are lines of `nomad-csi help more`."""

FOOT = """\
example: nomad-csi init --hcl my-storage && nomad-csi check my-storage/storage.yaml
help:    nomad-csi COMMAND --help; nomad-csi help more, help options, help connection; docs/
exit:    0 done or all well, 1 findings or differences, 2 not determined, 64 usage"""

TOPICS = ("connection", "more", "options")
"""Texts of `nomad-csi help`; any other word of it is a command."""


COMPLETE = "_NOMAD_CSI_COMPLETE"
"""Environment variable of shells that complete a command, as named by Click."""


class _Program(command.Group):
    """All commands; each is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:
                return None
            raise click.NoSuchCommand(cmd_name, possibilities=COMMANDS, ctx=ctx)
        module = importlib.import_module(f"nomad_csi.cli.{MODULES[cmd_name]}")
        subcommand: click.Command = getattr(module, f"run_{cmd_name}", None) or module.run
        subcommand.name, subcommand.help = cmd_name, f"{COMMANDS[cmd_name][0].upper()}{COMMANDS[cmd_name][1:]}."
        return subcommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the daily commands by sections, a line each, and the names of the others."""
        del ctx
        formatter.write("\n")
        for section in DAILY:
            for index, (name, summary) in enumerate(SECTIONS[section].items()):
                formatter.write(f"{'' if index else section:8} {name:9} {summary}\n")
        lines = textwrap.wrap(", ".join(SECTIONS["more"]), 80)
        formatter.write("".join(f"{'' if index else 'more':8} {line}\n" for index, line in enumerate(lines)))
        formatter.write(f"\n{FOOT}\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return the completions of *incomplete*, without importing a command."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  # only shells pay for it

        candidates = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return candidates + click.Command.shell_complete(self, ctx, incomplete)


PROGRAM = _Program(
    name=NAME,
    help="CSI storage for Nomad: rendered, run, registered and verified.",
    context_settings={"terminal_width": 100, "help_option_names": ["-h", "--help"]},
)


click.version_option(package_name=NAME, message="%(package)s %(version)s", help="print the version")(PROGRAM)


def _topic(name: str) -> str:
    """Return the text of one of `TOPICS`."""
    formatter = click.HelpFormatter(width=100)
    if name == "more":
        formatter.write_dl(list(SECTIONS["more"].items()))
        return formatter.getvalue()
    from nomad_csi.cli.common import inputs  # noqa: PLC0415  # only this help pays for it

    about, shown = {
        "connection": ("Options of every command that connects to Nomad", inputs.connection_options()),
        "options": ("Options of every command, before or after its name", command.shared()),
    }[name]
    context = click.Context(PROGRAM, info_name=NAME)
    formatter.write(f"{about}:\n\n")
    rows = [each.get_help_record(context) for each in shown]
    formatter.write_dl([row for row in rows if row])
    return formatter.getvalue()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in *argv* (default: the process's own) and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with output.guarded():
            return _run(words)
    except output.ClosedError:
        return exit_codes.CLOSED
    except OSError as error:  # such as a full disk that receives the output
        print(f"error: {command.describe_file_error(error)}", file=sys.stderr)
        return exit_codes.ERROR


def _run(words: list[str]) -> int:
    try:
        with command.terminated():
            return _called(words)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.message, file=sys.stderr)
        return exit_codes.USAGE
    except click.UsageError as error:
        context = error.ctx or click.Context(PROGRAM, info_name=NAME)
        print(context.get_usage(), file=sys.stderr)
        message = f"{context.command_path}: {command.sentence(error)}"
        return _failed(words, "error", "usage", message, exit_codes.USAGE)
    except errors.RefusedError as error:
        return _failed(words, "refused", "refused", error, exit_codes.CHANGES)
    except errors.NomadCsiError as error:
        return _failed(words, "error", "error", error, exit_codes.ERROR)
    except command.Terminated:
        return _failed(words, "ended by SIGTERM", "interrupted", "safe to re-run", exit_codes.TERMINATED)
    except (KeyboardInterrupt, click.Abort):
        return _failed(words, "interrupted", "interrupted", "safe to re-run", exit_codes.INTERRUPTED)


def _failed(words: list[str], head: str, kind: str, error: errors.NomadCsiError | str, code: int) -> int:
    """Print the *error* after *head* on standard error, with ``--json`` as a document too; return *code*."""
    begin = f"{head}{';' if kind == 'interrupted' else ':'}"
    for line in str(error).splitlines() if hasattr(error, "located") else [str(error)]:
        print(f"{begin} {line}", file=sys.stderr)
    if "--json" in words:
        refused = error.problems if isinstance(error, errors.SpecError) else ()
        problems = [{name: getattr(item, name) for name in ("path", "got", "allowed", "fix")} for item in refused]
        output.print_json_error(kind, str(error), problems)
    return code


def _called(words: list[str]) -> int:
    """Run the command; Click's own `main` has other exit codes, and reports an interrupt as another error."""
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete  # noqa: PLC0415  # only shells pay for it

        return shell_complete(PROGRAM, {}, NAME, COMPLETE, instruction)
    if words[:1] == ["help"]:
        if words[1:2] and words[1] in TOPICS:
            print(_topic(words[1]), end="")
            return 0
        words = [*words[1:], "--help"]
    with PROGRAM.make_context(NAME, words) as context:
        return int(PROGRAM.invoke(context))
