"""boto3 sessions that know nothing of the operator: no configuration file, no profile, no metadata service."""

import os
from typing import Any

import boto3
import botocore.session

VARIABLES = {
    "config_file": (None, None, os.devnull, None),
    "credentials_file": (None, None, os.devnull, None),
    "profile": (None, None, None, None),
}
"""
Settings of botocore that no environment variable may change: name in the file, variable, default, conversion.

Source: botocore 1.44, ``botocore/configprovider.py`` (``BOTOCORE_DEFAUT_SESSION_VARIABLES``).
"""


def isolated(access_key: str, secret_key: str) -> Any:
    """Return a boto3 session with these credentials and nothing else."""
    core = botocore.session.Session(session_vars=VARIABLES)
    return boto3.session.Session(aws_access_key_id=access_key, aws_secret_access_key=secret_key, botocore_session=core)
