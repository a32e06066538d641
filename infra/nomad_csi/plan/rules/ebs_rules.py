"""What EC2 would refuse of an EBS volume, said before anything is made."""

from collections.abc import Iterator

from nomad_csi.drivers import ebs_limits
from nomad_csi.errors import Problem
from nomad_csi.spec import model as spec


def check(ebs: spec.EbsSpec, path: str) -> Iterator[Problem]:
    """Yield what is wrong with *ebs*, which stands at *path*."""
    limits = ebs_limits.BY_TYPE.get(ebs.volume_type)
    if limits is None:
        allowed = f"one of {', '.join(ebs_limits.BY_TYPE)}"
        yield Problem(path=f"{path}.volume_type", got=repr(ebs.volume_type), allowed=allowed)
        return
    low, high = limits.size_gib
    if not low <= ebs.size_gib <= high:
        allowed = f"{low} to {high} for {ebs.volume_type}"
        yield Problem(path=f"{path}.size_gib", got=str(ebs.size_gib), allowed=allowed)
    yield from _iops(ebs, limits, f"{path}.iops")
    yield from _throughput(ebs, limits, f"{path}.throughput_mib_per_s")
    if ebs.kms_key_arn and not ebs.encrypted:
        fix = "remove encrypted: false, or the key"
        yield Problem(
            path=f"{path}.kms_key_arn",
            got="a key",
            allowed="no key for a volume that is not encrypted",
            fix=fix,
        )


def _iops(ebs: spec.EbsSpec, limits: ebs_limits.Limits, path: str) -> Iterator[Problem]:
    kind = ebs.volume_type
    if ebs.iops is None:
        if limits.iops and limits.iops_required:
            yield Problem(
                path=path,
                got="nothing",
                allowed=f"{limits.iops[0]} to {limits.iops[1]} for {kind}",
                fix="add iops",
            )
    elif limits.iops is None:
        yield Problem(path=path, got=str(ebs.iops), allowed=f"no iops for {kind}", fix="remove it, or use gp3 or io2")
    else:
        highest = max(min(limits.iops[1], (limits.iops_per_gib or 0) * ebs.size_gib), limits.baseline_iops or 0)
        if not limits.iops[0] <= ebs.iops <= highest:
            allowed = f"{limits.iops[0]} to {highest} for {kind} of {ebs.size_gib} GiB"
            yield Problem(path=path, got=str(ebs.iops), allowed=allowed)


def _throughput(ebs: spec.EbsSpec, limits: ebs_limits.Limits, path: str) -> Iterator[Problem]:
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
