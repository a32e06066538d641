"""
What moto 5.2.5 says otherwise of KMS keys, and what it lacks of file system policies.

Part of the AWS emulator: a proxy in front of moto for each. `Keys` corrects ``KeyManager`` in answers to
``DescribeKey``: moto says of the keys behind ``alias/aws/...``, which AWS manages, that they are a customer's.
`FileSystemPolicies` hands ``DeleteFileSystemPolicy``, which moto lacks, on as a write of an empty policy, after which
moto says that there is none.

Sources: AWS KMS API reference, ``KeyMetadata``, 2026-11; EFS API model in botocore 1.44.5; moto 5.2.5,
``moto/ec2/models/elastic_block_store.py`` (``EBSBackend.get_ebs_default_kms_key_id``) and ``moto/kms/models.py``
(``_generate_default_keys``) for the descriptions, ``moto/efs/models.py`` (``describe_file_system_policy``).
"""

import io
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from nomad_csi_sandbox import guard
from nomad_csi_sandbox.aws import throttle

DESCRIBE = "TrentService.DescribeKey"
"""``X-Amz-Target`` of the call."""

DEFAULTS = ("Default key", "Default master key that protects my EBS volumes when no other key is defined")
"""Descriptions of the keys that moto makes for AWS."""

_POLICY = re.compile(r"/2015-02-01/file-systems/[^/]+/policy/?")
_EMPTY = b'{"Policy": ""}'


@dataclass
class Keys:
    """A WSGI application that corrects one answer and hands every call on to *behind*."""

    behind: guard.Application

    def __call__(self, environment: guard.Environment, start_response: guard.StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        if environment.get("HTTP_X_AMZ_TARGET") != DESCRIBE:
            return self.behind(environment, start_response)
        seen: list[Any] = []
        content = b"".join(self.behind(environment, lambda *head: seen.append(head)))
        found = json.loads(content)
        if found.get("KeyMetadata", {}).get("Description") not in DEFAULTS:
            start_response(*seen[0])
            return [content]
        found["KeyMetadata"]["KeyManager"] = "AWS"
        return throttle.answer(start_response, HTTPStatus.OK, json.dumps(found), "application/x-amz-json-1.1")


@dataclass
class FileSystemPolicies:
    """A WSGI application that changes one call and hands every call on to *behind*."""

    behind: guard.Application

    def __call__(self, environment: guard.Environment, start_response: guard.StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        if environment["REQUEST_METHOD"] == "DELETE" and _POLICY.fullmatch(environment["PATH_INFO"]):
            empty = {"REQUEST_METHOD": "PUT", "CONTENT_LENGTH": str(len(_EMPTY)), "wsgi.input": io.BytesIO(_EMPTY)}
            return self.behind({**environment, **empty}, start_response)
        return self.behind(environment, start_response)
