"""Health statuses of plugins and of their instances, and the findings that lead to them."""

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

State = Literal[
    "wrong-identity",
    "wrong-capability",
    "duplicate",
    "hung",
    "flapping",
    "unhealthy",
    "restarted",
    "missing",
    "outdated",
    "starting",
    "healthy",
]
"""
The most severe first: the one that waiting resolves least.

``healthy``: it matches the plan and reports healthy;
``missing``: an expected instance does not exist; one that another job runs is none;
``starting``: its task runs or is being prepared, nothing went wrong yet, and it has not reported healthy yet;
``unhealthy``: it reports that it is unhealthy, or its task cannot run;
``hung``: its process exists and does not respond;
``flapping``: it became unhealthy several times within minutes;
``restarted``: its task restarted, and there is no health report since, whatever status Nomad shows;
``outdated``: it runs an older version of its job;
``duplicate``: the plugin runs twice on the client, and Nomad lists one of the two instances;
``wrong-identity``: it reports another name or version than the plan has;
``wrong-capability``: it lacks a capability that the plan needs.
"""

HEALTHY: State = "healthy"
PARTIAL = "partial"
"""Status of a plugin: some of the expected instances are healthy, and some are not."""

UNVERIFIED = "unverified"
"""Status of a plugin: Nomad reports every instance healthy, but the plan requires CSI probe results."""

OF_CODE: Mapping[str, State] = {
    "instance-capability-missing": "wrong-capability",
    "controller-missing": "missing",
    "controllers-exceed-nodes": "missing",
    "csi-failed": "unhealthy",
    "instance-duplicate": "duplicate",
    "instance-flapping": "flapping",
    "instance-hung": "hung",
    "instance-missing": "missing",
    "instances-exceed-nodes": "missing",
    "instance-outdated": "outdated",
    "instance-restarted": "restarted",
    "instance-starting": "starting",
    "instance-unhealthy": "unhealthy",
    "job-foreign": "missing",
    "job-missing": "missing",
    "no-eligible-node": "missing",
    "node-missing": "missing",
    "nothing-expected": "missing",
    "plugin-missing": "missing",
    "provider-differs": "wrong-identity",
    "version-differs": "wrong-identity",
}
"""Code of a finding -> the status that it leads to."""


def gravest(states: Iterable[State]) -> State:
    """Return the most severe status of *states*; ``healthy`` if it is empty."""
    present = set(states)
    return next((state for state in get_args(State) if state in present), HEALTHY)
