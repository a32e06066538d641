"""The requesting owner of a command: options that name whose volumes it may change."""

from typing import Any

from nomad_csi.cli.common import command, usage
from nomad_csi.ownership import registration_ownership
from nomad_csi.spec import names

AS_OWN = "act for this stack, and mark what is registered as its own (default: no owner record)"


@command.Typed
def any_owner(given: str) -> str:
    """Return *given*; empty: no owner. Raises `click.BadParameter`."""
    return stack(given) if given else given


@command.Typed
def stack(given: str) -> str:
    """Return *given*. Raises `click.BadParameter` if it is not a stack."""
    if not names.OWNER.fullmatch(given):
        raise usage.wrong("project/stack, such as shop/prod", given)
    return given


def owner(text: str, **settings: Any) -> command.Declare[Any]:
    """Return the decorator that adds ``--owner``; *text* is its help."""
    return command.option("--owner PROJECT/STACK", text, **(settings or {"type": any_owner, "default": ""}))


def requester(arguments: command.Arguments) -> registration_ownership.Requester:
    """Return the requester."""
    return registration_ownership.Requester(owner=arguments.owner, adopts=arguments.adopt)
