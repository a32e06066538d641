"""
Which ACL capabilities each call needs, to say so when Nomad answers 403.

Source: hashicorp/nomad, ``nomad/csi_endpoint.go``, ``nomad/job_endpoint.go``, ``nomad/node_endpoint.go``,
``nomad/system_endpoint.go`` and ``acl/policy.go``, 2026-08-21; tried with tokens on Nomad 2.0.6-dev, 2026-08.
"""

import re

_PLUGIN_READ = 'plugin { policy = "read" } ("write" grants nothing)'

_VARIABLES = 'variables {{ path "{{path}}" {{ capabilities = ["{right}"] }} }} in namespace {{namespace}}'

_NEEDS = (
    (r"GET /v1/plugins?\b.*", _PLUGIN_READ),
    (r"GET /v1/volumes/snapshot", "csi-list-volume in namespace {namespace}"),
    (r"DELETE /v1/volumes/snapshot", f"csi-write-volume in namespace {{namespace}}, and {_PLUGIN_READ}"),
    (r"(PUT|POST) /v1/volume.*", f"csi-write-volume in namespace {{namespace}}, and {_PLUGIN_READ}"),
    (r"DELETE /v1/volume/.*/detach", f"csi-mount-volume in namespace {{namespace}}, and {_PLUGIN_READ}"),
    (r"DELETE /v1/volume/.*", "csi-write-volume in namespace {namespace}"),
    (r"GET /v1/volume/.*", "csi-read-volume in namespace {namespace}"),
    (r"GET /v1/volumes", "csi-list-volume in namespace {namespace}"),
    (r"\w+ /v1/jobs/parse", "parse-job in namespace {namespace}"),
    (r"\w+ /v1/validate/job", "read-job in namespace {namespace}"),
    (r"\w+ /v1/job/[^/]+/plan", "submit-job in namespace {namespace}"),
    (
        r"(PUT|POST) /v1/job.*",
        'submit-job in namespace {namespace}, and for a plugin job csi-register-plugin, which policy = "write" lacks',
    ),
    (r"DELETE /v1/job/.*", "submit-job in namespace {namespace}"),
    (r"GET /v1/job/.*", "read-job in namespace {namespace}"),
    (r"GET /v1/jobs", "list-jobs in namespace {namespace}"),
    (r"GET /v1/client/fs/logs/.*", "read-logs in namespace {namespace}"),
    (r"GET /v1/var/.*", _VARIABLES.format(right="read")),
    (r"PUT /v1/var/.*", _VARIABLES.format(right="write")),
    (r"DELETE /v1/var/.*", _VARIABLES.format(right="destroy")),
    (r"GET /v1/nodes?\b.*", 'node { policy = "read" }'),
    (r"PUT /v1/system/gc", "management rights"),
    (r"GET /v1/agent/self", 'agent { policy = "read" }'),
)
"""Call as a regular expression -> what the token needs. The first that fits counts."""


def needed(method: str, path: str, namespace: str) -> str:
    """Return what a token needs for the call, as a phrase; empty where this package does not know."""
    for call, needs in _NEEDS:
        if re.fullmatch(call, f"{method} {path}"):
            return needs.replace("{namespace}", namespace).replace("{path}", path.removeprefix("/v1/var/"))
    return ""
