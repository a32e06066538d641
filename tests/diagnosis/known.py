"""Facts that are given instead of read: everything was asked, and nothing is there."""

import types

from nomad_csi.diagnosis import facts, judge
from nomad_csi.findings import Finding
from nomad_csi.nomad import token_rights, volumes

EMPTY = {
    "servers": (),
    "clients": (),
    "plugins": {},
    "tasks": (),
    "plugin_jobs": facts.ObservedPluginJobs(),
    "volumes": (),
    "registered": {},
    "owner_records": {},
    "claimed": (),
    "claims": (),
    "claims_read": volumes.Read(),
    "failed_mounts": facts.FailedMounts(),
    "attachments": None,
    "token": token_rights.AclToken(name="root", is_unlimited=True),
    "observed": (),
    "statuses": (),
    "account": None,
    "storage": None,
    "instance_ids": {},
    "external_ids": {},
}


def known(*, now_ns=0, **parts):
    """Return facts with these *parts*."""
    found = object.__new__(facts.Facts)
    vars(found).update(EMPTY | {"client": types.SimpleNamespace(now_ns=now_ns)} | parts)
    return found


def findings(found, *commands):
    """Return what the rules of *commands* find."""
    return [item for item in judge.outcomes(found, *commands) if isinstance(item, Finding)]
