"""
A user's program that `make lint` checks the types of: what type checkers see of the components.

An ignored error that is none fails, too: each says what has to be seen.
"""

import pulumi

from nomad_csi import CsiPlugin, EbsVolume, EbsVolumeArgs

plugin = CsiPlugin(
    "ebs0", driver="aws-ebs", aws_region=pulumi.Output.from_input("us-east-1"), iam={"role_name": "client"}
)
by_keyword = EbsVolume(
    "mysql",
    plugin_id=plugin.plugin_id,
    availability_zone="us-east-1a",
    size_gib=40,
    iops=None,
    capabilities=[{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
    opts=pulumi.ResourceOptions(protect=True),
)
arguments: EbsVolumeArgs = {"plugin_id": plugin.plugin_id, "availability_zone": "us-east-1a", "size_gib": 40}
by_dictionary = EbsVolume("data", arguments, pulumi.ResourceOptions(protect=True))
identifiers: list[pulumi.Output[str]] = [by_keyword.external_id, by_dictionary.registration_id]

EbsVolume("a", plugin_id="ebs0", availability_zone="us-east-1a")  # type: ignore[call-overload]  # no size
EbsVolume("b", arguments, size_gib=4)  # type: ignore[call-overload]  # both
CsiPlugin("c", driver="aws-ebs", region="us-east-1")  # type: ignore[call-overload]  # no such argument
CsiPlugin("d", driver="aws-ebs", task_driver={"name": "exe"})  # type: ignore[call-overload]  # no such value
CsiPlugin("e", driver=plugin.plugin_id, iam=plugin.plugin_id)  # type: ignore[call-overload]  # iam is no output
pulumi.export("none", by_keyword.arn_of_nothing)  # type: ignore[attr-defined]  # no such output
