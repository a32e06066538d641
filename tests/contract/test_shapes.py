"""Bodies compared part by part: keys and kinds of values, side by side and with what a real agent once said."""

import json
import re
from pathlib import Path

import pytest

RECORDINGS = Path(__file__).parents[1] / "nomad" / "recordings"
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
KINDS = {type(None): "null", bool: "bool", int: "number", float: "number", str: "text"}
LABELLED = frozenset(
    {"ControllerJobs", "DesiredTGUpdates", "FailedTGAllocs", "NodeJobs", "Summary", "TaskStates", "default"}
)
"""Keys whose objects have ids or names of somebody's choice as keys."""

OPTIONAL = frozenset({"Details", "ConstraintFiltered", "NodesAvailable", "Updates", "Meta", "Context", "Segments"})
"""Maps of any keys to texts or numbers: their values are the business of other tests."""

EVENTFUL = frozenset({"LastRestart"})
"""Times that are null until something happens, which a busy machine can bring about on one side alone."""

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
)

RECORDED = (
    ("/v1/agent/health", "00-agent-health"),
    ("/v1/regions", "00-regions"),
    ("/v1/namespaces", "00-namespaces"),
    ("/v1/node/pools", "00-node-pools"),
    ("/v1/plugins?type=csi", "02-plugins-healthy"),
    ("/v1/volumes?type=csi&prefix=zoned", "03-volumes-list"),
    ("/v1/job/plugin-efs", "02-job"),
    ("/v1/job/plugin-efs/submission?version=0", "02-job-submission"),
    ("/v1/job/plugin-efs/summary", "02-job-summary"),
)


RECORDED_OTHERWISE = {"03-volumes-list": {"[].Topologies[]"}}
"""What a recording has otherwise because it is of another volume: one that its plugin created has a null there."""


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


@pytest.fixture
def unlisted(side_by_side, known_deviations):
    """Return the differences of a route that the list does not have, and its lines that are no differences."""
    _, real = side_by_side

    def must_differ(item):
        return not item.is_of_a_machine and (not item.since or real.has(item.since))

    def compare(route, found):
        lines = [item for item in known_deviations.SHAPES if route in item.routes]
        unknown = {path for path in found if not any(is_below(path, item.where) for item in lines)}
        idle = [item for item in lines if not any(is_below(path, item.where) for path in found)]
        return unknown, {item.where for item in idle if must_differ(item)}

    return compare


@pytest.fixture(scope="package")
def judged(side_by_side):
    """Both sides, once the real agent has judged all deployments: for 10 s after the start of a task it says null too."""
    _, real = side_by_side
    system = ("plugin-efs",) if real.has("system-deployments") else ()
    for job_id in (*system, "plugin-ebs-controller", "user", "zoned-user"):
        path = f"/v1/job/{job_id}/allocations"
        real.until(lambda path=path: real.get(path), lambda found: all(each["DeploymentStatus"] for each in found))
    return side_by_side


def is_below(path, where):
    """Tell whether *path* is *where*, or a part of it."""
    return path == where or path.startswith((f"{where}.", f"{where}["))


@pytest.mark.real_nomad
@pytest.mark.parametrize(("route", "path"), ROUTES)
def test_bodies_have_the_same_parts(judged, unlisted, known_deviations, route, path):
    """Every key and the kind of every value, but for the list of deviations; and that list has no idle line."""
    emulator, real = judged

    found = differences(*known_deviations.as_of(real, route, emulator.get(path), real.get(path)))

    assert unlisted(route, found) == (set(), set())


@pytest.mark.real_nomad
@pytest.mark.parametrize(
    "parts_of_job", [{}, {"driver": "docker"}, {"driver": "docker", "kind": "system"}, {"kind": "system"}]
)
def test_plans_are_the_same(side_by_side, unlisted, known_deviations, job, fresh, parts_of_job):
    """Every value of the difference, and every part of the rest."""
    job_id = fresh("plan")
    documents = [agent.parse(job(job_id, **parts_of_job)) for agent in side_by_side]

    body = {"Job": documents[1], "Diff": True}
    emulator, real = (agent.call("POST", f"/v1/job/{job_id}/plan", body)[1] for agent in side_by_side)
    bodies = known_deviations.as_of(side_by_side[1], known_deviations.PLAN, emulator, real)

    unknown, _ = unlisted(known_deviations.PLAN, differences(*bodies))
    ours, theirs = known_deviations.as_of(side_by_side[1], known_deviations.JOB, *documents)
    assert ours == theirs
    assert unknown == set()
    diffs = [known_deviations.diff_as_of(side_by_side[1], ours, body["Diff"]) for body in bodies]
    assert (diffs[0], bodies[0]["Annotations"]) == (diffs[1], bodies[1]["Annotations"])


@pytest.mark.real_nomad
def test_line_on_plans_is_still_true(side_by_side, unlisted, known_deviations, job, fresh):
    """A group without a place makes a real agent show the evaluation that would wait."""
    job_id = fresh("plan")
    body = {"Job": side_by_side[0].parse(job(job_id, driver="docker")), "Diff": True}

    emulator, real = (agent.call("POST", f"/v1/job/{job_id}/plan", body)[1] for agent in side_by_side)

    bodies = known_deviations.as_of(side_by_side[1], known_deviations.PLAN, emulator, real)
    assert unlisted(known_deviations.PLAN, differences(*bodies)) == (set(), set())


@pytest.mark.parametrize(("path", "name"), RECORDED)
def test_emulator_has_the_recorded_parts(emulator_world, path, name):
    """Where no real agent is at hand, what one said has to do."""
    recorded = json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))

    found = differences(emulator_world.agent.get(path), recorded)

    assert found - RECORDED_OTHERWISE.get(name, set()) == set()
