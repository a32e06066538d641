"""
EC2's limits for each EBS volume type. They change: the date is that of the last comparison.

Outposts and some regions still have older, lower limits; there, EC2 may refuse values that this table allows.
"""

from dataclasses import dataclass

SOURCE = "EC2 API model in botocore 1.44.5 (CreateVolume), https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html"
AS_OF = "2026-08"


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
