"""A volume that somebody uses holds up a `destroy`, which says who; `down` removes it with the sandbox."""

import pytest

from nomad_csi.nomad import jobs, volumes

CONSUMER = """\
job "mysql-server" {
  group "mysql-server" {
    volume "data" {
      type            = "csi"
      source          = "mysql"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }
    task "mysql-server" {
      driver = "exec"
      config {
        command = "sleep"
        args    = ["3600"]
      }
    }
  }
}
"""


@pytest.fixture
def consumed(sandbox, until):
    """A sandbox in which a job holds the volume ``mysql``, and the allocation that does."""
    sandbox.up(check=True)
    with sandbox.nomad() as client:
        document = jobs.parse(client, CONSUMER)
        jobs.register(client, document, source=CONSUMER, enforce_index=None)
        until(lambda: claims(client))
        until(lambda: [item.client_status for item in allocations(client)] == ["running"])
        [allocation] = allocations(client)
    return sandbox, allocation


def claims(client):
    return volumes.get(client, "default", "mysql").claims


def allocations(client):
    return jobs.allocations(client, "default", "mysql-server")


def test_destroy_is_refused_while_a_volume_is_claimed_and_down_is_not(consumed):
    """The holder is named, and what serves it is still there."""
    sandbox, allocation = consumed
    before = set(sandbox.resources())

    refused = sandbox.engine("destroy", "--skip-preview")

    assert refused.returncode != 0
    holder = f"job default/mysql-server (write, allocation {allocation.alloc_id}, running on node client-1)"
    assert f"volume default/mysql is claimed and stays registered: {holder}; stop these jobs" in refused.stdout
    left = set(sandbox.resources())
    kept = ("VolumeRegistration mysql", "PluginJob aws-ebs0-node", "PluginJob aws-ebs0-controller", "Volume mysql")
    assert {name for name in before if name.endswith(kept)} <= left
    assert [item.client_status for item in consumers(sandbox)] == ["running"]

    sandbox.run("down", check=True)

    assert not (sandbox.project / ".sandbox").exists()
    assert not sandbox.data_dir.exists()


def consumers(sandbox):
    with sandbox.nomad() as client:
        return allocations(client)
