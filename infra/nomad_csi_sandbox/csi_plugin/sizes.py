"""How large a volume is to be, by the rules of its driver. Part of the CSI driver emulator."""

from dataclasses import dataclass
from typing import Any

from nomad_csi_sandbox.csi_plugin import profiles, status


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a request asks for."""

    bytes: int
    """What a new volume gets."""

    required: int
    limit: int

    def fits(self, size: int, *, exact: bool) -> bool:
        """Return whether a volume of *size*, which is there, is what was asked for."""
        if exact and (self.required or self.limit):
            return size == self.bytes
        return size >= self.required and not (self.limit and size > self.limit)


def asked(profile: profiles.Profile, request: Any) -> Asked:
    """Return what a ``CreateVolume`` asks for. Raises `status.StatusError`."""
    required, limit = request.capacity_range.required_bytes, request.capacity_range.limit_bytes
    if required < 0 or limit < 0:
        raise status.invalid("cannot have negative capacity")
    if 0 < limit < required:
        raise status.invalid("capacity cannot exceed limit")
    size = _rounded(profile, required or limit or profile.default_bytes)
    _refuse_outside(profile, size, limit)
    return Asked(bytes=size, required=required, limit=limit)


def expanded(profile: profiles.Profile, request: Any) -> int:
    """Return the size that a ``ControllerExpandVolume`` asks for. Raises `status.StatusError`."""
    if not request.HasField("capacity_range"):
        raise status.invalid("Capacity range not provided")
    required, limit = request.capacity_range.required_bytes, request.capacity_range.limit_bytes
    size = _rounded(profile, required or limit)
    _refuse_outside(profile, size, limit)
    return size


def _rounded(profile: profiles.Profile, size: int) -> int:
    whole = -(-size // profile.unit_bytes) * profile.unit_bytes
    return max(whole, profile.min_bytes)


def _refuse_outside(profile: profiles.Profile, size: int, limit: int) -> None:
    if profile.max_bytes and size > profile.max_bytes:
        text = f"Requested capacity {size} exceeds maximum allowed {profile.max_bytes}"
        raise status.StatusError("OUT_OF_RANGE", text)
    if 0 < limit < size:
        raise status.StatusError("OUT_OF_RANGE", f"the smallest volume of {size} bytes exceeds the limit {limit}")
