"""The identity that a stack's cluster has, and the cluster that may have lost it."""

import contextlib
import itertools
import re
import uuid

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import cluster_identity, variables
from nomad_csi_sandbox.nomad import cluster, server
from nomad_csi_sandbox.nomad.clients import nodes

A, B = "0f8fad5b-d9cb-469f-a165-70867728950e", "9f86d081-884c-4d65-9a2f-eaa0c55ad015"
NODE = nodes.NodeSpec(name="one", zone="us-east-1a", instance_id="")
PUT = f"nomad var put -force -namespace default {cluster_identity.PATH} id="


@pytest.fixture
def connect(tmp_path):
    """Return ``connect(there)``: a client of a new cluster whose identity is *there*, and the cluster; ``None``: none."""
    with contextlib.ExitStack() as stack:

        def start(there=None, **settings):
            made = cluster.Settings(data_dir=tmp_path, nodes=[NODE], environment={}, **settings)
            serving = stack.enter_context(server.Server(cluster.Cluster(made)))
            client = stack.enter_context(nomad.Nomad(nomad.Connection(address=serving.url)))
            if there:
                cluster_identity.restore(client, there)
            return client, serving

        yield start


@pytest.mark.parametrize(
    ("there", "recorded", "makes"), list(itertools.product((None, A), ((), (A,), (B,), (B, A)), (False, True)))
)
def test_only_a_stack_without_recorded_clusters_creates_an_identity(connect, there, recorded, makes):
    """Every combination: an identity that is there is returned, a lost one is neither created nor accepted."""
    client, serving = connect(there)
    before = len(serving.cluster.requests)

    if not there and recorded:
        with pytest.raises(errors.RefusedError) as refused:
            cluster_identity.cluster_of_stack(client, recorded, make=makes)
        text = str(refused.value)
        assert f"volumes or jobs in cluster {', '.join(sorted(recorded))}, and the one at {serving.url} has no" in text
        *old, new = re.findall(re.escape(PUT) + r"(\S+)`", text)
        assert old == sorted(recorded)
        assert new not in {A, B}
        assert {item["method"] for item in list(serving.cluster.requests)[before:]} == {"GET"}
    else:
        found = cluster_identity.cluster_of_stack(client, recorded, make=makes)
        held = variables.get(client, cluster_identity.NAMESPACE, cluster_identity.PATH)
        assert found == (there or (held.items["id"] if held else ""))
        assert bool(found) == bool(there or makes)


def test_identity_that_the_token_may_not_read_is_not_lost(connect):
    """It is not known: nothing is created, and nothing refused."""
    client, _ = connect(token=str(uuid.uuid4()))

    assert cluster_identity.cluster_of_stack(client, (A,), make=True) == ""
