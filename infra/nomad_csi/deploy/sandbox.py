"""
The mark of the sandbox: what was made there is not touched from outside, and the other way round.

The mark is a word such as ``engine:stand-in,nomad:stand-in,aws:moto``, empty outside of a sandbox.
"""

import ipaddress
import urllib.parse
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors

OUTPUT = "sandbox"
"""Output property that records the mark; absent outside of a sandbox."""

ENVIRONMENT = "NOMAD_CSI_SANDBOX"
"""Environment variable with the mark of the process."""


def refuse_other_side(recorded: Mapping[str, Any], own: str) -> None:
    """Raise `errors.RefusedError` where the *recorded* outputs of an object carry another mark than this process."""
    made = recorded.get(OUTPUT, "") if recorded else own
    if made == own:
        return
    if not own:
        raise errors.RefusedError(
            f"this state was made in the sandbox ({made}), and this is not the sandbox: run the command as "
            "`nomad-csi sandbox exec -- ...`, or select the stack of the real cluster"
        )
    if not made:
        raise errors.RefusedError(
            f"this state was made on a real cluster, and this is the sandbox ({own}): run the command outside of it, "
            "or select the sandbox's own stack"
        )
    raise errors.RefusedError(
        f"this state was made in a sandbox of other parts ({made}) than this one ({own}): "
        "take the old one down with `nomad-csi sandbox down`, then begin again"
    )


def refuse_real_address(address: str, own: str) -> None:
    """Raise `errors.RefusedError` where a process in the sandbox would talk to *address* off this machine."""
    if own and not _is_loopback(urllib.parse.urlsplit(address).hostname or ""):
        raise errors.RefusedError(
            f"Nomad's address {address} is not on this machine, and this is the sandbox ({own}): "
            "remove the address from the stack's configuration, or run the command outside of the sandbox"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
