"""Errors of AWS as the real provider words them, and which of them mean that an object is gone."""

from botocore import exceptions

from nomad_csi_sandbox.aws.provider import rows

NO_CREDENTIALS = (
    "No valid credential sources found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for the emulator of the aws "
    "provider; it reads no file and asks no metadata service"
)
"""First sentence: pulumi/pulumi-aws, ``provider/errors/no_credentials.txt``, read 2026-11."""

HTML = "<!doctype html>"
"""How the page begins that moto's server sends for a call it does not implement."""


def is_gone(error: Exception) -> bool:
    """
    Whether AWS says that the object asked for does not exist.

    EC2 ``InvalidVolume.NotFound`` and the like, EFS ``FileSystemNotFound`` and the like, IAM ``NoSuchEntity``, DLM, AWS
    Backup and Secrets Manager ``ResourceNotFoundException``, KMS ``NotFoundException``, S3 ``404``, ``NoSuchBucket``.
    """
    code = error.response["Error"]["Code"] if isinstance(error, exceptions.ClientError) else ""
    return code.endswith(("NotFound", "NotFoundException")) or code in ("404", "NoSuchBucket", "NoSuchEntity")


def of_resource(verb: str, row: rows.Row, subject: str, error: Exception) -> str:
    """
    Return ``deleting EBS Volume (vol-1): operation error EC2: DeleteVolume, …, api error VolumeInUse: …``.

    Source: hashicorp/terraform-provider-aws, ``internal/service/ec2/ebs_volume.go``; aws-sdk-go-v2, ``OperationError``.
    """
    named = f" ({subject})" if subject else ""
    return f"{verb} {row.title}{named}: {of_call(row.service, error)}"


def of_call(service: str, error: Exception) -> str:
    """Return what AWS answered to a call of *service*, or why no answer came."""
    if isinstance(error, exceptions.BotoCoreError):
        return f"{error}; is the moto server of the sandbox still running?"
    if not isinstance(error, exceptions.ClientError):
        return str(error)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", "?")
    head = f"operation error {service}: {error.operation_name}, https response error StatusCode: {status}"
    detail = error.response["Error"]
    if detail.get("Message", "").startswith(HTML):
        return f"{head}; moto, which emulates AWS, failed or does not implement this call"
    return f"{head}, api error {detail['Code']}: {detail.get('Message', '')}"
