"""What `nomad-csi smoke --json` said earlier, read again: only it shows that data goes into a volume and back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from nomad_csi import errors
from nomad_csi.plan import registration

Status = Literal["verified", "failed", "not verified"]

_TEXTS = ("namespace", "volume_id", "status")
_SENTENCES = ("verified", "not_verified", "left_behind")


@dataclass(frozen=True, kw_only=True, slots=True)
class SmokeResult(registration.NamedVolume):
    """What became of the test of one volume, and which file says so."""

    status: Status
    verified: tuple[str, ...]
    """What was certain then, one sentence each."""

    not_verified: tuple[str, ...]
    left_behind: tuple[str, ...]
    source: str


def read(text: str, source: str) -> SmokeResult:
    """Return the outcome in *text*, the output of `nomad-csi smoke --json`. Raises `errors.SpecError`."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, Mapping) or not _is_outcome(given):
        allowed = "the output of `nomad-csi smoke NAMESPACE/ID --json`"
        raise errors.SpecError((errors.Problem(path="", got="something else", allowed=allowed),), source)
    return SmokeResult(
        namespace=given["namespace"],
        volume_id=given["volume_id"],
        status=given["status"],
        verified=tuple(given["verified"]),
        not_verified=tuple(given["not_verified"]),
        left_behind=tuple(given["left_behind"]),
        source=source,
    )


def _is_outcome(given: Mapping[str, Any]) -> bool:
    lists = [given.get(name) for name in _SENTENCES]
    return (
        all(isinstance(given.get(name), str) for name in _TEXTS)
        and given["status"] in get_args(Status)
        and all(isinstance(each, list) and all(isinstance(item, str) for item in each) for each in lists)
    )
