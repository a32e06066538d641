"""Who a command acts for: the options that say whose volumes it may touch."""

import argparse

from nomad_csi.ownership import registration_ownership
from nomad_csi.spec import names


def add(parser: argparse.ArgumentParser, *, adopt: str) -> None:
    """Add ``--owner`` and ``--adopt``; *adopt* says what that one does here."""
    add_owner(
        parser, "act for this stack, and mark what is registered as its own (default: for nobody, without a mark)"
    )
    parser.add_argument("--adopt", action="store_true", help=adopt)


def add_owner(parser: argparse.ArgumentParser, text: str) -> None:
    """Add ``--owner``; *text* says what for."""
    parser.add_argument("--owner", type=_owner, default="", metavar="PROJECT/STACK", help=text)


def claimant(arguments: argparse.Namespace) -> registration_ownership.Claimant:
    """Return who acts."""
    return registration_ownership.Claimant(owner=arguments.owner, adopts=arguments.adopt)


def _owner(given: str) -> str:
    """Return *given*; empty: nobody, which argparse hands over too. Raises `argparse.ArgumentTypeError`."""
    if given and not names.OWNER.fullmatch(given):
        raise argparse.ArgumentTypeError(f"expected project/stack, such as shop/prod, got {given!r}")
    return given
