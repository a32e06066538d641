"""What an instance of a plugin, or a plugin, can be found to be: the statuses, and the findings that lead to them."""

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

State = Literal[
    "wrong-identity",
    "wrong-capability",
    "wrong-zone",
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
The gravest first: what waiting heals least.

``healthy``: it is what the plan wants, and says so;
``missing``: there is none where one must be;
``starting``: its task runs or is being prepared, nothing went wrong yet, and it has given no healthy answer;
``unhealthy``: it answers that it is not well, or its task cannot run;
``hung``: its process is there and does not answer;
``flapping``: it was well and fell, several times within minutes;
``restarted``: its task ended and runs again, and nobody has heard of it since, whatever Nomad calls it;
``outdated``: it runs an older version of its job;
``duplicate``: the plugin runs twice on the client, and Nomad knows one of both;
``wrong-identity``: it answers another name or version than the plan has;
``wrong-zone``: it reports another zone than its client is in;
``wrong-capability``: it cannot do what the plan needs.
"""

HEALTHY: State = "healthy"
PARTIAL = "partial"
"""Of a plugin: some of the instances that must be there are healthy, and some are not."""

UNVERIFIED = "unverified"
"""Of a plugin: Nomad calls every instance healthy, and the plan wants their own word."""

OF_CODE: Mapping[str, State] = {
    "instance-capability-missing": "wrong-capability",
    "controller-missing": "missing",
    "controller-starting": "starting",
    "csi-failed": "unhealthy",
    "instance-duplicate": "duplicate",
    "instance-flapping": "flapping",
    "instance-hung": "hung",
    "instance-missing": "missing",
    "instance-outdated": "outdated",
    "instance-replaced": "restarted",
    "instance-restarted": "restarted",
    "instance-starting": "starting",
    "instance-unhealthy": "unhealthy",
    "job-missing": "missing",
    "node-missing": "missing",
    "plugin-missing": "missing",
    "provider-differs": "wrong-identity",
    "version-differs": "wrong-identity",
    "instance-zone-differs": "wrong-zone",
}
"""Code of a finding -> the status that it leads to."""


def gravest(found: Iterable[State]) -> State:
    """Return the gravest of *found*; ``healthy`` where nothing is wrong."""
    there = set(found)
    return next((state for state in get_args(State) if state in there), HEALTHY)
