"""
What moto 5.2.5 lacks of file system policies.

Part of the AWS emulator: a proxy in front of moto. `FileSystemPolicies` hands ``DeleteFileSystemPolicy``, which moto
lacks, on as a write of an empty policy, after which moto says that there is none.

Sources: EFS API model in botocore 1.44.5; moto 5.2.5, ``moto/efs/models.py`` (``describe_file_system_policy``).
"""

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

from nomad_csi_sandbox import guard

_POLICY = re.compile(r"/2015-02-01/file-systems/[^/]+/policy/?")
_EMPTY = b'{"Policy": ""}'


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
