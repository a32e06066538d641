"""
What moto 5.2.5 lacks of scheduled copies: Data Lifecycle Manager, selections of AWS Backup, an update of its plans.

Part of the AWS emulator: it is a proxy in front of moto and answers these calls itself. Policies, plans and selections
are kept as they were sent; **nothing is ever copied**, for nothing here runs by the clock. An account's limits and the
checks of shape that the SDK makes before it sends are not repeated.

Source of paths, names and refusals: API models of DLM and AWS Backup in botocore 1.44.5; Amazon DLM API reference and
AWS Backup developer guide, 2026-11.
"""

import datetime as dt
import json
import re
import threading
import urllib.parse
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from nomad_csi_sandbox import guard
from nomad_csi_sandbox.aws import throttle

POLICY_LIMIT = 100
"""Policies of an account in a region. Source: Amazon DLM API reference, ``CreateLifecyclePolicy``, 2026-11."""

ACCOUNT = "123456789012"
"""moto's account. Source: moto 5.2.5, ``moto/core/models.py`` (``DEFAULT_ACCOUNT_ID``)."""

_PLAN = re.compile(r"/backup/plans/(?P<plan>[^/]+)/?")
_SELECTIONS = re.compile(r"/backup/plans/(?P<plan>[^/]+)/selections/?")
_SELECTION = re.compile(r"/backup/plans/(?P<plan>[^/]+)/selections/(?P<id>[^/]+)/?")
_POLICY = re.compile(r"/policies/(?P<id>[^/]+)/?")
_TAGS = re.compile(r"/tags/(?P<arn>arn:[^/]*:dlm:.+)")


class RefusedError(Exception):
    """What AWS would refuse: a code of the service's own and a sentence."""

    def __init__(self, status: HTTPStatus, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass
class Snapshots:
    """A WSGI application that keeps policies and selections and hands every other call on to *behind*."""

    behind: guard.Application
    _policies: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    _selections: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, environment: guard.Environment, start_response: guard.StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        region, service = throttle.scope(environment)
        with self._lock:
            try:
                found = self._answer(environment, service, region)
            except RefusedError as refusal:
                body = {"__type": refusal.code, "Code": refusal.code, "Message": str(refusal), "message": str(refusal)}
                return throttle.answer(start_response, refusal.status, json.dumps(body), "application/json")
        if found is None:
            return self.behind(environment, start_response)
        return throttle.answer(start_response, HTTPStatus.OK, json.dumps(found), "application/json")

    def _answer(self, environment: guard.Environment, service: str, region: str) -> Mapping[str, Any] | None:
        method, path = environment["REQUEST_METHOD"], urllib.parse.unquote(environment["PATH_INFO"])
        if service == "dlm":
            return self._dlm(method, path, environment, region)
        if service == "backup":
            return self._backup(method, path, environment, region)
        return None

    # --- Data Lifecycle Manager
    def _dlm(self, method: str, path: str, environment: guard.Environment, region: str) -> Mapping[str, Any]:
        if (method, path) == ("POST", "/policies"):
            return self._create_policy(_json(environment), region)
        if match := _TAGS.fullmatch(path):
            policy = self._policy(region, match["arn"].rpartition("/")[2])
            if method == "POST":
                policy["Tags"] = {**policy["Tags"], **_json(environment)["Tags"]}
            elif method == "DELETE":
                dropped = urllib.parse.parse_qs(environment.get("QUERY_STRING", ""))["tagKeys"]
                policy["Tags"] = {key: value for key, value in policy["Tags"].items() if key not in dropped}
            return {"Tags": policy["Tags"]}
        if match := _POLICY.fullmatch(path):
            return self._one_policy(method, match["id"], environment, region)
        raise RefusedError(HTTPStatus.BAD_REQUEST, "InvalidRequestException", f"{method} {path} is not known here")

    def _create_policy(self, sent: Mapping[str, Any], region: str) -> Mapping[str, Any]:
        if sum(place == region for place, _ in self._policies) >= POLICY_LIMIT:
            message = f"Limit of {POLICY_LIMIT} policies exceeded"
            raise RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "LimitExceededException", message)
        name = f"policy-0{uuid.uuid4().hex[:16]}"
        now = _now()
        self._policies[region, name] = {
            "PolicyId": name,
            "PolicyArn": f"arn:aws:dlm:{region}:{ACCOUNT}:policy/{name}",
            "Description": sent["Description"],
            "State": sent["State"],
            "ExecutionRoleArn": sent["ExecutionRoleArn"],
            "PolicyDetails": {"PolicyType": "EBS_SNAPSHOT_MANAGEMENT", **sent["PolicyDetails"]},
            "Tags": sent.get("Tags") or {},
            "DateCreated": now,
            "DateModified": now,
        }
        return {"PolicyId": name}

    def _one_policy(self, method: str, name: str, environment: guard.Environment, region: str) -> Mapping[str, Any]:
        policy = self._policy(region, name)
        if method == "DELETE":
            del self._policies[region, name]
            return {}
        if method == "PATCH":
            sent = _json(environment)
            _refuse_other_kind(policy["PolicyDetails"], sent.get("PolicyDetails") or {})
            for key in ("Description", "State", "ExecutionRoleArn"):
                policy[key] = sent.get(key) or policy[key]
            policy["PolicyDetails"] |= sent.get("PolicyDetails") or {}
            policy["DateModified"] = _now()
            return {}
        return {"Policy": policy}

    def _policy(self, region: str, name: str) -> dict[str, Any]:
        if (region, name) not in self._policies:
            raise RefusedError(HTTPStatus.NOT_FOUND, "ResourceNotFoundException", f"The policy {name} does not exist.")
        return self._policies[region, name]

    # --- AWS Backup
    def _backup(self, method: str, path: str, environment: guard.Environment, region: str) -> Mapping[str, Any] | None:
        if method == "PUT" and (match := _SELECTIONS.fullmatch(path)):
            name = str(uuid.uuid4())
            kept = {
                "SelectionId": name,
                "BackupPlanId": match["plan"],
                "BackupSelection": _json(environment)["BackupSelection"],
                "CreationDate": _epoch(),
            }
            self._selections[region, match["plan"], name] = kept
            return {key: kept[key] for key in ("SelectionId", "BackupPlanId", "CreationDate")}
        if match := _SELECTION.fullmatch(path):
            return self._one_selection(method, (region, match["plan"], match["id"]))
        if (match := _PLAN.fullmatch(path)) and method == "DELETE":
            self._refuse_plan_in_use(region, match["plan"])
        elif match and method == "POST":
            return _update_plan(match["plan"], _json(environment), region)
        return None

    def _one_selection(self, method: str, key: tuple[str, str, str]) -> Mapping[str, Any]:
        if key not in self._selections:
            message = f"Cannot find Backup selection with the given id {key[2]}"
            raise RefusedError(HTTPStatus.BAD_REQUEST, "ResourceNotFoundException", message)
        return self._selections.pop(key) if method == "DELETE" else self._selections[key]

    def _refuse_plan_in_use(self, region: str, plan: str) -> None:
        if any((place, name) == (region, plan) for place, name, _ in self._selections):
            message = "Related backup plan selections must be deleted prior to backup plan deletion"
            raise RefusedError(HTTPStatus.BAD_REQUEST, "InvalidRequestException", message)


def _refuse_other_kind(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Refuse to turn what is kept by number into what is kept by age. Source: EBS user guide, "Modify ... policies"."""
    kinds = [[("Count" in item["RetainRule"]) for item in details.get("Schedules") or ()] for details in (old, new)]
    if kinds[1] and kinds[0] != kinds[1]:
        message = "Changing the retention type of a schedule from count-based to age-based is not supported"
        raise RefusedError(HTTPStatus.BAD_REQUEST, "InvalidRequestException", message)


def _update_plan(plan: str, sent: Mapping[str, Any], region: str) -> Mapping[str, Any] | None:
    """Change a plan where moto keeps it; ``None`` lets moto say that it has no such plan."""
    from moto.backup import models  # noqa: PLC0415  # moto reads its settings while it is imported, see `server`

    found = models.backup_backends[ACCOUNT][region].plans.get(plan)
    if found is None or found.deletion_date is not None:
        message = f"Failed reading Backup plan with provided id {plan}"
        raise RefusedError(HTTPStatus.BAD_REQUEST, "ResourceNotFoundException", message)
    found.backup_plan = sent["BackupPlan"]
    found.version_id = uuid.uuid4().hex
    return {
        "BackupPlanId": plan,
        "BackupPlanArn": found.backup_plan_arn,
        "CreationDate": found.creation_date,
        "VersionId": found.version_id,
    }


def _json(environment: guard.Environment) -> dict[str, Any]:
    return dict(json.loads(throttle.body(environment)))


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _epoch() -> float:
    return dt.datetime.now(dt.UTC).timestamp()
