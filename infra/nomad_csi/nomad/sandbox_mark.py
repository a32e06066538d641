"""
The mark of the sandbox: objects created there are not changed from outside, nor real objects from the sandbox.

The mark is a string such as ``engine:emulator,nomad:emulator,aws:moto``, empty outside of a sandbox.
"""

import hashlib
import urllib.parse
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.spec import names

OUTPUT = "sandbox"
"""Output property that records the mark; absent outside of a sandbox."""

ENVIRONMENT = "NOMAD_CSI_SANDBOX"
"""Environment variable with the mark of the process."""

TOKEN_HASH = "NOMAD_CSI_SANDBOX_TOKEN_SHA256"  # noqa: S105  # the name of a variable
"""Environment variable with the `token_hash` of the token of the sandbox's own Nomad."""

_AWAY = "remove nomad-csi:address and nomad-csi:token from the stack's configuration, or run the command outside of it"


def token_hash(token: str) -> str:
    """Return a hash that identifies the token of a sandbox and does not show it."""
    return hashlib.sha256(token.encode()).hexdigest()


def refuse_other_side(recorded: Mapping[str, Any], own: str) -> None:
    """Raise `errors.RefusedError` where the *recorded* outputs of an object carry another mark than this process."""
    recorded_mark = recorded.get(OUTPUT, "") if recorded else own
    if recorded_mark == own:
        return
    of, here = (f"the sandbox {mark}" if mark else "a real cluster" for mark in (recorded_mark, own))
    raise errors.RefusedError(
        f"this state belongs to {of}, and this process to {here}: select the other stack, or run the command "
        "outside of the sandbox, or inside as `nomad-csi sandbox exec -- ...`"
    )


def refuse_real_address(connection: nomad.Connection, environment: Mapping[str, str]) -> None:
    """
    Raise `errors.RefusedError` where a process in the sandbox would talk to another Nomad than the sandbox's.

    An address off this machine is another Nomad's, and so is a token that is not the sandbox's.
    """
    own = environment.get(ENVIRONMENT, "")
    if own and not names.is_loopback(urllib.parse.urlsplit(connection.address).hostname or ""):
        raise errors.RefusedError(
            f"Nomad's address {connection.address} is not on this machine, and this is the sandbox ({own}): {_AWAY}"
        )
    if own and token_hash(connection.token) != environment.get(TOKEN_HASH, ""):
        raise errors.RefusedError(
            f"the token for {connection.address} is not that of this sandbox's Nomad ({own}): {_AWAY}"
        )
