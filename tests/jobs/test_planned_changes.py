"""What would change, also for a token that may only read, and for volumes that a plugin makes."""

import pytest

from nomad_csi.hcl import disk, documents
from nomad_csi.jobs import apply
from nomad_csi.nomad import volumes
from nomad_csi.plan import storage
from nomad_csi.volumes import apply_volumes, compare, ownership

PLUGIN = {"id": "hostpath", "driver": "aws-ebs", "aws_region": "us-east-1"}
MADE = {"id": "scratch", "plugin_id": "hostpath", "create": {"capacity_min_gib": 2, "availability_zone": "us-east-1a"}}
EQUAL = {"JobModifyIndex": 7, "Diff": {"Type": "None"}}
FORBIDDEN = (403, "Permission denied")
PLAN = storage.plan_document({"plugins": [PLUGIN], "volumes": [MADE]})
HELD = volumes.payload(PLAN.volumes[0].registration) | {
    "ExternalID": "vol-made",
    "Topologies": [None, {"Segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}}],
    "Context": {"made": "here"},
    "Capacity": 2 * 2**30,
}


@pytest.fixture
def cluster(scripted):
    """A Nomad that has the jobs and the volume as planned; return the id of the first job."""
    for job in PLAN.plugins[0].jobs:
        path = f"/v1/job/{job.job_id}"
        scripted.reply("GET", path, 200, {"ID": job.job_id, "Namespace": "default", "Version": 3})
        scripted.reply("POST", f"{path}/plan", 200, EQUAL)

    def parsed():
        job_id = scripted.requests[-1][2]["JobHCL"].split('"')[1]
        return {"ID": job_id, "Namespace": "default"}

    scripted.reply("POST", "/v1/jobs/parse", 200, parsed)
    scripted.reply("GET", "/v1/volume/csi/scratch", 200, HELD)
    scripted.reply("GET", "/v1/plugins", 200, [])
    return f"/v1/job/{PLAN.plugins[0].jobs[0].job_id}"


@pytest.fixture
def draw(context):
    """Return kind, state and remarks of each item."""

    def look(**options):
        external_ids = options.pop("external_ids", {})
        options["requester"] = ownership.Requester(owner=options.pop("owner", ""))
        drawn = apply.plan_changes(context.connect(), options.pop("plan", PLAN), external_ids, **options)
        return drawn, [(item.kind, item.state, item.remarks) for item in drawn.items]

    return look


def ask(scripted, path, *replies):
    """Let a path answer otherwise."""
    scripted.replies[path] = list(replies)


@pytest.mark.usefixtures("cluster")
def test_everything_as_planned(draw):
    """The plugin's own answers (external id, context) are no difference."""
    drawn, items = draw()

    assert items == [("job", "equal", ())] * len(PLAN.plugins[0].jobs) + [("volume", "equal", ())]
    assert (drawn.changes, drawn.not_compared, drawn.as_table()) == ((), (), "0 of 3 would change")


def test_what_is_to_be_in_a_namespace_that_is_not_there_is_refused(draw, scripted):
    """Jobs and volumes; the remark says what is there, and what to do."""
    lost = storage.plan_document(
        {"plugins": [PLUGIN | {"namespace": "storag"}], "volumes": [MADE | {"namespace": "prod"}]}
    )
    for job in lost.plugins[0].jobs:
        scripted.reply("GET", f"/v1/job/{job.job_id}", 404, "job not found")
    for name in ("storag", "prod"):
        scripted.reply("GET", f"/v1/namespace/{name}", 404, "Namespace not found")
    scripted.reply("GET", "/v1/volume/csi/scratch", 404, "volume not found")

    _, items = draw(plan=lost)

    text = "there is no namespace {0}; name another, or create it first with `nomad namespace apply {0}`"
    of_job, of_volume = text.format("storag"), text.format("prod")
    assert items == [
        *[("job", "refused", (of_job,))] * len(lost.plugins[0].jobs),
        ("volume", "refused", (of_volume, apply_volumes.NEW_STORAGE)),
    ]


def record(scripted, volume_id, owner, **more):
    """Let a volume have an owner record; ``None``: that may not be read."""
    path, items = ownership.path_of(volume_id), {"id": volume_id, "owner": owner} | more
    found = (200, {"Path": path, "ModifyIndex": 3, "Items": items}) if owner else FORBIDDEN
    scripted.reply("GET", f"/v1/var/{path}", *found)


SHOP, BANK = "shop/prod", "bank/prod"
UNREAD = (
    'its owner record was not read: the token lacks variables { path "nomad-csi/*" { capabilities = ["read", "write", '
    '"destroy"] } } in namespace default'
)
RECORDS = {
    "of another stack": (SHOP, BANK, {}, ["refused", "belongs to owner shop/prod; nothing was changed: --adopt takes it over"]),
    "its own": (SHOP, SHOP, {}, ["equal"]),
    "adopted": (SHOP, BANK, {"adopt": True}, ["equal", "taken over from owner shop/prod"]),
    "equal, to nobody in particular": (SHOP, "", {}, ["equal"]),
    "absent": (SHOP, "", {"absent": True}, ["new", "belongs to owner shop/prod", apply_volumes.NEW_STORAGE]),
    "begun": (SHOP, SHOP, {"absent": True, "created_name": "scratch-1"}, ["new", apply_volumes.ITS_STORAGE]),
    "equal, and its record not read": (None, "", {}, ["equal"]),
    "equal, and not read by an owner": (None, SHOP, {}, ["equal", UNREAD]),
    "absent, and not read": (None, "", {"absent": True}, ["refused", UNREAD, "volume default/scratch was not created: "]),
}  # fmt: skip
"""The owner of the volume, who plans, and otherwise -> its state and its remarks."""


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(("of", "who", "more", "expected"), RECORDS.values(), ids=RECORDS)
def test_owner_of_a_volume_counts_where_something_would_change(draw, scripted, of, who, more, expected):
    """It is refused to another one who has a name; not allowed to know is not the same as nobody's."""
    record(scripted, "scratch", of, **{name: more[name] for name in more if name == "created_name"})
    if "absent" in more:
        ask(scripted, ("GET", "/v1/volume/csi/scratch"), (404, "volume not found"))
    adopt = {"adopt": True} if "adopt" in more else {}
    plan = storage.plan_document({"plugins": [PLUGIN], "volumes": [MADE | adopt]})

    _, state, remarks = draw(owner=who, plan=plan)[1][-1]

    assert (state, len(remarks)) == (expected[0], len(expected) - 1), remarks
    assert all(found.startswith(words) for found, words in zip(remarks, expected[1:], strict=True))


@pytest.mark.usefixtures("cluster")
def test_storage_whose_id_is_not_known_is_equal_with_a_remark(draw, scripted):
    """Pulumi makes it, and its outputs were not given: everything else is compared, and the plan says what is not."""
    document = {"id": "disk", "plugin_id": "hostpath", "ebs": {"availability_zone": "us-east-1a", "size_gib": 2}}
    planned = storage.plan_document({"plugins": [PLUGIN], "volumes": [document]})
    sent = volumes.payload(planned.volumes[0].registration)
    of_nomad = {"Topologies": sent["RequestedTopologies"]["Required"], "ExternalID": "vol-0123456789abcdef0"}
    held = sent | of_nomad | {"Secrets": None}
    scripted.reply("GET", "/v1/volume/csi/disk", 200, held)

    item = draw(plan=planned)[1][-1]
    ask(scripted, ("GET", "/v1/volume/csi/disk"), (200, held | {"PluginID": "other"}))

    assert item == ("volume", "equal", (compare.ID_NOT_COMPARED,))
    assert draw(plan=planned)[1][-1][1] != "equal"


@pytest.mark.usefixtures("cluster")
def test_files_are_compared_with_what_would_be_rendered(draw, tmp_path):
    """Also those that an earlier spec left over; and what nomad-csi did not write is none of them."""
    rendered = dict(documents.render_plan(PLAN, {}))
    first, second, *others = sorted(rendered)
    earlier = storage.plan_document({"plugins": [PLUGIN | {"id": "earlier"}]})
    left = dict(documents.render_plan(earlier, {}))
    disk.write_all(tmp_path, rendered | left)
    (tmp_path / first).unlink()
    (tmp_path / second).write_text(rendered[second] + "# edited")
    (tmp_path / "jobs" / "own.nomad.hcl").write_text('job "own" {}')

    drawn, _ = draw(folder=tmp_path)

    found = {item.name: item.state for item in drawn.items if item.kind == "file"}
    states = {first: "missing", second: "edited by hand"} | dict.fromkeys(others, "equal")
    assert found == states | dict.fromkeys(left, "left over")
    assert len(drawn.changes) == 2 + len(left)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(("external_id", "state"), [("vol-made", "equal"), ("vol-other", "refused")])
def test_a_created_volume_is_compared_with_the_outputs_of_its_stack(draw, external_id, state):
    """They name its storage; what the plugin answered is no difference still."""
    assert draw(external_ids={"default/scratch": external_id})[1][-1][1] == state


@pytest.mark.parametrize(("edit", "state"), [("", "equal"), ("# edited\n", "changes"), (None, "not compared")])
def test_token_that_may_not_plan_compares_sources(draw, scripted, cluster, edit, state):
    """A job's HCL is for all to see who may read it; the remark says that it is no plan, and what a plan needs."""
    ask(scripted, ("POST", f"{cluster}/plan"), FORBIDDEN)
    source = {"Source": documents.job_file(PLAN.plugins[0].jobs[0]) + (edit or ""), "Format": "hcl2"}
    reply = (404, "job source not found") if edit is None else (200, source)
    scripted.reply("GET", f"{cluster}/submission", *reply)

    drawn, [(_, found, [remark]), *_] = draw()

    assert found == state
    assert "submit-job in namespace default" in remark
    assert drawn.as_json()["not_compared"] == (edit is None)
    if edit is None:
        assert draw(owner=SHOP)[1][0][1] == "not compared"
        assert drawn.as_table().endswith("0 of 3 would change, 1 not compared; 2 equal, not shown")
    else:
        assert remark.startswith("compared by the source it was registered with, not by Nomad's plan: ")


def last_lines(drawn):
    """Return what is printed after the sums."""
    lines = drawn.as_table().splitlines()
    return lines[next(number for number, line in enumerate(lines) if "would change" in line) + 1 :]


HCL = "shop/hcl"
OF_HCL = [
    "registered by owner shop/hcl, and not in the spec: default/data[2], default/wiki",
    "  they stay registered; if no stack or other spec has them (their storage stays): "
    "nomad-csi remove 'default/data[2]' default/wiki --owner shop/hcl",
]
OF_NOBODY = [
    "registered for plugins of the spec, without an owner, and not in the spec: default/old",
    "  they stay registered; if no stack or other spec has them (their storage stays): nomad-csi remove default/old",
]
OF_OTHER_PLUGIN = [
    line.replace("'default/data[2]' default/wiki", "default/wiki").replace("default/data[2], ", "") for line in OF_HCL
]
FOUND = {"scratch": HCL, "data[2]": HCL, "wiki": HCL, "other": BANK}
LISTED = {
    "of the owner of the spec": (FOUND, "hostpath", HCL, ["data[2]", "wiki"], OF_HCL),
    "of nobody, by a plugin of the spec": ({"scratch": "", "old": ""}, "hostpath", "", ["old"], OF_NOBODY),
    "of the owner, by another plugin": ({"wiki": HCL}, "other", HCL, ["wiki"], OF_OTHER_PLUGIN),
    "of nobody, to an owner": ({"scratch": "", "old": ""}, "hostpath", HCL, [], []),
    "of nobody, by another plugin": ({"old": ""}, "other", "", [], []),
}
"""Volumes that are listed with their owners, their plugin, who plans -> which are named, and what is said."""


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(("owners", "plugin_id", "who", "named", "expected"), LISTED.values(), ids=LISTED)
def test_what_is_registered_and_not_in_the_spec_is_named(draw, scripted, owners, plugin_id, who, named, expected):
    """It is no change; what belongs to others is not named. One list, and no request for one of the volumes."""
    listed = [{"ID": item, "Namespace": "default", "PluginID": plugin_id} for item in owners]
    scripted.reply("GET", "/v1/volumes", 200, listed)
    for volume_id, of in owners.items():
        if of:
            record(scripted, volume_id, of)

    drawn, _ = draw(owner=who)

    assert drawn.changes == ()
    assert last_lines(drawn) == expected
    shown = [{"namespace": "default", "volume_id": item, "owner": who} for item in named]
    assert drawn.as_json()["not_in_spec"] == shown
    asked = [path.partition("?")[0] for path, _ in scripted.sent("GET")]
    assert asked.count("/v1/volumes") == 1
    assert [path for path in asked if path.startswith("/v1/volume/")] == ["/v1/volume/csi/scratch"]


@pytest.mark.usefixtures("cluster")
def test_volume_of_a_plugin_without_volumes_in_the_spec_is_named(draw, scripted):
    """It is in the namespace of the connection."""
    scripted.reply("GET", "/v1/volumes", 200, [{"ID": "old", "Namespace": "default", "PluginID": "hostpath"}])

    assert last_lines(draw(plan=storage.plan_document({"plugins": [PLUGIN]}))[0]) == OF_NOBODY


@pytest.mark.usefixtures("cluster")
def test_token_that_may_not_list_volumes_is_said(draw, scripted):
    """Not looked for is not none."""
    scripted.reply("GET", "/v1/volumes", *FORBIDDEN)

    drawn, _ = draw()

    assert last_lines(drawn) == [apply_volumes.UNLISTED]
    assert drawn.as_json()["not_in_spec"] is None


def with_other_job(scripted, kind="node"):
    """Let another job run the plugin on a client."""
    record = {"ID": "hostpath", "NodeJobs": {"default": {"plugin-old": {}, "plugin-hostpath-nodes": {}}}}
    scripted.reply("GET", "/v1/plugin/csi/hostpath", 200, record)
    tasks = [{"CSIPluginConfig": {"ID": "hostpath", "Type": kind}}]
    scripted.reply("GET", "/v1/job/plugin-old", 200, {"ID": "plugin-old", "TaskGroups": [{"Tasks": tasks}]})
    running = {"ID": "x", "NodeID": "id-a", "NodeName": "a", "ClientStatus": "running", "DesiredStatus": "run"}
    scripted.reply("GET", "/v1/job/plugin-old/allocations", 200, [running])
    scripted.reply("GET", "/v1/nodes", 200, [{"ID": "id-a", "Name": "a", "Datacenter": "dc1", "NodePool": "default"}])


@pytest.mark.usefixtures("cluster")
def test_job_that_would_run_beside_another_is_refused(draw, scripted):
    """The controller beside it is as it is."""
    with_other_job(scripted)

    [controller, (kind, state, [remark, *_]), _] = draw()[1]

    assert controller == ("job", "equal", ())
    assert (kind, state, remark.partition(":")[0]) == ("job", "refused", "job-conflict")
    assert "the job belongs to no stack; take it over (job_ids: {node: plugin-old} and adopt: true" in remark


@pytest.mark.usefixtures("cluster")
def test_other_jobs_that_may_not_be_looked_for_make_the_plan_incomplete(draw, scripted):
    """The jobs may be as planned; whether others run beside them is not known. A change is one still."""
    scripted.reply("GET", "/v1/plugin/csi/hostpath", *FORBIDDEN)
    drawn, items = draw()
    edited = EQUAL | {"Diff": {"Type": "Edited"}}
    ask(scripted, ("POST", "/v1/job/plugin-hostpath-nodes/plan"), (200, edited))

    assert [state for kind, state, _ in draw()[1] if kind == "job"] == ["not compared", "changes"]
    assert [state for kind, state, _ in items if kind == "job"] == ["not compared", "not compared"]
    assert items[0][2][0].startswith("whether other jobs run plugin hostpath was not checked: GET /v1/plugin/csi/host")
    assert drawn.changes == ()
