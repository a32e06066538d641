"""How long a program and the provider take to start, against what Pulumi, gRPC and the AWS module alone take."""

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import timing

RUNS = 9
AIM = 1.5

_STARTS = {
    "import of VolumeRegistration": ("from nomad_csi import VolumeRegistration", "import pulumi"),
    "import of EbsVolume": ("from nomad_csi import EbsVolume", "import pulumi, pulumi_aws; pulumi_aws.ebs.Volume"),
    "import of EfsVolume": (
        "from nomad_csi import EfsVolume",
        "import pulumi, pulumi_aws; pulumi_aws.efs.FileSystem, pulumi_aws.ec2.SecurityGroup",
    ),
    "import of CsiPlugin": ("from nomad_csi import CsiPlugin", "import pulumi, pulumi_aws; pulumi_aws.iam.Policy"),
    "start of the provider": (
        "import nomad_csi.provider.serving",
        "import grpc.aio; from pulumi.provider import server",
    ),
}
"""What is measured: ours, and what it is compared with."""


def measure() -> Iterator[str]:
    """Yield the results: processor time, which other programs disturb less."""
    here = Path.cwd()
    for what, programs in _STARTS.items():
        ours, bare = ([sys.executable, "-c", program] for program in programs)
        pairs = [
            (timing.of_command(ours, cwd=here).cpu_s, timing.of_command(bare, cwd=here).cpu_s) for _ in range(RUNS)
        ]
        (took, alone) = (sorted(times)[RUNS // 2] for times in zip(*pairs, strict=True))
        yield f"{what}: {took:.2f} CPU s, {took / alone:.1f} x {programs[1]!r} ({alone:.2f} s; aim {AIM} x)"
