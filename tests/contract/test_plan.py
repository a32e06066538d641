"""Validation and plans: what would change, and why a group finds no place."""

import pytest

from nomad_csi import errors
from nomad_csi.nomad import jobs

PLUGIN = 'csi_plugin {{\n id = "p"\n type = "{}"\n stage_publish_base_dir = "{}"\n}}'
ONE = "1 error occurred:\n\t* {}\n\n"
VOLUME = 'volume "v" {{\n type = "csi"\n source = "{}"\n access_mode = "{}"\n attachment_mode = "{}"\n {}\n}}'


def in_group(problem):
    """Return the text of a problem within group g."""
    return f"Task group g validation failed: {ONE.format(problem)}"


def in_task(problem):
    """Return the text of a problem within task t."""
    return in_group(f"Task t validation failed: {ONE.format(problem)}")


def in_volume(problem):
    """Return the text of a problem within volume v."""
    return in_group(f"Task group volume validation for v failed: {ONE.format(problem)}")


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"kind": "weird"}, 'Invalid job type: "weird"'),
        (
            {"task": PLUGIN.format("weird", "/local/csi")},
            in_task("CSIPluginConfig PluginType must be one of 'node', 'controller', or 'monolith', got: \"weird\""),
        ),
        (
            {"group": VOLUME.format("s", "multi-node-reader-only", "file-system", "")},
            in_volume("multi-node-reader-only volumes must be read-only"),
        ),
    ],
)
def test_impossible_job_is_refused_by_plan_and_registration(agent, client, job, fresh, parts, problem):
    """With the same sentence; the product shows it on one line."""
    document = agent.parse(job(fresh("bad"), **parts))

    assert agent.refused("POST", "/v1/jobs", {"Job": document}) == (500, ONE.format(problem))
    with pytest.raises(errors.NomadApiError) as caught:
        jobs.plan(client, document)
    assert (caught.value.status, caught.value.kind) == (500, "refused")
    assert caught.value.message == " ".join(ONE.format(problem).split())


@pytest.mark.parametrize(("word", "kind"), [("namespace", "namespace"), ("node_pool", "node pool")])
def test_job_in_a_place_that_is_none_is_refused(agent, job, fresh, word, kind):
    """Plan and registration say it alike."""
    job_id = fresh("lost")
    document = agent.parse(job(job_id, top=f'{word} = "nobody"'))

    expected = (500, ONE.format(f'job "{job_id}" is in nonexistent {kind} "nobody"'))
    assert agent.refused("POST", f"/v1/job/{job_id}/plan", {"Job": document}) == expected
    assert agent.refused("POST", "/v1/jobs", {"Job": document}) == expected


@pytest.mark.parametrize("kind", ["service", "system"])
def test_plan_of_a_new_job_adds_it(client, job, fresh, kind):
    """Index 0 stands for a job that is not there."""
    plan = jobs.plan(client, jobs.parse(client, job(fresh("new"), kind=kind)))

    assert (plan.diff_type, plan.job_modify_index, plan.failed_groups, plan.warnings) == ("Added", 0, {}, "")
    assert plan.changes == ("job: added",)


@pytest.mark.parametrize(
    ("parts", "reasons"),
    [
        ({"driver": "docker"}, {"g": "missing drivers (1 node)"}),
        ({"driver": "docker", "kind": "system"}, {"g": "missing drivers (1 node)"}),
        (
            {"group": 'constraint {\n attribute = "${node.class}"\n value = "none"\n}'},
            {"g": "${node.class} = none (1 node)"},
        ),
        (
            {"group": 'constraint {\n attribute = "${node.class}"\n value = "none"\n}', "kind": "system"},
            {"g": "${node.class} = none (1 node)"},
        ),
        ({"top": 'datacenters = ["mars"]'}, {"g": "no node to check"}),
        ({"top": 'datacenters = ["mars"]', "kind": "system"}, {}),
        ({"group": VOLUME.format("ghost", "single-node-writer", "file-system", "")}, {"g": "missing CSI volume(s) ghost (1 node)"}),
    ],
)  # fmt: skip
def test_plan_says_why_a_group_finds_no_place(agent, client, job, fresh, parts, reasons):
    """As the product shows it."""
    if not agent.has("names-missing-volumes"):
        reasons = {name: text.replace("CSI volume(s)", "CSI Volume") for name, text in reasons.items()}

    plan = jobs.plan(client, jobs.parse(client, job(fresh("nowhere"), **parts)))

    assert plan.failed_groups == reasons


def test_plan_of_what_runs_changes_nothing(client):
    """The source that Nomad holds, parsed and planned again: the measure of drift."""
    for job_id in ("plugin-efs", "plugin-ebs-controller", "user"):
        found = jobs.get(client, "default", job_id)

        plan = jobs.plan(client, jobs.parse(client, jobs.source(client, "default", job_id, found.version)))

        assert (plan.diff_type, plan.job_modify_index) == ("None", found.job_modify_index)
        assert (plan.changes, plan.failed_groups) == ((), {})


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ('args    = ["60"]', 'args    = ["61"]', ("group g > task t > config.args: removed 60; added 61",)),
        ('a = "1"', 'a = "2"\n b = "3"', ("Meta[a]: 1 -> 2", "Meta[b]: unset -> 3")),
        ('"raw_exec"', '"exec"', ("group g > task t > Driver: raw_exec -> exec",)),
        ('group "g"', 'group "h"', ("group g: removed", "group h: added")),
        ('"service"', '"batch"', None),
        ('kill_timeout = "200ms"', 'kill_timeout = "2s"', ("group g > task t > KillTimeout: 200000000 -> 2000000000",)),
        ('task "t" {', 'task "t" {\n env {\n A = "b"\n}', ("group g > task t > Env[A]: unset -> b",)),
        ('task "t" {', 'task "t" {\n resources {\n memory = 64\n}', ("group g > task t > resources.MemoryMB: 300 -> 64",)),
        ("# pool", 'datacenters = ["dc1"]\n priority = 70', ("Priority: 50 -> 70", "datacenters.Datacenters: unset -> dc1", "datacenters.Datacenters: * -> unset")),
    ],
)  # fmt: skip
def test_plan_names_each_change(client, ran, waiting, fresh, old, new, changes):
    """Type ``Edited``, and the product's lines."""
    job_id = fresh("edited")
    source = waiting(job_id, top='meta {\n a = "1"\n}\n # pool')
    ran(job_id, source)

    plan = jobs.plan(client, jobs.parse(client, source.replace(old, new)))

    assert plan.diff_type == "Edited"
    if changes is not None:
        assert plan.changes == changes
