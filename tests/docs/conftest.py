"""What the commands of pages find: an emulated agent in this process."""

import contextlib

import pytest

from nomad_csi import nomad
from nomad_csi_sandbox.nomad import cluster, state
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes


@pytest.fixture
def emulated(tmp_path, monkeypatch):
    """
    Begin an emulated agent with one client, which knows plugins: ``emulated("aws-efs0")`` returns cluster and client.

    Commands find it, and the current folder is the test's.
    """
    with contextlib.ExitStack() as stack:

        def begin(*plugin_ids, **settings):
            specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
            own = {"data_dir": tmp_path, "nodes": specs, "environment": {"PATH": "/usr/bin:/bin"}} | settings
            made = cluster.Cluster(cluster.Settings(**own))
            for plugin_id in plugin_ids:
                made.state.plugins[plugin_id] = state.PluginRecord(plugin_id=plugin_id, create_index=1, modify_index=1)
            serving = stack.enter_context(agent.Server(made))
            monkeypatch.setenv("NOMAD_ADDR", serving.url)
            monkeypatch.chdir(tmp_path)
            return made, stack.enter_context(nomad.Nomad(nomad.Connection(address=serving.url)))

        yield begin
