"""Mountpoint for Amazon S3 (``s3.csi.aws.com``): looked for, and not possible on Nomad."""

from nomad_csi.drivers import model

UNUSABLE = model.Unusable(
    name="aws-s3",
    title="Mountpoint for Amazon S3",
    reason="it asks the Kubernetes API when it starts, and mounts through Kubernetes pods of its own",
    instead="use aws-efs with an external id such as s3files:fs-0123456789abcdef0 (Amazon S3 Files)",
    as_of="2026-08-23",
    source="awslabs/mountpoint-s3-csi-driver v2.7.0: cmd/aws-s3-csi-driver (rest.InClusterConfig), Mountpoint pods",
)
