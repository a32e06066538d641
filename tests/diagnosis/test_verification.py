"""A whole plan is compared in one go, by asking only."""

import dataclasses

import pytest

from nomad_csi import errors
from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.diagnosis import rounds, verification
from nomad_csi.health import observation
from nomad_csi.plan import model, registration, storage

VOLUME = {
    "ID": "mysql",
    "Namespace": "default",
    "Name": "mysql",
    "ExternalID": "vol-0a1b2c3d4e5f60718",
    "PluginID": "aws-ebs0",
    "RequestedCapabilities": [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}],
    "Schedulable": True,
    "MountOptions": None,
    "Topologies": [{"Segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}}],
}
REGISTRATION = registration.VolumeRegistration(
    volume_id="mysql",
    name="mysql",
    external_id="",
    plugin_id="aws-ebs0",
    capabilities=(registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
    required_topologies=({"topology.ebs.csi.aws.com/zone": "us-east-1a"},),
)


@pytest.fixture(autouse=True)
def no_failed_allocation(scripted):
    """No allocation failed."""
    scripted.reply("GET", "/v1/allocations", 200, [])


@pytest.fixture
def plan(expectation):
    """Return a plan of one plugin without a controller, and a volume that is still to be made."""
    document = {"plugins": [{"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}]}
    [plugin] = storage.plan_document(document).plugins
    nodes = [job for job in plugin.jobs if job.role == "node"]
    return model.StoragePlan(
        plugins=(
            model.PluginPlan(
                plugin_id="aws-ebs0",
                driver="aws-ebs",
                jobs=tuple(nodes),
                expectation=expectation,
                iam_policy=None,
                adopt=False,
            ),
        ),
        volumes=(model.VolumePlan(registration=REGISTRATION, source=None, protect=True, adopt=False),),
    )


def test_how_plugins_are_asked_is_passed_on(plan, monkeypatch):
    """Each plugin with its jobs, the timeout of a probe, and the job on the clients."""
    asked = []
    monkeypatch.setattr(observation, "Observer", lambda *given, **options: asked.append((*given, options)))

    verification.Verifier("client", plan, probe_timeout_s=7.0, on_nodes="job")

    [item] = plan.plugins
    watched = observation.WatchedPlugin(expectation=item.expectation, job_ids=("plugin-aws-ebs0-nodes",))
    assert asked == [("client", [watched], {"probe_timeout_s": 7.0, "on_nodes": "job"})]


def test_all_as_planned(context, scripted, plugin_cluster, plan):
    """A healthy plugin and an equal registration leave nothing to say, and nothing but GET was sent."""
    plugin_cluster.plugin()
    plugin_cluster.allocation()
    scripted.reply("GET", "/v1/volume/csi/mysql", 200, VOLUME)

    report = verification.Verifier(context.connect(), plan, {"default/mysql": "vol-0a1b2c3d4e5f60718"}).verify()

    assert (report.ok, report.findings) == (True, ())
    assert [(status.status, status.causes) for status in report.plugins] == [("healthy", ())]
    assert [(status.key, status.status) for status in report.volumes] == [("default/mysql", "ok")]
    assert {method for method, _, _ in scripted.requests} == {"GET"}


@pytest.mark.parametrize("is_hidden", [False, True])
def test_plugin_that_is_not_healthy_is_explained(context, scripted, plugin_cluster, plan, is_hidden):
    """By the events of its tasks, by the rules for its jobs, of the plan's driver, and for others, and by its log."""
    [plugin] = plan.plugins
    other = dataclasses.replace(plugin, expectation=dataclasses.replace(plugin.expectation, driver="aws-efs"))
    plan = dataclasses.replace(plan, plugins=(other,))
    plugin_cluster.plugin(healthy=False)
    plugin_cluster.allocation(events=[("Driver Failure", "no image")])
    plugin_cluster.log("E1 no image\n")
    _, record = scripted.replies["GET", "/v1/plugin/csi/aws-ebs0"][0]
    scripted.replies["GET", "/v1/plugin/csi/aws-ebs0"] = [(200, record | {"NodeJobs": {"default": {"old": {}}}})]
    task = {"Name": "t", "Driver": "docker", "Config": {"image": "a/b:1"}}
    old = {
        "ID": "old",
        "TaskGroups": [{"Name": "g", "Tasks": [task | {"CSIPluginConfig": {"ID": "aws-ebs0", "Type": "node"}}]}],
    }
    scripted.replies["GET", "/v1/job/plugin-aws-ebs0-nodes"][0][1].update(TaskGroups=old["TaskGroups"])
    scripted.reply("GET", "/v1/job/old", *((403, "no") if is_hidden else (200, old | {"Type": "system"})))
    scripted.reply("GET", "/v1/job/old/allocations", 200, [])
    scripted.reply("GET", "/v1/volume/csi/mysql", 200, VOLUME)

    [status] = verification.Verifier(context.connect(), plan).verify().plugins

    on_a = "on a (allocation alloc-a)"
    assert [str(item) for item in status.causes] == [
        f"event {on_a}: Driver Failure: no image",
        *(
            ["note (jobs): not read: GET /v1/job/old: status 403: no"]
            if is_hidden
            else [
                f"job (job {name}, {found}"
                for name in ("old", "plugin-aws-ebs0-nodes")
                for found in (
                    "privilege-missing): no privileged = true for a node",
                    "host-network-missing): a network of the container's own",
                )
            ]
        ),
        f"log {on_a}: E1 no image",
    ]


def test_watching_sees_a_restart(context, scripted, plugin_cluster, plan, monkeypatch):
    """Two looks see what one cannot: an instance that came back in place."""
    plugin_cluster.plugin()
    plugin_cluster.allocation()
    plugin_cluster.allocation(restarts=1)
    scripted.reply("GET", "/v1/volume/csi/mysql", 200, VOLUME)

    client, observe, asked = context.connect(), observation.Observer.observe, []
    monkeypatch.setattr(
        observation.Observer, "observe", lambda *given, **how: asked.append(how) or observe(*given, **how)
    )
    report = verification.Verifier(client, plan).verify(watch_s=5)

    assert asked == [{"is_first": True}, {}]
    assert [finding.code for finding in report.findings] == ["instance-restarted"]
    assert client.clock.now() == 5


def test_broken_call_is_an_error(context, scripted, plugin_cluster, plan):
    """What could not be asked is no finding: the answer is not known."""
    plugin_cluster.plugin()
    plugin_cluster.allocation()
    scripted.reply("GET", "/v1/volume/csi/mysql", 403, "Permission denied")

    with pytest.raises(errors.NomadApiError, match="Permission denied"):
        verification.Verifier(context.connect(), plan).verify()


CLAIMED = VOLUME | {"ControllerRequired": True, "WriteAllocs": {"alloc-w": None}, "Allocations": []}


DRAINING = {"ID": "id-b", "Name": "b", "Status": "ready", "SchedulingEligibility": "ineligible", "Drain": True}


@pytest.mark.parametrize("with_plugins", [True, False])
def test_drain_under_a_claim_is_told_with_what_it_endangers(context, scripted, plugin_cluster, plan, with_plugins):
    """By the clients that were listed for the plugins, or by a list of their own where the plan has none."""
    held = {"ID": "alloc-w", "NodeID": "id-b", "NodeName": "b", "JobID": "web", "ClientStatus": "running"}
    scripted.reply("GET", "/v1/volume/csi/mysql", 200, CLAIMED | {"Allocations": [held], "ControllerRequired": False})
    if with_plugins:
        plugin_cluster.plugin()
        plugin_cluster.allocation()
        plugin_cluster.nodes({}, DRAINING)
    else:
        scripted.reply("GET", "/v1/nodes", 200, [DRAINING])
        scripted.reply("GET", "/v1/plugin/csi/aws-ebs0", 200, {"ID": "aws-ebs0", "Controllers": {}, "Nodes": {}})

    client, wanted = context.connect(), plan if with_plugins else dataclasses.replace(plan, plugins=())
    before, report = verification.Verifier(client, wanted).verify(), verification.Verifier(client, wanted).verify()

    [away] = [item for item in before.findings if item.code.startswith("claim")]
    assert (away.code, away.found[:13]) == ("claim-node-down", "it is unknown")  # b is not listed
    told = [(item.severity, item.code, item.subject) for item in report.findings if item.code.startswith("claim")]
    assert told == [
        ("warning", "claim-node-draining", "client b"),
        ("error", "claim-without-node-plugin", "plugin aws-ebs0 on b"),
    ]


@pytest.mark.parametrize(
    ("seen", "codes", "checks"),
    [
        ({}, ["storage-missing"], []),
        ({"vol-0a1b2c3d4e5f60718": None}, [], []),
        (errors.AwsError("ExpiredToken"), [], [("storage of 1 EBS volumes", "ExpiredToken", False)]),
    ],
    ids=["gone", "there", "not known"],
)
def test_storage_that_is_gone_is_an_error(context, scripted, plan, monkeypatch, seen, codes, checks):
    """As `doctor` finds it; where AWS does not answer, it is not known, and the exit code is 2."""

    def read(_ids, _region):
        if isinstance(seen, Exception):
            raise seen
        return seen

    monkeypatch.setattr(ebs_volumes, "read_volumes", read)
    scripted.reply("GET", "/v1/volume/csi/mysql", 200, VOLUME)
    wanted = dataclasses.replace(plan, plugins=())
    external_ids = {"default/mysql": "vol-0a1b2c3d4e5f60718"}
    aws = regions.Choice(named="us-east-1")

    done = rounds.Rounds(verification.Verifier(context.connect(), wanted, external_ids, aws=aws)).run()

    found = done.outcome.findings
    assert [item.code for item in found if item.code == "storage-missing"] == codes
    assert [(item.check, item.reason, item.is_expected) for item in done.outcome.unchecked] == checks
