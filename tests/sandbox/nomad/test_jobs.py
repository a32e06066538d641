"""Registering, planning and stopping jobs over HTTP."""

import pytest


def test_register_answers_with_the_recorded_keys(api, job, recording):
    """The index of a new job is its modify index."""
    status, reply, headers = api.run(job("j"))

    assert (status, set(reply)) == (200, set(recording("01-hostpath-register")))
    assert str(reply["JobModifyIndex"]) == headers["X-Nomad-Index"]


def test_read_job_has_the_recorded_keys(api, job, recording):
    """Job, list, summary, allocations and submission look like the real ones."""
    api.run(job("j", kind="system"))
    stub, _ = api.until_status("j", "running", "running")

    assert set(api.get("/v1/job/j")) == set(recording("02-job"))
    assert set(api.get("/v1/jobs")[0]) == set(recording("02-jobs-list")[0])
    assert set(api.get("/v1/job/j/summary")) == set(recording("02-job-summary"))
    assert set(stub) == set(recording("02-job-allocations")[0])
    recorded = recording("02-job-allocations")[0]["TaskStates"]["plugin"]
    assert set(stub["TaskStates"]["t"]) == set(recorded)
    assert set(stub["TaskStates"]["t"]["Events"][0]) == set(recorded["Events"][0])
    assert set(api.get("/v1/job/j/submission?version=0")) == set(recording("02-job-submission"))
    assert api.get("/v1/job/j/submission?version=0")["Source"] == job("j", kind="system")


def test_evaluation_has_the_recorded_keys(api, job, recording):
    """The `nomad` command reads it after a registration, with the allocations that it placed."""
    path = f"/v1/evaluation/{api.run(job('j', kind='system'))[1]['EvalID']}"
    stub, _ = api.until_status("j", "running", "running")

    found = api.get(path)

    assert (set(found), found["Status"]) == (set(recording("02-evaluation")), "complete")
    assert stub["ID"] in {item["ID"] for item in api.get(f"{path}/allocations")}


@pytest.mark.parametrize(
    ("exists", "index", "words"),
    [
        (True, 0, "Enforcing job modify index 0: job already exists"),
        (True, 99, "Enforcing job modify index 99: job exists with conflicting job modify index: {current}"),
        (False, 5, "Enforcing job modify index 5: job does not exist"),
    ],
)
def test_enforced_index_refuses(api, job, exists, index, words):
    """Compare and set, in Nomad's words."""
    current = api.run(job("j"))[1]["JobModifyIndex"] if exists else 0

    status, body, _ = api.run(job("j", args=["61"]), EnforceIndex=True, JobModifyIndex=index)

    assert (status, body) == (500, words.format(current=current))


def test_enforced_index_accepts_the_current_one(api, job):
    """The job changes, and its version counts on."""
    current = api.run(job("j"))[1]["JobModifyIndex"]

    status, _, _ = api.run(job("j", args=["61"]), EnforceIndex=True, JobModifyIndex=current)

    assert (status, api.get("/v1/job/j")["Version"]) == (200, 1)


def test_unchanged_register_makes_no_version(api, job):
    """The job's indexes stay; the plan says None."""
    api.run(job("j"))
    before = api.get("/v1/job/j")

    status, _, _ = api.run(job("j"))

    after = api.get("/v1/job/j")
    assert (status, after["Version"], after["JobModifyIndex"]) == (200, 0, before["JobModifyIndex"])
    _, planned, _ = api.call("POST", "/v1/job/j/plan", {"Job": api.parse(job("j")), "Diff": True})
    assert (planned["Diff"]["Type"], planned["JobModifyIndex"]) == ("None", before["JobModifyIndex"])


def test_register_refuses_an_unknown_namespace(api, job):
    """As Nomad says it."""
    status, body, _ = api.run(job("j").replace('type = "service"', 'namespace = "nope"'))

    assert (status, body) == (500, '1 error occurred:\n\t* job "j" is in nonexistent namespace "nope"\n\n')


def test_stop_keeps_the_job_and_purge_forgets_it(api, job):
    """A stopped job is dead and readable; a purged one is gone."""
    api.run(job("j"))
    api.until_status("j", "running")

    assert api.call("DELETE", "/v1/job/j")[0] == 200
    api.until(lambda: api.get("/v1/job/j"), lambda found: found["Status"] == "dead")
    assert api.get("/v1/job/j")["Stop"] is True

    assert api.call("DELETE", "/v1/job/j?purge=true")[0] == 200
    assert api.call("GET", "/v1/job/j")[0] == 404


def test_changed_job_replaces_its_allocation(api, job):
    """The old allocation ends, a new one runs."""
    api.run(job("j"))
    [old] = api.until_status("j", "running")

    api.run(job("j", args=["61"]))

    found = api.until_status("j", "complete", "running")
    assert [alloc["JobVersion"] for alloc in found if alloc["ClientStatus"] == "running"] == [1]
    assert [alloc["ID"] for alloc in found if alloc["ClientStatus"] == "complete"] == [old["ID"]]


def test_higher_count_keeps_what_runs(api, job):
    """Only the new instance is started; the old one belongs to the new version."""
    api.run(job("j", group="count = 1"))
    [old] = api.until_status("j", "running")

    api.run(job("j", group="count = 2"))

    found = api.until_status("j", "running", "running")
    assert old["ID"] in {alloc["ID"] for alloc in found}
    assert [alloc["JobVersion"] for alloc in found] == [1, 1]


def test_volume_requests_written_by_hand_have_defaults(api):
    """Nomad decodes what is left out as its zero value."""
    request = {"Type": "csi", "Source": "v", "AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
    task = {"Name": "t", "Driver": "exec", "Config": {"command": "true"}}
    group = {"Name": "g", "Count": 1, "Volumes": {"data": request}, "Tasks": [task]}

    status, reply, _ = api.call("POST", "/v1/jobs", {"Job": {"ID": "j", "Name": "j", "TaskGroups": [group]}})

    assert status == 200, reply
    [kept] = api.get("/v1/job/j")["TaskGroups"]
    assert kept["Volumes"]["data"].items() >= (request | {"ReadOnly": False, "PerAlloc": False}).items()
