"""Preflight checks of an EBS volume: settings that EC2 would refuse."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.errors import Problem
from nomad_csi.plan.unknown import known
from nomad_csi.spec import model as spec
from nomad_csi.spec import volume

# EC2's limits for each type. They change: last compared in 2026-08. Outposts and some regions still have
# older, lower limits; there, EC2 may refuse values that this table allows.


SOURCE = "EC2 API model in botocore 1.44.5 (CreateVolume), https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one volume type. Ranges are inclusive; ``None``: the type has no such setting."""

    size_gib: tuple[int, int]
    iops: tuple[int, int] | None = None
    iops_required: bool = False
    iops_per_gib: int | None = None
    baseline_iops: int | None = None
    """Operations per second included with the type, allowed for any size."""

    throughput_mib_per_s: tuple[int, int] | None = None
    iops_per_mib_per_s: int | None = None
    """Operations per second that each MiB/s of throughput needs."""


BY_TYPE = {
    "gp3": Limits(
        size_gib=(1, 65_536),
        iops=(3_000, 80_000),
        iops_per_gib=500,
        baseline_iops=3_000,
        throughput_mib_per_s=(125, 2_000),
        iops_per_mib_per_s=4,
    ),
    "gp2": Limits(size_gib=(1, 16_384)),
    "io2": Limits(size_gib=(4, 65_536), iops=(100, 256_000), iops_required=True, iops_per_gib=1_000),
    "io1": Limits(size_gib=(4, 16_384), iops=(100, 64_000), iops_required=True, iops_per_gib=50),
    "st1": Limits(size_gib=(125, 16_384)),
    "sc1": Limits(size_gib=(125, 16_384)),
    "standard": Limits(size_gib=(1, 1_024)),
}


def check(ebs: spec.EbsSpec, path: str) -> Iterator[Problem]:
    """Yield the problems of *ebs*, at *path*."""
    limits = BY_TYPE.get(ebs.volume_type)
    if limits is None:
        allowed = f"one of {', '.join(BY_TYPE)}"
        yield Problem(path=f"{path}.volume_type", got=repr(ebs.volume_type), allowed=allowed)
        return
    yield from known(
        _size(ebs, limits, f"{path}.size_gib"),
        _iops(ebs, limits, f"{path}.iops"),
        _throughput(ebs, limits, f"{path}.throughput_mib_per_s"),
    )


def _size(ebs: spec.EbsSpec, limits: Limits, path: str) -> Iterator[Problem]:
    low, high = limits.size_gib
    if not low <= ebs.size_gib <= high:
        yield Problem(path=path, got=str(ebs.size_gib), allowed=f"{low} to {high} for {ebs.volume_type}")


def _iops(ebs: spec.EbsSpec, limits: Limits, path: str) -> Iterator[Problem]:
    kind = ebs.volume_type
    if ebs.iops is None:
        if limits.iops and limits.iops_required:
            allowed = f"{limits.iops[0]} to {limits.iops[1]} for {kind}"
            yield Problem(path=path, got="nothing", allowed=allowed, fix="add iops")
    elif limits.iops is None:
        yield Problem(path=path, got=str(ebs.iops), allowed=f"no iops for {kind}", fix="remove it, or use gp3 or io2")
    else:
        (lowest, most), per_gib = limits.iops, limits.iops_per_gib or 0
        highest = max(min(most, per_gib * ebs.size_gib), limits.baseline_iops or 0)
        if not lowest <= ebs.iops <= highest:
            reach = f"{lowest} to {highest}" if lowest < highest else f"{highest}"
            allowed = f"{reach} for {kind} of {ebs.size_gib} GiB ({per_gib} a GiB)"
            fix = f"for {ebs.iops} use size_gib {-(-ebs.iops // per_gib)} or more" if highest < ebs.iops <= most else ""
            yield Problem(path=path, got=str(ebs.iops), allowed=allowed, fix=fix)


def _throughput(ebs: spec.EbsSpec, limits: Limits, path: str) -> Iterator[Problem]:
    given, allowed = ebs.throughput_mib_per_s, limits.throughput_mib_per_s
    if given is None:
        return
    if allowed is None or limits.iops_per_mib_per_s is None:
        sentence = f"no throughput for {ebs.volume_type}"
        yield Problem(path=path, got=str(given), allowed=sentence, fix="remove it, or use gp3")
        return
    highest = min(allowed[1], (ebs.iops or limits.baseline_iops or 0) // limits.iops_per_mib_per_s)
    if not allowed[0] <= given <= highest:
        sentence = f"{allowed[0]} to {highest} for {ebs.volume_type} with {ebs.iops or limits.baseline_iops} iops"
        fix = f"{limits.iops_per_mib_per_s} iops are needed for each MiB/s"
        yield Problem(path=path, got=str(given), allowed=sentence, fix=fix)


# Preflight checks of a change to an existing EBS volume: changes that EC2 would refuse.
#
# A volume grows and never shrinks. One modification must be completed before the next one begins, and at most four are
# allowed in any 24 hours (until January 2026: one in six hours). EC2 reports only the latest one, not their number.
# Sources: Amazon EC2 API reference, ``ModifyVolume`` and ``DescribeVolumesModifications``, 2026-11.


UNDER_WAY = frozenset({"modifying", "optimizing"})
"""States of a modification that the next one must wait for; a volume that is ``optimizing`` has its new size."""

LIMIT = "EC2 takes up to 4 modifications of a volume in any 24 hours, one after the other"


@dataclass(frozen=True, kw_only=True)
class Present:
    """The observed state of an EBS volume in EC2."""

    external_id: str
    availability_zone: str
    encrypted: bool
    size_gib: int
    volume_type: str
    iops: int | None = None
    """``None`` where the type has no such setting, or EC2 does not report it."""

    throughput_mib_per_s: int | None = None


def of_state(recorded: Mapping[str, Any]) -> Present | None:
    """Return the EBS volume that has the outputs *recorded* in a state; ``None``: it is new."""
    if not {"arn", "availabilityZone", "encrypted", "size", "type"} <= recorded.keys():
        return None
    return Present(
        external_id=str(recorded["arn"]).rpartition("/")[2],
        availability_zone=recorded["availabilityZone"],
        encrypted=recorded["encrypted"],
        size_gib=int(recorded["size"]),
        volume_type=recorded["type"],
        iops=int(recorded.get("iops") or 0) or None,  # a state has floats, and 0 where EC2 has no such setting
        throughput_mib_per_s=int(recorded.get("throughput") or 0) or None,
    )


@dataclass(frozen=True, kw_only=True)
class Modification:
    """The latest modification of a volume."""

    state: str
    """``modifying``, ``optimizing``, ``completed`` or ``failed``."""

    progress_percent: int
    started: str
    """Start time in UTC: ``2026-11-21 16:44``."""


_COMPARED = {
    "size_gib": ("size", " GiB"),
    "volume_type": ("type", ""),
    "iops": ("iops", ""),
    "throughput_mib_per_s": ("throughput", " MiB/s"),
}
"""Settings that EC2 modifies in place, each with its name and unit."""


def changes(present: Present, wanted: volume.EbsSpec) -> Mapping[str, tuple[Any, Any]]:
    """Return the settings that EC2 would modify, each before and after; none where the volume is replaced."""
    pairs = {name: (getattr(present, name), getattr(wanted, name)) for name in _COMPARED}
    is_kept = not _is_replaced(present, wanted)
    return {name: pair for name, pair in pairs.items() if is_kept and None not in pair and pair[0] != pair[1]}


def check_change(
    present: Present, wanted: volume.EbsSpec, modification: Modification | None, path: str
) -> Iterator[Problem]:
    """Yield why EC2 would refuse to change *present* to *wanted*, for the volume at *path* of the spec."""
    if _is_replaced(present, wanted):
        return  # a new volume, which `protect` guards against
    if wanted.size_gib < present.size_gib:
        allowed = f"at least {present.size_gib}, the size of {present.external_id}: an EBS volume never shrinks"
        fix = "keep the size, or copy the data to a new volume under another id"
        yield Problem(path=f"{path}.size_gib", got=str(wanted.size_gib), allowed=allowed, fix=fix)
    changing = [f"{name} {before} to {after}" for name, (before, after) in changes(present, wanted).items()]
    if modification and modification.state in UNDER_WAY and changing:
        got = f"{', '.join(changing)} while {present.external_id} is {modification.state}"
        done = f"{modification.progress_percent} % done, begun {modification.started} UTC"
        allowed = f"no change until the modification under way is completed ({done})"
        fix = f"wait and run again; {LIMIT}"
        yield Problem(path=path, got=got, allowed=allowed, fix=fix)


def _is_replaced(present: Present, wanted: volume.EbsSpec) -> bool:
    return (present.availability_zone, present.encrypted) != (wanted.availability_zone, wanted.encrypted)
