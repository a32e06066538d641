"""Preflight checks of an EBS volume: settings that EC2 would refuse."""

from collections.abc import Iterator
from dataclasses import dataclass

from nomad_csi.errors import Problem
from nomad_csi.plan.rules import known
from nomad_csi.spec import model as spec

# EC2's limits for each type. They change: last compared in 2026-08. Outposts and some regions still have
# older, lower limits; there, EC2 may refuse values that this table allows.
# Source: EC2 API model in botocore 1.44.5 (CreateVolume), https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html


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
