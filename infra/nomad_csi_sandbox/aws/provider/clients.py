"""boto3 clients of the emulator: one of each service and region, with deadlines, never an operator's credentials."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import botocore.config

from nomad_csi import errors
from nomad_csi_sandbox.aws import session

CONNECT_TIMEOUT_S = 5
READ_TIMEOUT_S = 20
ATTEMPTS = 8
"""Times a request is sent at most where AWS throttles, or an error is passing; the real provider's are 25."""

CONNECTIONS = 32
"""Threads that may use one client at the same time; the servicer runs as many."""

DNS_SUFFIXES = {"aws": "amazonaws.com", "aws-cn": "amazonaws.com.cn", "aws-us-gov": "amazonaws.com"}
"""Source: botocore 1.44, ``data/partitions.json`` (``dnsSuffix``)."""


@dataclass(frozen=True, kw_only=True)
class Access:
    """How to reach the account."""

    endpoint_url: str
    """URL of the moto server."""

    access_key: str
    secret_key: str = field(repr=False)

    @classmethod
    def from_environment(cls, endpoint_url: str, environment: Mapping[str, str]) -> "Access | None":
        """Return what AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY say, ``None`` unless both do."""
        access_key = environment.get("AWS_ACCESS_KEY_ID", "")
        secret_key = environment.get("AWS_SECRET_ACCESS_KEY", "")
        if not (access_key and secret_key):
            return None
        return cls(endpoint_url=endpoint_url, access_key=access_key, secret_key=secret_key)


class Clients:
    """The clients for one region. Safe to use from many threads."""

    def __init__(self, pool: "Pool", region: str) -> None:
        self.region = region
        self._pool = pool

    def in_region(self, region: str | None) -> "Clients":
        """Return the clients for *region*; for this one when it is empty."""
        return Clients(self._pool, region or self.region)

    def of(self, service: str) -> Any:
        """Return the client of *service*, by boto3's name: ``of("kms")``."""
        return self._pool.client(service, self.region)

    @property
    def ec2(self) -> Any:
        """EC2 and EBS."""
        return self.of("ec2")

    @property
    def efs(self) -> Any:
        """EFS."""
        return self.of("efs")

    @property
    def iam(self) -> Any:
        """IAM."""
        return self.of("iam")

    def caller(self) -> dict[str, str]:
        """Return ``Account``, ``Arn`` and ``UserId`` of who is calling."""
        return self._pool.caller(self.region)

    @property
    def partition(self) -> str:
        """``aws``, ``aws-cn`` or ``aws-us-gov``."""
        return self._pool.partition(self.region)

    @property
    def dns_suffix(self) -> str:
        """What the names of AWS's end points end with in this region."""
        return DNS_SUFFIXES[self.partition]

    def pause(self, seconds: float) -> None:
        """Wait *seconds*. Raises `errors.CancelledError` as soon as the operator interrupts."""
        if self._pool.cancelled.wait(seconds):
            raise errors.CancelledError("interrupted while waiting for AWS")


class Pool:
    """All clients of one account, made under a lock: ten first calls at once would else cost two seconds more."""

    def __init__(self, access: Access, cancelled: threading.Event) -> None:
        self.cancelled = cancelled
        """Set when the operator interrupts; cleared when the next operation begins."""
        self._endpoint_url = access.endpoint_url
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], Any] = {}
        self._caller: dict[str, str] = {}
        self._session = session.isolated(access.access_key, access.secret_key)

    def client(self, service: str, region: str) -> Any:
        """Return the client of *service* in *region*."""
        with self._lock:
            key = (service, region)
            if key not in self._clients:
                self._clients[key] = self._session.client(
                    service, region_name=region, endpoint_url=self._endpoint_url, config=_config()
                )
            return self._clients[key]

    def caller(self, region: str) -> dict[str, str]:
        """Ask STS once who is calling."""
        if not self._caller:
            reply = self.client("sts", region).get_caller_identity()
            self._caller = {name: reply[name] for name in ("Account", "Arn", "UserId")}
        return self._caller

    def partition(self, region: str) -> str:
        """Return the partition that *region* belongs to."""
        return str(self._session.get_partition_for_region(region))


def _config() -> Any:
    return botocore.config.Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
        max_pool_connections=CONNECTIONS,
    )
