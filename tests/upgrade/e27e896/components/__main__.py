"""The components in a program of one's own: every kind of volume."""

import pulumi

from nomad_csi import CsiPlugin, CsiVolume, EbsVolume, EfsVolume, ExistingVolume

settings = pulumi.Config().require_object("settings")
zone, data_dir = "us-east-1a", settings["data_dir"]


def task_driver(driver):
    return {
        "name": "raw_exec",
        "command": "nomad-csi-sandbox-csi-plugin",
        "arguments": ["--driver", driver],
        "client_data_dir": data_dir,
    }


def plugin(plugin_id, driver, **more):
    return CsiPlugin(
        plugin_id, {"driver": driver, "task_driver": task_driver(driver), "verify": {"stable_s": 0.5}, **more}
    )


ebs = plugin("aws-ebs0", "aws-ebs", aws_region="us-east-1", controller={"count": 1})
efs = plugin("aws-efs0", "aws-efs", aws_region="us-east-1")
nfs = plugin("nfs0", "csi-driver-nfs")
mysql = EbsVolume("db", {"volume_id": "mysql", "plugin_id": ebs.plugin_id, "availability_zone": zone, "size_gib": 40})
cache = EbsVolume("cache", {"plugin_id": ebs.plugin_id, "availability_zone": zone, "size_gib": 10, "protect": False})
shared = EfsVolume(
    "shared",
    {
        "plugin_id": efs.plugin_id,
        "mount_targets": [{"availability_zone": zone}],
        "clients": {"cidr_blocks": ["172.31.0.0/16"]},
        "access_point": {"path": "/shared", "uid": 1000, "gid": 1000},
    },
)
legacy = ExistingVolume(
    "legacy",
    {
        "namespace": "prod",
        "plugin_id": ebs.plugin_id,
        "driver": "aws-ebs",
        "external_id": settings["legacy"],
        "availability_zone": settings.get("legacy_zone", zone),
    },
)
media = ExistingVolume(
    "media",
    {
        "plugin_id": nfs.plugin_id,
        "driver": "csi-driver-nfs",
        "external_id": "nas.example.net#export/media",
        "context": {"server": "nas.example.net", "share": "/export/media"},
        "secrets": {"token": pulumi.Output.secret("not-a-real-secret")},
    },
)
scratch = CsiVolume(
    "scratch", {"plugin_id": ebs.plugin_id, "driver": "aws-ebs", "capacity_min_gib": 4, "availability_zone": zone}
)
temporary = CsiVolume(
    "temporary",
    {
        "plugin_id": ebs.plugin_id,
        "driver": "aws-ebs",
        "capacity_min_gib": 1,
        "availability_zone": zone,
        "protect": False,
        "on_destroy": "delete",
        "deletion": {"aws_region": "us-east-1"},
    },
)
pulumi.export("mysql", mysql.external_id)
pulumi.export("shared", shared.external_id)
