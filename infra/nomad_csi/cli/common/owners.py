"""The requesting owner of a command: options that name whose volumes it may change."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, usage
from nomad_csi.spec import names
from nomad_csi.volumes import owner_records

IN_SPEC = " (default: `owner` of the spec)"


def any_owner(given: str) -> str:
    """Return *given*; empty: no owner. Raises `click.BadParameter`."""
    return stack(given) if given else given


def stack(given: str) -> str:
    """Return *given*. Raises `click.BadParameter` if it is not a stack."""
    if not names.OWNER.fullmatch(given):
        raise usage.wrong("project/stack, such as shop/prod", given)
    return given


def owner(text: str, **settings: Any) -> command.Declare[Any]:
    """Return the decorator that adds ``--owner``; *text* is its help."""
    return command.option("--owner PROJECT/STACK", text + IN_SPEC, **(settings or {"type": any_owner, "default": ""}))


def resolve(arguments: command.Arguments, specs: Iterable[Path]) -> None:
    """
    Set the owner of *arguments* to that of *specs*, where these name one.

    Raises `usage.UsageError` if the option, or another spec, names another one: two commands never use two owners.
    """
    for path in specs:
        named = inputs.setting(path, "owner")
        if named and arguments.owner not in {"", named}:
            fix = f"omit it, or change {path}"
            usage.refuse(
                [errors.Problem(path="--owner", got=arguments.owner, allowed=f"{named}, as in {path}", fix=fix)]
            )
        arguments.owner = arguments.owner or named


def requester(arguments: command.Arguments) -> owner_records.Requester:
    """Return the requester."""
    return owner_records.Requester(owner=arguments.owner, adopts=arguments.adopt)
