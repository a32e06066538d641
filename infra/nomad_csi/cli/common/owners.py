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


def add_required(parser: argparse.ArgumentParser, text: str) -> None:
    """Add ``--owner`` to a command that acts for nobody else; *text* says what it does."""
    parser.add_argument("--owner", type=_stack, required=True, metavar="PROJECT/STACK", help=text)


def claimant(arguments: argparse.Namespace) -> registration_ownership.Claimant:
    """Return who acts."""
    return registration_ownership.Claimant(owner=arguments.owner, adopts=arguments.adopt)


def _owner(given: str) -> str:
    """Return *given*; empty: nobody, which argparse hands over too. Raises `argparse.ArgumentTypeError`."""
    return _stack(given) if given else given


def _stack(given: str) -> str:
    """Return *given*. Raises `argparse.ArgumentTypeError` where it names no stack."""
    if not names.OWNER.fullmatch(given):
        raise argparse.ArgumentTypeError(f"expected project/stack, such as shop/prod, got {given!r}")
    return given
