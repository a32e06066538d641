"""What `nomad-csi smoke --json` said earlier, read again: only it shows that data goes into a volume and back."""

import dataclasses
import functools
from dataclasses import dataclass
from typing import Literal

import pydantic

from nomad_csi import errors
from nomad_csi.plan import registration


@dataclass(frozen=True, kw_only=True, slots=True)
class SmokeResult(registration.NamedVolume):
    """What became of the test of one volume, and which file says so."""

    status: Literal["verified", "failed", "not verified"]
    verified: tuple[str, ...]
    """What was certain then, one sentence each."""

    not_verified: tuple[str, ...]
    left_behind: tuple[str, ...]
    source: str = ""


@functools.cache
def _reader() -> pydantic.TypeAdapter[SmokeResult]:
    return pydantic.TypeAdapter(SmokeResult)


def read(text: str, source: str) -> SmokeResult:
    """Return the outcome in *text*, the output of `nomad-csi smoke --json`. Raises `errors.SpecError`."""
    try:
        return dataclasses.replace(_reader().validate_json(text, strict=True), source=source)
    except pydantic.ValidationError:
        allowed = "the output of `nomad-csi smoke NAMESPACE/ID --json`"
        raise errors.SpecError((errors.Problem(path="", got="something else", allowed=allowed),), source) from None
