"""
What moto 5.2.5 says otherwise of KMS keys: that those behind ``alias/aws/...``, which AWS manages, are a customer's.

Part of the AWS emulator: it is a proxy in front of moto and corrects ``KeyManager`` in answers to ``DescribeKey``.
Source: AWS KMS API reference, ``KeyMetadata``, 2026-11; moto 5.2.5, ``moto/ec2/models/elastic_block_store.py``
(``EBSBackend.get_ebs_default_kms_key_id``) and ``moto/kms/models.py`` (``_generate_default_keys``)
for the descriptions.
"""

import json
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
