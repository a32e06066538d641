"""An EBS volume under a CSI plugin, in a program of one's own."""

from typing import Any

import pulumi

from nomad_csi import CsiPlugin, EbsVolume

task_driver: Any = pulumi.Config().get_object("taskDriver") or {"name": "docker"}
plugin = CsiPlugin("aws-ebs0", driver="aws-ebs", aws_region="us-east-1", task_driver=task_driver)
volume = EbsVolume(
    "mysql",
    plugin_id=plugin.plugin_id,
    availability_zone="us-east-1a",
    size_gib=40,
    protect=False,
)
pulumi.export("externalId", volume.external_id)
pulumi.export("registrationId", volume.registration_id)
