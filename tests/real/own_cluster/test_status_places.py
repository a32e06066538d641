"""Where instances are, on a real server with two clients: in another zone, nowhere, out of a volume's reach, and twice."""

import pytest

from nomad_csi import errors
from nomad_csi.diagnosis import verification
from nomad_csi.frame import resource
from nomad_csi.health import plugin_health_wait
from nomad_csi.nomad import jobs, volume_creation, volumes
from nomad_csi.plan import model, registration
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi_sandbox.imds import documents
from nomad_csi_sandbox.imds import server as imds
from tests.real import two_clients

pytestmark = pytest.mark.real_nomad


EBS = {"provider": "ebs.csi.aws.com", "version": "v1.64.0", "driver": "aws-ebs"}
ONLY_C1 = 'constraint {\n attribute = "${node.unique.name}"\n value = "c1"\n}'
NOWHERE = ONLY_C1.replace("c1", "nowhere")
MODE = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")


@pytest.fixture(scope="module")
def cluster():
    """Both clients, and all plugins at once: they get well together."""
    wrong = documents.Instance(instance_id="i-c2", availability_zone=two_clients.ZONES["c2"])
    with two_clients.started() as made, imds.Server(wrong) as service:
        made.plugins = {
            "astray": made.ebs_nodes("astray", service.url),
            "half": made.hostpath("half", top=ONLY_C1),
            "twice": made.hostpath("twice"),
            "lent": made.hostpath("lent", job_id="someone-elses-job"),
        }
        yield made


def exceeds(plugin_id):
    """Return the warning of a driver with local storage that is expected on both clients."""
    return (
        "warning",
        f"clients-exceed-driver: plugin {plugin_id}: expected at most 1 client, found 2; bind the plugin to one client, "
        "with a constraint on ${node.unique.name}",
    )


def told(seen):
    """Return severity and text of each finding."""
    return [(item.severity, str(item)) for item in seen.status.findings]


def test_wrong_zone_against_the_clients_own(cluster):
    """The EBS driver asks a metadata service that speaks for another machine; Nomad's own fingerprint knows better."""
    seen = cluster.plugins["astray"].until("partial", "wrong-zone", "healthy", **EBS)

    assert told(seen) == [
        (
            "error",
            "instance-zone-differs: node instance of plugin astray on c1: expected the zone of its client, found it reports zone "
            "us-east-1b, its client is in us-east-1a; correct the source of the driver's zone: instance metadata, or an "
            "argument",
        )
    ]
    assert [(row.zone, row.evidence) for row in seen.status.instances] == [("us-east-1b", "nomad")] * 2


def test_missing_where_the_scheduler_placed_none(cluster):
    """A job that avoids a client leaves it without an instance."""
    seen = cluster.plugins["half"].until("partial", "healthy", "healthy", "missing", **two_clients.HOSTPATH)

    assert told(seen) == [
        exceeds("half"),
        (
            "error",
            "node-missing: node instance of plugin half on c2: expected a healthy instance, found none (no allocation "
            "there); find out why its job places no allocation there, with `nomad job status`",
        ),
    ]


@pytest.mark.parametrize("evidence", ["nomad", "csi"])
def test_what_another_job_runs_is_none_of_the_plans(cluster, evidence):
    """The plan's job fits no client; another one runs the plugin on both, and the gate stays closed."""
    cluster.plugins["lent"].until("healthy", *["healthy"] * 4, **two_clients.HOSTPATH)
    plugin = cluster.hostpath("lent", top=NOWHERE)
    wanted = two_clients.HOSTPATH | {"evidence": evidence, "timeout_s": 2.0}

    seen = plugin.look(**wanted)
    with pytest.raises(errors.NomadCsiError, match="0/2 nodes, 0/2 controllers; nothing was registered\n  job-foreign"):
        plugin_health_wait.wait(
            resource.Context(connect=lambda: cluster.client), plugin.expectation(**wanted), ("plugin-lent",)
        )

    assert (seen.status.status, seen.status.counts) == ("missing", "0/2 nodes, 0/2 controllers")
    assert [(item.severity, item.code, item.found) for item in seen.status.findings] == [
        ("warning", "clients-exceed-driver", "2"),
        ("error", "job-foreign", "served by job someone-elses-job on c1, c2"),
    ]


def test_volume_in_a_place_without_an_instance_is_out_of_reach(cluster):
    """Nomad registers it, and calls it schedulable; no allocation that claims it would be placed."""
    plugin = cluster.plugins["half"]
    plugin.until("partial", "healthy", "healthy", "missing", **two_clients.HOSTPATH)
    new = registration.VolumeRegistration(
        volume_id="made", namespace="default", name="made", plugin_id="half", capabilities=(MODE,)
    )
    made = volume_creation.create(cluster.client, new).volume
    volumes.deregister(cluster.client, "default", "made")  # two registrations of one single-node volume are refused
    wanted = registration.VolumeRegistration(
        volume_id="afar",
        name="afar",
        external_id=made.external_id,
        plugin_id="half",
        capabilities=(MODE,),
        required_topologies=({"topology.hostpath.csi/node": "c2"},),
    )
    [outcome] = applied.apply(cluster.client, applied.of_files([wanted]))

    [status] = verification.Verifier(cluster.client, _plan(plugin, wanted)).verify().volumes

    assert (outcome.status, status.status) == ("registered", "unschedulable")
    assert [(item.severity, str(item)) for item in status.findings] == [
        (
            "error",
            "volume-out-of-reach: volume default/afar: expected a healthy node instance in "
            "topology.hostpath.csi/node=c2, found c1; add a client there, or move the data with a snapshot "
            "to a zone that has one",
        )
    ]


def _plan(plugin, volume):
    expectation = plugin.expectation(**two_clients.HOSTPATH)
    planned = model.PluginPlan(
        plugin_id=plugin.plugin_id,
        driver="csi-hostpath",
        jobs=(),
        expectation=expectation,
        iam_policy=None,
        adopt=False,
    )
    return model.StoragePlan(
        plugins=(planned,),
        volumes=(model.VolumePlan(registration=volume, source=None, protect=True, adopt=False),),
    )


def test_duplicate_on_each_client_until_one_job_is_stopped(cluster):
    """Two jobs under one plugin id: Nomad knows the instances that came last."""
    plugin = cluster.plugins["twice"]
    plugin.until("healthy", *["healthy"] * 4, **two_clients.HOSTPATH)
    own = {name: plugin.allocation(name).alloc_id[:8] for name in two_clients.ZONES}
    other = cluster.hostpath("twice", job_id="plugin-again")

    seen = plugin.until("duplicate", *["duplicate"] * 4, **two_clients.HOSTPATH)
    explained = [str(cause) for cause in plugin.explained(seen) if cause.kind == "job"]
    by_the_other = other.look(**two_clients.HOSTPATH)
    jobs.stop(cluster.client, "default", "plugin-again", purge=True)

    assert told(seen) == [
        exceeds("twice"),
        *(
            (
                "error",
                f"instance-duplicate: node instance of plugin twice on {name}: expected one instance on each client, "
                f"found job plugin-twice runs another instance there (allocation {own[name]}); Nomad lists only one; "
                "stop one of the two jobs: a plugin id can run only once on a client",
            )
            for name in two_clients.ZONES
        ),
    ]
    assert explained == [
        "job (job plugin-again, plugin-twice): job plugin-again beside job plugin-twice of job plugin-twice"
    ]
    assert by_the_other.status.status == "healthy"
    assert told(by_the_other) == [
        exceeds("twice"),
        (
            "warning",
            "job-duplicate: plugin twice: expected no instances of job plugin-twice on the clients of the plan's jobs, "
            "found instances on c1, c2; stop one of the two jobs: a plugin id can run only once on a client, and "
            "Nomad calls the instance that started last",
        ),
    ]
    plugin.until("healthy", *["healthy"] * 4, **two_clients.HOSTPATH)
