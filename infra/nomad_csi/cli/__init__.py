"""
The command ``nomad-csi``: parse, call one function, print. One file for each command.

Exit codes: 0 success, 1 a finding of severity error, drift or a refused step, 2 it could not be determined,
64 usage error, 130 interrupted, 141 the reader of its output is gone, 143 ended by SIGTERM, which is an interrupt, too.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from nomad_csi import errors
from nomad_csi.cli.common import argument_secrets, file_errors, guard, output, signals, usage

COMMANDS = {
    "render": "write the plugin job and volume files of a spec, or check that they are up to date",
    "snippet": "print the blocks by which a job uses a volume of a spec",
    "import": "turn job and volume files that exist into a spec, and say what is old, unsafe or wrong in them",
    "lint": "check job files, volume files and IAM policies",
    "register": "register volumes of a spec or of volume files, many at a time, each with an outcome of its own",
    "create": "have plugins make the volumes of a spec that they are to make, and grow them",
    "plan": "show what would change in jobs, volumes and files, without changing anything",
    "deregister": "deregister volumes once their claims are released; the storage stays",
    "delete": "delete volumes with their data, after confirmation: only what this package created",
    "snapshot": "make, list and delete snapshots of volumes through their plugin",
    "claims": "list which allocations claim each volume and which claims are stuck; repair one step by step",
    "smoke": "test a volume with a small job: write, release, read back on another client, clean up",
    "verify": "compare what a spec expects with what Nomad and the plugins say",
    "doctor": "preflight checks: versions, rights, clients, zones, tags, keys, orphaned storage",
    "report": "write one page, HTML or JSON, of zones, clients, plugins, volumes, claims and findings",
    "acl-policy": "print the least Nomad ACL policy for what a token is to run",
    "probe": "ask one CSI plugin over its socket whether it is healthy",
    "csi": "call any RPC of a CSI plugin over its socket, from Identity to snapshots",
    "plugin": "let a Pulumi project of your own find the provider plugin, or say which one it would use",
    "schema": "print the JSON schema of a spec for editors, or the page that explains every key",
    "eject": "remove plugins and volumes from a Pulumi stack, and continue with committed files",
    "drivers": "show requirements, known issues and test status of the CSI drivers",
    "sandbox": "run the whole job on this machine, with emulators for what it lacks",
}
"""Every command and what it does. Their modules are imported only when they are called."""

MODULES = {"acl-policy": "acl_policy", "import": "import_files"}
"""Modules of commands whose name is no name in Python."""

EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
"""128 and the number of the signal, as shells have it."""


class ArgumentParser(argparse.ArgumentParser):
    """
    An argument parser whose exit code for wrong usage is that of ``sysexits.h``.

    Options are written out: an abbreviation such as ``--fo`` could force without the word being read.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        """Take what argparse takes; subparsers are made by this class, too."""
        super().__init__(*arguments, **{"allow_abbrev": False} | settings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse here what is not known, so that the usage shown is that of the command and not of its parent."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {argument_secrets.shown(unknown)}")
        return found, unknown

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print *message*; argparse itself says nothing where that fails."""
        if message and (out := file or sys.stderr) is not None:
            out.write(message)

    def error(self, message: str) -> NoReturn:
        """Print usage and *message*, and exit."""
        self.print_usage(sys.stderr)
        self.exit(errors.EXIT_USAGE, f"{self.prog}: {message}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in *argv* (default: the process's own) and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with output.prepared(), guard.guarded():
            return _run(words)
    except output.ClosedError:
        return output.EXIT_CLOSED
    except OSError as error:  # such as a full disk behind the output
        print(f"error: {error.strerror or error}", file=sys.stderr)
        return errors.EXIT_ERROR


def _run(words: Sequence[str]) -> int:
    arguments: argparse.Namespace | None = None
    try:
        with signals.terminated():
            arguments = _parse(words)
            return int(arguments.run(arguments))
    except usage.UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return errors.EXIT_USAGE
    except errors.RefusedError as error:
        print(f"refused: {error}", file=sys.stderr)
        return errors.EXIT_CHANGES
    except errors.NomadCsiError as error:
        print(f"error: {error}", file=sys.stderr)
        return errors.EXIT_ERROR
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"error: {file_errors.describe(error, arguments, words)}", file=sys.stderr)
        return errors.EXIT_ERROR
    except signals.Terminated:
        print("ended by SIGTERM; run it again and it goes on", file=sys.stderr)
        return EXIT_TERMINATED
    except KeyboardInterrupt:
        print("interrupted; run it again and it goes on", file=sys.stderr)
        return EXIT_INTERRUPTED


def _parse(words: Sequence[str]) -> argparse.Namespace:
    parser = ArgumentParser(
        prog="nomad-csi", description="CSI storage for Nomad: rendered, run, registered and proven."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=ArgumentParser)
    chosen = next((word for word in words if not word.startswith("-")), "")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == chosen:
            module = MODULES.get(name, name)
            importlib.import_module(f"nomad_csi.cli.{module}").configure(command)
    if why := argument_secrets.objection(words):
        parser.error(why)
    return parser.parse_args(words)


class _Version(argparse.Action):
    """Print the version of the installed package."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print and exit."""
        from importlib import metadata  # noqa: PLC0415  # 30 ms that no other command needs

        print(f"nomad-csi {metadata.version('nomad-csi')}")
        parser.exit()
