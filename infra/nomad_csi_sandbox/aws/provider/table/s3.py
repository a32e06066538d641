"""Buckets. Source: hashicorp/terraform-provider-aws, ``internal/service/s3``, read 2026-11."""

from nomad_csi_sandbox.aws.provider import clients
from nomad_csi_sandbox.aws.provider.rows import Properties, Row, Tagging, Values, call


def _make(aws: clients.Clients, inputs: Values) -> str:
    """Make a bucket; ``us-east-1`` is the one region that may not be named."""
    place = {} if aws.region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": aws.region}}
    aws.of("s3").create_bucket(Bucket=inputs["bucket"], **place)
    return str(inputs["bucket"])


def _tags(aws: clients.Clients, identity: str, _found: Values) -> Properties:
    """Return the tags, which S3 itself answers with an error when there are none."""
    found = aws.of("resourcegroupstaggingapi").get_resources(
        ResourceARNList=[f"arn:{aws.partition}:s3:::{identity}"], ResourceTypeFilters=[]
    )
    pairs = [pair for one in found["ResourceTagMappingList"] for pair in one["Tags"]]
    return {"tagsAll": {pair["Key"]: pair["Value"] for pair in pairs}}


def _empty(aws: clients.Clients, identity: str, values: Values) -> None:
    """Remove what is in a bucket whose program says ``forceDestroy``."""
    if values.get("forceDestroy"):
        s3 = aws.of("s3")
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=identity)
        for key in [one["Key"] for page in pages for one in page.get("Contents", ())]:
            s3.delete_object(Bucket=identity, Key=key)


ROWS = (
    Row(
        token="aws:s3/bucket:Bucket",
        title="S3 Bucket",
        inputs="bucket forceDestroy",
        outputs="arn bucketDomainName bucketRegionalDomainName",
        create=_make,
        unsent="forceDestroy",
        read=call("head_bucket", Bucket="$id"),
        derived={
            "arn": "arn:{partition}:s3:::{id}",
            "bucket": "{id}",
            "bucketDomainName": "{id}.s3.{suffix}",
            "bucketRegionalDomainName": "{id}.s3.{region}.{suffix}",
        },
        more=_tags,
        delete=(_empty, call("delete_bucket", Bucket="$id")),
        defaults={"forceDestroy": False},
        autonamed="bucket",
        tagging=Tagging(
            tag=call("put_bucket_tagging", Bucket="$id", Tagging={"TagSet": "$tags"}),
            untag=call("delete_bucket_tagging", Bucket="$id"),
            path="TagSet",
        ),
    ),
)
