"""CSI plugins, as a real agent showed them."""

import dataclasses
import json

import pytest

from nomad_csi import errors
from nomad_csi.nomad import plugins

EBS_NODE = "59a68066-0324-22e5-6ee1-7481b3556dac"
EBS_SUPPORTS = frozenset({"AttachDetach", "Clone", "CreateDelete", "CreateDeleteSnapshot", "Expand", "ListSnapshots"})
EBS_SEGMENTS = {
    "kubernetes.io/os": "linux",
    "topology.ebs.csi.aws.com/zone": "eu-west-1a",
    "topology.kubernetes.io/zone": "eu-west-1a",
}
EBS_CONTROLLER = plugins.Instance(
    role="controller",
    node_id=EBS_NODE,
    alloc_id="a1f297f2-64bf-d1e6-454b-cabd81ab9778",
    healthy=True,
    health_description="healthy",
    provider="ebs.csi.aws.com",
    provider_version="v1.64.0",
    segments={},
    supports=EBS_SUPPORTS,
)
EBS = plugins.Plugin(
    plugin_id="aws-ebs",
    provider="ebs.csi.aws.com",
    version="v1.64.0",
    controller_required=True,
    controllers=(EBS_CONTROLLER,),
    nodes=(),
    controllers_expected=1,
    nodes_expected=0,
    jobs=frozenset({("default", "ebs-controller")}),
)
EBS_JOBS = frozenset({("default", "ebs-controller"), ("default", "ebs-node")})


def read(agent, client, file, plugin_id):
    agent.recorded(file, path=f"/v1/plugin/csi/{plugin_id}")
    return plugins.get(client, plugin_id)


def test_real_ebs_driver_in_both_roles(agent, client):
    """The driver's own node service on an m5.large of moto."""
    node_id = "1930cf71-9606-f430-e021-0420594e4eaa"
    controller = dataclasses.replace(EBS_CONTROLLER, node_id=node_id, alloc_id="910c3a48-a982-e354-fcdb-3a1eb2223932")
    node = plugins.Instance(
        role="node",
        node_id=node_id,
        alloc_id="e67e3bab-db9f-b37b-ddcd-031ed59aa302",
        healthy=True,
        health_description="healthy",
        provider="ebs.csi.aws.com",
        provider_version="v1.64.0",
        segments=EBS_SEGMENTS,
        supports=frozenset({"Expand", "StageVolume", "Stats"}),
    )

    assert read(agent, client, "07-ebs-plugin-real-node-and-controller.json", "aws-ebs") == dataclasses.replace(
        EBS, controllers=(controller,), nodes=(node,), nodes_expected=1, jobs=EBS_JOBS
    )


def test_plugin_with_null_wherever_nomad_may_write_it(agent, client):
    """Null instead of a list, a map or an instance is read as empty."""
    item = {"ID": "p", "Controllers": None, "Nodes": {"n1": None, "n2": {"NodeInfo": {"AccessibleTopology": None}}}}
    agent.answer("GET", "/v1/plugin/csi/p", json.dumps(item))

    plugin = plugins.get(client, "p")

    assert plugin.controllers == ()
    assert [(node.node_id, node.healthy, node.segments) for node in plugin.nodes] == [
        ("n1", False, {}),
        ("n2", False, {}),
    ]


@pytest.mark.parametrize("shape", ["[]", "null", '"x"', ""])
def test_rejects_an_answer_of_another_shape(agent, client, shape):
    """Something that is no plugin is an error, not an absent plugin."""
    agent.answer("GET", "/v1/plugin/csi/p", shape)

    with pytest.raises(errors.NomadApiError, match=r"the answer: Input should be|the answer is not JSON"):
        plugins.get(client, "p")
