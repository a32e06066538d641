"""Bodies compared part by part: keys and kinds of values, side by side and with what a real agent once said."""

import re

import pytest

from tests.contract import deviations

ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
KINDS = {type(None): "null", bool: "bool", int: "number", float: "number", str: "text"}
LABELLED = frozenset(
    {"ControllerJobs", "DesiredTGUpdates", "FailedTGAllocs", "NodeJobs", "Summary", "TaskStates", "default"}
)
"""Keys whose objects have ids or names of someone's choice as keys."""

OPTIONAL = frozenset({"Details", "ConstraintFiltered", "NodesAvailable", "Updates", "Meta", "Context", "Segments"})
"""Maps of any keys to texts or numbers: their values are the business of other tests."""

EVENTFUL = frozenset({"LastRestart"})
"""Times that are null until something happens, which a busy machine can bring about on one side alone."""

NEWEST = "fields-of-2.0.3"
ROUTES = (
    ("GET /v1/agent/health", "/v1/agent/health"),
    ("GET /v1/regions", "/v1/regions"),
    ("GET /v1/namespaces", "/v1/namespaces"),
    ("GET /v1/namespace/:name", "/v1/namespace/default"),
    ("GET /v1/node/pools", "/v1/node/pools"),
    ("GET /v1/nodes", "/v1/nodes"),
    ("GET /v1/plugins", "/v1/plugins?type=csi"),
    ("GET /v1/plugin/csi/:id", "/v1/plugin/csi/efs"),
    ("GET /v1/plugin/csi/:id", "/v1/plugin/csi/ebs"),
    ("GET /v1/plugin/csi/:id (never healthy)", "/v1/plugin/csi/mute"),
    ("GET /v1/volumes", "/v1/volumes?type=csi&prefix=zoned"),
    ("GET /v1/volume/csi/:id", "/v1/volume/csi/zoned"),
    ("GET /v1/volume/csi/:id", "/v1/volume/csi/used"),
    ("GET /v1/jobs", "/v1/jobs?prefix=plugin-e"),
    ("GET /v1/job/:id", "/v1/job/plugin-efs"),
    ("GET /v1/job/:id", "/v1/job/plugin-ebs-controller"),
    ("GET /v1/job/:id", "/v1/job/user"),
    ("GET /v1/job/:id/allocations", "/v1/job/plugin-efs/allocations"),
    ("GET /v1/job/:id/submission", "/v1/job/plugin-efs/submission?version=0"),
    ("GET /v1/job/:id/summary", "/v1/job/plugin-efs/summary"),
    ("GET /v1/acl/token/self", "/v1/acl/token/self"),
)


def parts(document, where=""):
    """Yield the path and the kind of everything in *document*."""
    if isinstance(document, dict):
        yield where, "object"
        below = document.items() if where.rsplit(".", 1)[-1] not in OPTIONAL else ()
        for key, value in below:
            label = "*" if where.rsplit(".", 1)[-1] in LABELLED or ID.fullmatch(key) else key
            yield from parts(value, f"{where}.{label}")
    elif isinstance(document, list):
        yield where, "list"
        for item in document:
            yield from parts(item, f"{where}[]")
    else:
        kind = KINDS[type(document)]
        yield where, "time" if where.rsplit(".", 1)[-1] in EVENTFUL and kind in {"null", "text"} else kind


def differences(one, other):
    """Return the paths that only one has, or whose values are of other kinds."""
    return {path for path, _ in set(parts(one)) ^ set(parts(other))}


def unlisted(route, found):
    """Return the differences *found* of a route that the list does not have, and its lines that are no differences."""
    lines = [item for item in deviations.SHAPES if route in item.routes]
    unknown = {path for path in found if not any(is_below(path, item.where) for item in lines)}
    idle = [item for item in lines if not any(is_below(path, item.where) for path in found)]
    return unknown, {item.where for item in idle if not item.is_of_a_machine}


@pytest.fixture(scope="package")
def newest(side_by_side):
    """Both sides, where the real agent is of the release that the emulator answers as: older ones have fewer fields."""
    _, real = side_by_side
    if not real.has(NEWEST):
        pytest.skip("not verified: bodies are compared with the newest release only")
    return side_by_side


@pytest.fixture(scope="package")
def judged(newest):
    """Both sides, once the real agent has judged all deployments: for 10 s after the start of a task it says null too."""
    _, real = newest
    for job_id in ("plugin-efs", "plugin-ebs-controller", "user", "zoned-user"):
        path = f"/v1/job/{job_id}/allocations"
        real.until(lambda path=path: real.get(path), lambda found: all(each["DeploymentStatus"] for each in found))
    return newest


def is_below(path, where):
    """Return whether *path* is *where*, or a part of it."""
    return path == where or path.startswith((f"{where}.", f"{where}["))


@pytest.mark.real_nomad
@pytest.mark.parametrize(("route", "path"), ROUTES)
def test_bodies_have_the_same_parts(judged, route, path):
    """Every key and the kind of every value, but for the list of deviations; and that list has no idle line."""
    emulator, real = judged

    found = differences(emulator.get(path), real.get(path))

    assert unlisted(route, found) == (set(), set())


@pytest.mark.real_nomad
@pytest.mark.parametrize(
    "parts_of_job", [{}, {"driver": "docker"}, {"driver": "docker", "kind": "system"}, {"kind": "system"}]
)
def test_plans_are_the_same(newest, job, fresh, parts_of_job):
    """Every value of the difference, and every part of the rest."""
    job_id = fresh("plan")
    ours, theirs = (agent.parse(job(job_id, **parts_of_job)) for agent in newest)

    body = {"Job": theirs, "Diff": True}
    emulator, real = (agent.call("POST", f"/v1/job/{job_id}/plan", body)[1] for agent in newest)

    assert ours == theirs
    assert unlisted(deviations.PLAN, differences(emulator, real))[0] == set()
    assert (emulator["Diff"], emulator["Annotations"]) == (real["Diff"], real["Annotations"])
