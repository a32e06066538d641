"""A cluster and an account without a fault, changed one fact at a time; a report on an emulated one, and a browser."""

import dataclasses
import types

import pytest

from nomad_csi import nomad
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import cluster_report, facts, page, verification_report
from nomad_csi.findings import causes, finding
from nomad_csi.hcl import environment
from nomad_csi.health import events, observed_plugin
from nomad_csi.health import plugins as health
from nomad_csi.nomad import jobs, nodes, plugins, token_rights, volumes
from nomad_csi.plan import iam
from tests import plugin_samples as samples
from tests.diagnosis import browser as headless_browser
from tests.diagnosis import known
from tests.diagnosis import report_picture as demo
from tests.plugin_samples import expected, instance, node, ran, seen  # noqa: F401
from tests.scripted import cluster, context, expectation, heard, plugin_cluster, scripted  # noqa: F401

REGION = "us-east-1"
ZONE_KEY = "topology.ebs.csi.aws.com/zone"
EBS_ID = "vol-0123456789abcdef0"
INSTANCE_ID = "i-0123456789abcdef0"
PROFILE = "arn:aws:iam::123456789012:instance-profile/nomad-client"
ROLE_ARN = "arn:aws:iam::123456789012:role/nomad-client"
KEY = "arn:aws:kms:us-east-1:123456789012:key/1"
OWN_POLICY = iam.ebs_policy(REGION, kms_key_arns=[KEY])


def make_node(**changes):
    """A client that can run everything."""
    whole = {
        "node_id": "n1",
        "name": "client-1",
        "datacenter": "dc1",
        "node_pool": "default",
        "node_class": "",
        "status": "ready",
        "eligible": True,
        "draining": False,
        "drivers": {"docker": True},
        "version": "2.0.5",
        "driver_attributes": {"driver.docker.privileged.enabled": "true"},
        "attributes": {"platform.aws.placement.availability-zone": "us-east-1a"},
    }
    return nodes.Node(**(whole | changes))


def make_task(role="node", **changes):
    """A task of the EBS driver, as a container on Docker's bridge."""
    whole = {
        "job_id": f"plugin-ebs-{role}",
        "namespace": "default",
        "job_type": "system" if role == "node" else "service",
        "plugin_id": "ebs",
        "role": role,
        "task_driver": "docker",
        "privileged": role == "node",
        "host_network": False,
        "own_credentials": False,
        "datacenters": ("*",),
        "node_pool": "default",
        "meta": {"nomad-csi.owner": "shop/prod"},
    }
    return jobs.PluginTask(**(whole | changes))


def make_instance(role, **changes):
    """A healthy instance of the EBS driver on the client."""
    whole = {
        "role": role,
        "node_id": "n1",
        "alloc_id": f"alloc-{role}",
        "healthy": True,
        "health_description": "healthy",
        "provider_version": "v1.64.0",
        "segments": {ZONE_KEY: "us-east-1a"} if role == "node" else {},
        "supports": frozenset(),
    }
    return plugins.Instance(**(whole | changes))


def make_plugin(**changes):
    """The EBS driver, healthy in both roles."""
    whole = {
        "plugin_id": "ebs",
        "provider": "ebs.csi.aws.com",
        "version": "v1.64.0",
        "controller_required": True,
        "controllers": (make_instance("controller"),),
        "nodes": (make_instance("node"),),
        "controllers_expected": 1,
        "nodes_expected": 1,
    }
    return plugins.Plugin(**(whole | changes))


def make_volume(**changes):
    """A registered EBS volume, claimed once."""
    whole = {
        "key": "default/mysql",
        "external_id": EBS_ID,
        "plugin_id": "ebs",
        "segments": ({ZONE_KEY: "us-east-1a"},),
        "claims": 1,
    }
    return facts.ExaminedVolume(**(whole | changes))


def make_failed(alloc_id, error):
    """An allocation on the client that failed to get a volume."""
    events = (jobs.TaskEvent(message=f"{jobs.HOOK}{error}"),) if error else ()
    return jobs.FailedMount(
        alloc_id=alloc_id,
        namespace="default",
        job_id="web",
        group="db",
        name="web.db[2]",
        node_id="n1",
        node_name="client-1",
        task_events=events,
    )


def make_claimed(**changes):
    """The same volume, read by itself: an allocation on the client claims it."""
    claim = volumes.Claim(
        **{
            "alloc_id": "alloc-w",
            "mode": "write",
            "node_id": "n1",
            "node_name": "client-1",
            "job_id": "web",
            "namespace": "default",
            "client_status": "running",
        }
        | changes
    )
    return volumes.Volume(
        volume_id="mysql",
        namespace="default",
        name="mysql",
        external_id=EBS_ID,
        plugin_id="ebs",
        capabilities=(),
        topologies=(),
        schedulable=True,
        controller_required=True,
        claims=(claim,),
    )


def make_ebs(**changes):
    """The storage of the volume."""
    whole = {
        "external_id": EBS_ID,
        "availability_zone": "us-east-1a",
        "state": "in-use",
        "kms_key_arn": KEY,
        "size_gib": 20,
        "tags": {iam.CLUSTER_TAG: "true"},
    }
    return aws_records.EbsVolumeRecord(**(whole | changes))


def make_machine(**changes):
    """The instance below the client."""
    whole = {
        "instance_id": INSTANCE_ID,
        "state": "running",
        "zone": "us-east-1a",
        "hop_limit": 2,
        "metadata_enabled": True,
        "profile_arn": PROFILE,
    }
    return aws_records.Ec2Instance(**(whole | changes))


def make_role(document=OWN_POLICY, **changes):
    """Its role, with a policy as this package writes it."""
    whole = {"name": "nomad-client", "arn": ROLE_ARN, "documents": {"ebs": document}}
    return aws_records.IamRole(**(whole | changes))


def make_account(**changes):
    """What AWS says."""
    whole = {
        "region": REGION,
        "instances": {INSTANCE_ID: make_machine()},
        "roles": {PROFILE: make_role()},
        "volumes": {EBS_ID: make_ebs()},
        "ours": {EBS_ID: make_ebs()},
        "file_systems": aws_records.ObservedFileSystems(file_systems={}, access_points={}),
        "keys": {KEY: "Enabled"},
    }
    return facts.Account(**(whole | changes))


def make_found(**changes):
    """Everything that was asked; nothing is wrong with it."""
    whole = {
        "servers": (nodes.Server(name="s1.global", status="alive", version="2.0.5"),),
        "clients": (make_node(),),
        "plugins": {"ebs": make_plugin()},
        "tasks": (make_task(), make_task("controller")),
        "volumes": (make_volume(),),
        "token": token_rights.AclToken(name="root", is_unlimited=True),
        "account": make_account(),
        "instance_ids": {"n1": INSTANCE_ID},
    }
    whole["storage"] = changes.get("account", whole["account"])
    return known.known(**(whole | changes))


def made():
    """Return the makers: ``make.found(clients=(make.node(status="down"),))``, and ``make.replace``."""
    makers = {name.removeprefix("make_"): value for name, value in globals().items() if name.startswith("make_")}
    names = {name: value for name, value in globals().items() if name.isupper()}
    return types.SimpleNamespace(replace=dataclasses.replace, **makers, **names)


@pytest.fixture(scope="session")
def make():
    """The makers of `made`."""
    return made()


ABSENT = finding(
    "volume-missing",
    "volume default/mysql",
    expected="registered",
    found="no such volume",
    advice="run `pulumi up`, or `nomad-csi apply` with the spec or the rendered file",
)
UNCHECKED = facts.Unchecked(check="versions", reason="403")
MISSING = verification_report.VolumeStatus(
    namespace="default", volume_id="mysql", plugin_id="aws-ebs0", external_id="vol-1", findings=(ABSENT,)
)


@pytest.fixture
def mixed():
    """Return a report with a healthy controller, a missing node instance and a missing volume."""
    places = [("controller", "a"), ("node", "a")]
    failed = samples.make_ran("node", "b", events=[("Driver Failure", "no image")])
    there = samples.make_seen(
        *(samples.make_instance(*place) for place in places),
        ran=[*(samples.make_ran(*place) for place in places), failed],
    )
    status = health.compare_plugin(samples.EXPECTATION, there, tuple(map(samples.make_node, "ab")))
    return verification_report.VerificationReport(
        plugins=(status,), volumes=(MISSING,), findings=(*status.findings, ABSENT)
    )


@pytest.fixture
def whole(mixed):
    """Return a report in which no field of a plugin, an instance, a volume or a finding is empty or like another."""
    [status] = mixed.plugins
    answers = (
        observed_plugin.Probed(reached=False, status="no-answer", detail="down\n", advice="start it"),
        observed_plugin.Probed(reached=True, status="silent", detail="silent: late\n"),
        observed_plugin.NOT_ASKED,
    )
    rows = [dataclasses.replace(row, csi=answer) for row, answer in zip(status.instances, answers, strict=True)]
    rows[0] = dataclasses.replace(rows[0], zone="us-east-1b")
    rows[1] = dataclasses.replace(
        rows[1], evidence="csi", code="provider-differs", is_extra=True, detail="not needed there (draining)"
    )
    status = dataclasses.replace(
        status,
        instances=tuple(rows),
        policy="at least 50 %",
        causes=(events.Cause(kind="log", where="on b", text="no image"), events.Cause(kind="job", where="p", text="x")),
        healthy_controllers=3,
        expected_controllers=4,
        healthy_nodes=5,
        expected_nodes=6,
    )
    lost = finding("claim-without-controller", "volume prod/kafka", found="none", links=causes.of_plugin("aws-ebs0"))
    late = finding("client-not-counted", "plugin aws-ebs0", expected="all", found="down: c", advice="start it")
    first = finding("controller-missing", "plugin aws-ebs0", found="0", links=causes.of_plugin("aws-ebs0"))
    held = verification_report.VolumeStatus(
        namespace="prod",
        volume_id="kafka",
        plugin_id="aws-efs0",
        external_id="fs-1",
        findings=(lost,),
        capacity_bytes=3 * 2**30,
        detail="external id not compared",
    )
    return verification_report.VerificationReport(
        plugins=(status,),
        volumes=(MISSING, held),
        findings=causes.assign((first, *status.findings, ABSENT, lost, late)),
        unchecked=(UNCHECKED, dataclasses.replace(UNCHECKED, check="mounts", is_expected=True)),
    )


@pytest.fixture(scope="session")
def hurt_report():
    """The report on 24 clients of which one is down, one is drained, and one has a sick plugin."""
    with demo.running(24, 40) as (host, serving):
        demo.hurt(host)
        with nomad.Nomad(nomad.Connection(address=serving.url)) as client:
            return cluster_report.build_report(client, cluster_report.ReportOptions())


@pytest.fixture(scope="session")
def rendered():
    """Return the page of a report as text."""
    return lambda report: environment.html(page.render_page(report), shown_rows=page.ROWS, tool_version="1.2.3")


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window."""
    program, *words = demo.headless()
    if program is None:
        pytest.skip("no chromium on PATH")
    with headless_browser.Browser([program, *words]) as found:
        yield found
