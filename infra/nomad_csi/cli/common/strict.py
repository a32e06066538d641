"""
When findings are a reason to fail, by one rule in all commands that report some.

1: an error was found; with ``--strict`` a warning, too. 2: none was, and something could not be found out. Else 0.
"""

from collections.abc import Collection

from nomad_csi import errors
from nomad_csi.cli.common import command

option = command.option("--strict", "exit 1 for warnings, too (default: for errors alone)", job="passed")


def exit_code(arguments: command.Arguments, code: int, findings: Collection[object]) -> int:
    """Return *code*, which warnings have no part in; with ``--strict`` 1 where there are *findings* of any kind."""
    return errors.EXIT_CHANGES if arguments.strict and findings else code
