"""Registering, reading, stopping and purging jobs."""

import pytest

from nomad_csi.nomad import jobs


@pytest.fixture
def registered(client, ran, waiting, fresh):
    """A job that waits for a place, its parsed form and its source."""
    job_id = fresh("job")
    source = waiting(job_id, top='meta {\n owner = "me"\n}')
    ran(job_id, source)
    return jobs.parse(client, source), source


def test_registered_job_reads_back(agent, client, registered):
    """Identity, first version, meta, and all datacenters where none is named."""
    document, source = registered

    found = jobs.get(client, "default", document["ID"])

    assert (found.job_id, found.namespace, found.type) == (document["ID"], "default", "service")
    assert (found.stopped, found.version, found.meta) == (False, 0, {"owner": "me"})
    assert jobs.source(client, "default", document["ID"], 0) == source
    assert agent.get(f"/v1/job/{document['ID']}")["Datacenters"] == ["*"]


@pytest.mark.parametrize(
    ("exists", "index", "text"),
    [
        (True, 0, "Enforcing job modify index 0: job already exists"),
        (True, 999_999, "Enforcing job modify index 999999: job exists with conflicting job modify index: {index}"),
        (False, 5, "Enforcing job modify index 5: job does not exist"),
    ],
)
def test_registration_against_another_index_is_refused(agent, registered, fresh, exists, index, text):
    """The sentence by which the product knows that someone else changed the job."""
    document, _ = registered
    current = agent.get(f"/v1/job/{document['ID']}")["JobModifyIndex"]
    if not exists:
        document |= {"ID": fresh("absent")}

    body = {"Job": document, "EnforceIndex": True, "JobModifyIndex": index}

    assert agent.refused("POST", "/v1/jobs", body) == (500, text.format(index=current))


@pytest.mark.parametrize("is_stopped", [False, True])
def test_type_of_a_job_is_planned_and_not_changed(agent, client, registered, waiting, is_stopped):
    """Not of a stopped one either; only a purge makes room for another type."""
    job_id = registered[0]["ID"]
    other = jobs.parse(client, waiting(job_id, kind="system"))
    if is_stopped:
        jobs.stop(client, "default", job_id, purge=False)

    planned = jobs.plan(client, other)

    assert planned.diff_type == "Edited"
    assert "Type: service -> system" in planned.changes
    refusal = (500, 'cannot update job from type "service" to "system"')
    assert agent.refused("POST", "/v1/jobs", {"Job": other}) == refusal
    jobs.stop(client, "default", job_id, purge=True)
    assert "EvalID" in agent.call("POST", "/v1/jobs", {"Job": other})[1]


def until_evaluated(agent, document):
    """Return the job as soon as it waits for a place."""
    status = "running" if agent.has("waiting-job-runs") else "pending"
    return agent.until(lambda: agent.get(f"/v1/job/{document['ID']}"), lambda found: found["Status"] == status)


def test_unchanged_registration_makes_no_version(agent, client, registered):
    """The reply's job index is none that a later call could enforce."""
    document, source = registered
    before = until_evaluated(agent, document)

    reply = agent.run(source)

    after = jobs.get(client, "default", document["ID"])
    assert (after.version, after.job_modify_index) == (0, before["JobModifyIndex"])
    assert reply["JobModifyIndex"] == before["ModifyIndex"]
    assert reply["Index"] > before["ModifyIndex"]


@pytest.mark.parametrize("is_stopped", [False, True])
def test_evaluation_of_a_change_can_be_read_until_it_is_complete(agent, ran, waiting, fresh, is_stopped):
    """The `nomad` command does so after a change of a job, and fails where there is none."""
    job_id = fresh("job")
    reply = ran(job_id, waiting(job_id))
    if is_stopped:
        _, reply, _ = agent.call("DELETE", f"/v1/job/{job_id}")
    path = f"/v1/evaluation/{reply['EvalID']}"

    agent.until(lambda: agent.get(path), lambda found: found["Status"] == "complete")

    found = agent.get(path)
    cause = "job-deregister" if is_stopped else "job-register"
    assert (found["JobID"], found["TriggeredBy"], found["Type"]) == (job_id, cause, "service")
    assert agent.get(f"{path}/allocations") == []
    assert reply["EvalID"] in {item["ID"] for item in agent.get(f"/v1/job/{job_id}/evaluations")}


def test_stopped_job_stays_with_its_source(agent, client, registered):
    """A stop is a version of its own; the source of the one before goes with it."""
    document, source = registered

    jobs.stop(client, "default", document["ID"], purge=False)

    agent.until(lambda: agent.get(f"/v1/job/{document['ID']}"), lambda found: found["Status"] == "dead")
    found = jobs.get(client, "default", document["ID"])
    assert (found.stopped, found.version) == (True, 1)
    assert jobs.source(client, "default", document["ID"], 1) == source


def test_purged_job_is_gone(client, registered):
    """With its source."""
    document, _ = registered

    jobs.stop(client, "default", document["ID"], purge=True)

    assert jobs.get(client, "default", document["ID"]) is None
    assert jobs.source(client, "default", document["ID"], 0) is None


@pytest.mark.parametrize("purge", [True, False])
def test_stop_of_an_absent_job_is_no_error(agent, client, fresh, purge):
    """A reply like any other."""
    job_id = fresh("absent")

    jobs.stop(client, "default", job_id, purge=purge)

    status, reply, _ = agent.call("DELETE", f"/v1/job/{job_id}?purge={str(purge).lower()}")
    assert (status, reply["VolumeEvalID"], reply["VolumeEvalIndex"]) == (200, "", 0)


def test_absent_job_has_no_allocations(client, fresh):
    """An empty list, not a refusal."""
    assert jobs.allocations(client, "default", fresh("absent")) == ()


def test_list_of_jobs_covers_all_namespaces(agent, ran, waiting, fresh):
    """With ``*``, and each stub names its own."""
    job_id = fresh("job")
    source = waiting(job_id, top='namespace = "storage"')
    ran(job_id, source)

    listed = {item["ID"]: item["Namespace"] for item in agent.get("/v1/jobs?namespace=*")}

    agent.call("DELETE", f"/v1/job/{job_id}?namespace=storage&purge=true")
    assert (listed[job_id], listed["plugin-efs"]) == ("storage", "default")


def test_job_whose_id_has_parts_is_a_job_like_others(agent, client, ran, waiting, fresh):
    """Read, planned, listed with its allocations and its source, stopped: as a run of a periodic job is called."""
    job_id = f"{fresh('parent')}/periodic-1767225600"
    source = waiting(job_id)
    ran(job_id, source)
    document = jobs.parse(client, source)

    found = jobs.get(client, "default", job_id)
    planned = jobs.plan(client, document)
    allocations = agent.until(lambda: agent.get(f"/v1/job/{job_id.replace('/', '%2F')}/summary"), bool)
    jobs.stop(client, "default", job_id, purge=True)

    assert (found.job_id, found.stopped) == (job_id, False)
    assert planned.diff_type == "None"
    assert allocations["JobID"] == job_id
    assert jobs.allocations(client, "default", job_id) == ()
    assert jobs.get(client, "default", job_id) is None
