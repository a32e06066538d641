"""
When findings are a reason to fail, by one rule in all commands that report some.

1: an error was found; with ``--strict`` a warning, too. 2: none was, and something could not be found out. Else 0.
"""

import argparse
from collections.abc import Collection

from nomad_csi import errors


def add(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument("--strict", action="store_true", help="exit 1 for warnings, too (default: for errors alone)")


def exit_code(arguments: argparse.Namespace, code: int, findings: Collection[object]) -> int:
    """Return *code*, which warnings have no part in; with ``--strict`` 1 where there are *findings* of any kind."""
    return errors.EXIT_CHANGES if arguments.strict and findings else code
