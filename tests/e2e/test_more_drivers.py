"""GCE PD, DigitalOcean, and drivers that a spec describes itself, on the sandbox: run, registered, made, verified."""

import pytest

from nomad_csi.drivers import catalogue, model
from nomad_csi.nomad import plugins, volumes
from nomad_csi.spec import driver as drivers

OF_THE_CATALOGUE = set(model.Driver.model_fields) - set(drivers.DriverSpec.model_fields)
TOKEN = "dop_v1_not_a_token"


def described(name, **changes):
    """Return a row of the catalogue as somebody would write it into a spec, with *changes* to its roles."""
    row = catalogue.DRIVERS[name].model_dump(mode="json", exclude=OF_THE_CATALOGUE)
    row["roles"] = {
        role: {key: value for key, value in fields.items() if key != "proof"} | changes
        for role, fields in row["roles"].items()
    }
    return row


def up_and_verified(sandbox, plugin_id, *volume_ids):
    """Bring the *sandbox* up; return what Nomad has then, when verification found nothing and a second run did not."""
    sandbox.up(check=True)
    with sandbox.nomad() as client:
        plugin = plugins.get(client, plugin_id)
        found = [volumes.get(client, "default", volume_id) for volume_id in volume_ids]
    done = sandbox.exec("nomad-csi", "verify", sandbox.config, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing has changed" in sandbox.up(check=True).stdout
    return plugin, *found


def test_gce_disks_are_registered_and_made_and_verified(sandbox, alone):
    """Without credentials: the controller takes the client's service account."""
    disk = "projects/my-project/zones/us-east-1a/disks/mysql"
    alone(
        {"id": "gce-pd0", "driver": "gce-pd"},
        [
            {
                "id": "mysql",
                "plugin_id": "gce-pd0",
                "existing": {"external_id": disk, "availability_zone": "us-east-1a"},
            },
            {
                "id": "made",
                "plugin_id": "gce-pd0",
                "create": {"capacity_min_gib": 10, "availability_zone": "us-east-1a"},
                "parameters": {"type": "pd-balanced"},
            },
        ],
    )

    plugin, mysql, made = up_and_verified(sandbox, "gce-pd0", "mysql", "made")

    assert (plugin.provider, len(plugin.controllers), len(plugin.nodes)) == ("pd.csi.storage.gke.io", 1, 2)
    assert (mysql.external_id, mysql.topologies) == (disk, ({"topology.gke.io/zone": "us-east-1a"},))
    assert made.external_id.endswith("/zones/us-east-1a/disks/made")
    assert made.schedulable


def test_digitalocean_gets_its_token_through_a_template_alone(sandbox, alone):
    """The token is in a Nomad variable; the controller runs with it, and neither jobs nor the stack's state hold it."""
    plugin = {
        "id": "do0",
        "driver": "digitalocean",
        "credentials": {"nomad_variable": "nomad/jobs/plugin-do0-controller"},
    }
    volume_id = "506f78a4-e098-11e5-ad9f-000f53306ae1"
    there = {"external_id": volume_id, "availability_zone": "us-east-1a"}
    sandbox.edit(lambda storage: storage.update(plugins=storage["plugins"][1:], volumes=[]))
    sandbox.up(check=True)
    with sandbox.nomad() as client:
        client.request("PUT", "/v1/var/nomad/jobs/plugin-do0-controller", body={"Items": {"token": TOKEN}})
    alone(
        plugin,
        [
            {"id": "mysql", "plugin_id": "do0", "existing": there},
            {
                "id": "made",
                "plugin_id": "do0",
                "create": {"capacity_min_gib": 1, "availability_zone": "us-east-1a"},
            },
        ],
    )

    plugin, mysql, made = up_and_verified(sandbox, "do0", "mysql", "made")

    assert (plugin.provider, len(plugin.controllers), len(plugin.nodes)) == ("dobs.csi.digitalocean.com", 1, 2)
    assert (mysql.external_id, mysql.topologies) == (volume_id, ({"region": "us-east-1a"},))
    assert made.schedulable
    with sandbox.nomad() as client:
        jobs = [client.request("GET", f"/v1/job/plugin-do0-{name}").data for name in ("controller", "nodes")]
    assert "--token=${DIGITALOCEAN_ACCESS_TOKEN}" in str(jobs[0])
    assert "DIGITALOCEAN_ACCESS_TOKEN" not in str(jobs[1])
    assert TOKEN not in str(jobs) + sandbox.state.read_text()


@pytest.mark.parametrize("name", ["portworx", "csi-driver-nfs"])
def test_driver_that_a_spec_describes_runs_like_one_of_the_catalogue(sandbox, alone, name):
    """Portworx, on the two clients of the sandbox instead of three; and one with a controller."""
    changes = {"count_minimum": 1, "default_count": 2} if name == "portworx" else {}
    config = {"config": {"cluster_id": "px"}} if name == "portworx" else {}
    parameters = {"portworx": {"repl": "2"}, "csi-driver-nfs": {"server": "nas", "share": "/export"}}[name]
    alone(
        {"id": "own0", "driver": described(name, **changes)} | config,
        [{"id": "made", "plugin_id": "own0", "create": {"capacity_min_gib": 1}, "parameters": parameters}],
        player=name,
    )

    plugin, made = up_and_verified(sandbox, "own0", "made")

    assert plugin.provider == catalogue.DRIVERS[name].provider
    assert len(plugin.nodes) == 2
    assert made.schedulable
