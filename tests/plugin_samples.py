"""Small plugins, clients and volumes to compare."""

import dataclasses

import pytest

from nomad_csi.csi import records
from nomad_csi.health import observed_plugin
from nomad_csi.nomad import jobs, nodes, plugins
from nomad_csi.plan import model

EXPECTATION = model.PluginExpectation(
    plugin_id="aws-ebs0",
    provider="ebs.csi.aws.com",
    version="v1.64.0",
    namespace="default",
    controllers=1,
    datacenters=("*",),
    node_pool="default",
    task_driver="docker",
    client_data_dir="",
    evidence="nomad",
    timeout_s=300,
    stable_s=3,
)

READY = records.ProbeReport(
    endpoint="/csi.sock",
    status="ready",
    detail="fine",
    latency_ms=1.0,
    name="ebs.csi.aws.com",
    vendor_version="v1.64.0",
    node_capabilities=(),
)
"""Of a node instance of that plugin."""


@pytest.fixture
def expected():
    """Return a factory of expectations: one controller and every client, but for what is given."""
    return lambda **changes: dataclasses.replace(EXPECTATION, **changes)


def make_node(name, **changes):
    """Return a client, ready and eligible but for what is given."""
    ready = nodes.Node(
        node_id=f"id-{name}",
        name=name,
        datacenter="dc1",
        node_pool="default",
        node_class="",
        status="ready",
        eligible=True,
        draining=False,
        drivers={"docker": True},
    )
    return dataclasses.replace(ready, **changes)


@pytest.fixture
def node():
    """Return a factory of clients by name, ready and eligible but for what is given."""
    return make_node


def make_instance(role, name, **changes):
    """Return a healthy instance, ``node-a`` is its allocation on client a."""
    zone = {"topology.ebs.csi.aws.com/zone": "us-east-1a"} if role == "node" else {}
    healthy = plugins.Instance(
        role=role,
        node_id=f"id-{name}",
        alloc_id=f"{role}-{name}",
        healthy=True,
        health_description="healthy",
        provider="ebs.csi.aws.com",
        provider_version="v1.64.0",
        segments=zone,
        supports=frozenset(),
    )
    return dataclasses.replace(healthy, **changes)


@pytest.fixture
def instance():
    """Return a factory of healthy instances, ``instance("node", "a")``, with allocation ``node-a``."""
    return make_instance


def make_ran(role, name, *, events=(), outdated="", **changes):
    """Return a running allocation of one of the plugin's jobs."""
    allocation = jobs.Allocation(
        alloc_id=f"{role}-{name}",
        node_id=f"id-{name}",
        node_name=name,
        client_status="running",
        desired_status="run",
        task_events=tuple(
            jobs.TaskEvent(time_ns=at, type=kind, message=message, task="plugin")
            for at, (kind, message) in enumerate(events)
        ),
        restarts=0,
    )
    return observed_plugin.Ran(
        job_id=f"plugin-aws-ebs0-{role}",
        job_type="system" if role == "node" else "service",
        allocation=dataclasses.replace(allocation, **changes),
        outdated=outdated,
    )


@pytest.fixture
def ran():
    """Return a factory of running allocations of a plugin's jobs: ``ran("node", "a", events=[("Driver", "text")])``."""
    return make_ran


def make_plugin(*instances, **changes):
    """Return the plugin as Nomad has it, with those instances."""
    plugin = plugins.Plugin(
        plugin_id="aws-ebs0",
        provider="ebs.csi.aws.com",
        version="v1.64.0",
        controller_required=True,
        controllers=tuple(item for item in instances if item.role == "controller"),
        nodes=tuple(item for item in instances if item.role == "node"),
        controllers_expected=0,
        nodes_expected=0,
    )
    return dataclasses.replace(plugin, **changes)


def make_seen(*instances, provider="ebs.csi.aws.com", **more):
    """Return what was found; no instances and no record for ``None``."""
    record = None if instances == (None,) else make_plugin(*instances, provider=provider)
    more["ran"] = tuple(more.get("ran", ()))
    more.setdefault("names_jobs", bool(more["ran"]))
    events = [event.time_ns for item in more["ran"] for event in item.allocation.task_events]
    more.setdefault("now_ns", max(events, default=0))
    return observed_plugin.ObservedPlugin(plugin=record, **more)


@pytest.fixture
def seen():
    """Return a factory of what was found: ``seen(*instances, ran=[...])``; no instances and no record for ``None``."""
    return make_seen
