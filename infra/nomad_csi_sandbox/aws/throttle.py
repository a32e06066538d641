"""
What an account's request limits do: a share of a service's calls is refused, and every call is counted.

Part of the AWS emulator: it is a proxy in front of moto, which refuses nothing for being asked too often. Off until it
is told otherwise: ``PUT /nomad-csi-sandbox/throttle`` with ``{"service": "ec2", "share": 0.3, "seed": 1}``. What was
asked is the answer of ``GET /nomad-csi-sandbox/calls``, and ``DELETE`` of the same path begins to count again.

Source of code, status and sentence: Amazon EC2 API reference, "Error codes" (``RequestLimitExceeded``), and "Request
throttling", 2026-11. Which calls are refused is drawn, with a seed; EC2 counts tokens in buckets.
"""

import collections
import io
import json
import random
import threading
import urllib.parse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from nomad_csi_sandbox.guard import Application, Environment, StartResponse

THROTTLE_PATH = "/nomad-csi-sandbox/throttle"
CALLS_PATH = "/nomad-csi-sandbox/calls"

REFUSAL = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error><Code>RequestLimitExceeded</Code>'
    "<Message>Request limit exceeded.</Message></Error></Errors>"
    "<RequestID>00000000-0000-0000-0000-000000000000</RequestID></Response>"
)
"""What EC2 answers; services that speak JSON answer otherwise, so only EC2's calls are refused."""

SERVICES = ("ec2",)
"""Services whose calls can be refused."""


@dataclass
class Throttle:
    """A WSGI application that counts calls, refuses some and hands the others on to *behind*."""

    behind: Application
    service: str = "ec2"
    share: float = 0.0
    """Of the calls of *service*, how many are refused: 0 to 1."""

    _random: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311  # chance, no secret
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _asked: collections.Counter[str] = field(default_factory=collections.Counter)
    _refused: collections.Counter[str] = field(default_factory=collections.Counter)

    def __call__(self, environment: Environment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        path = environment.get("PATH_INFO", "")
        if path in (THROTTLE_PATH, CALLS_PATH):
            return self._administer(environment, start_response)
        service, action = _call(environment)
        if self._is_refused(service, action):
            return answer(start_response, HTTPStatus.SERVICE_UNAVAILABLE, REFUSAL, "text/xml;charset=UTF-8")
        return self.behind(environment, start_response)

    def _is_refused(self, service: str, action: str) -> bool:
        with self._lock:
            self._asked[f"{service} {action}"] += 1
            refused = service == self.service and self._random.random() < self.share
            if refused:
                self._refused[f"{service} {action}"] += 1
            return refused

    def _administer(self, environment: Environment, start_response: StartResponse) -> Iterable[bytes]:
        method, path = environment["REQUEST_METHOD"], environment["PATH_INFO"]
        with self._lock:
            if (method, path) == ("PUT", THROTTLE_PATH):
                try:
                    self._set(json.loads(body(environment)))
                except (KeyError, TypeError, ValueError) as error:
                    text = f'expected {{"service": "ec2", "share": 0 to 1, "seed": a number}}: {error}'
                    return answer(start_response, HTTPStatus.BAD_REQUEST, text, "text/plain")
            elif (method, path) == ("DELETE", CALLS_PATH):
                self._asked.clear()
                self._refused.clear()
            elif (method, path) != ("GET", CALLS_PATH):
                return answer(start_response, HTTPStatus.METHOD_NOT_ALLOWED, "", "text/plain")
            counts = {"asked": dict(self._asked), "refused": dict(self._refused)}
        return answer(start_response, HTTPStatus.OK, json.dumps(counts), "application/json")

    def _set(self, wanted: Mapping[str, Any]) -> None:
        share, service = float(wanted["share"]), wanted.get("service", "ec2")
        if not 0 <= share <= 1 or service not in SERVICES:
            raise ValueError(f"got {dict(wanted)}")
        self.service, self.share = service, share
        self._random.seed(wanted.get("seed", 0))


def _call(environment: Environment) -> tuple[str, str]:
    """Return service and action of a request: ``("ec2", "DescribeVolumes")``, or the method where it names none."""
    service = scope(environment)[1]
    target = environment.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
    if not target and environment.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
        target = "".join(urllib.parse.parse_qs(body(environment).decode()).get("Action", ()))
    return service, target or f"{environment['REQUEST_METHOD']} {environment.get('PATH_INFO', '')}"


def scope(environment: Environment) -> tuple[str, str]:
    """Return region and service that a request is signed for; ``("", "unsigned")`` where it is not."""
    parts = environment.get("HTTP_AUTHORIZATION", "").partition("Credential=")[2].partition(",")[0].split("/")
    return (parts[2], parts[3]) if len(parts) > 3 else ("", "unsigned")  # noqa: PLR2004  # key/date/region/service


def body(environment: Environment) -> bytes:
    """Return the body of the request, and leave it there for who comes after."""
    content = bytes(environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0)))
    environment["wsgi.input"] = io.BytesIO(content)
    return content


def answer(start_response: StartResponse, status: HTTPStatus, text: str, kind: str) -> Iterable[bytes]:
    """Answer with *text* of the media type *kind*."""
    content = text.encode()
    start_response(f"{status.value} {status.phrase}", [("Content-Type", kind), ("Content-Length", str(len(content)))])
    return [content]
