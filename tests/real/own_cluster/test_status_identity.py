"""Name and version on a real server with two clients: what Nomad was told, what it was told once, and a job that changes."""

import pytest

from tests.real import two_clients

pytestmark = pytest.mark.real_nomad


ONE_AT_A_TIME = 'update {\n max_parallel = 1\n min_healthy_time = "1s"\n}'
ROWS = ("node instance of plugin {id} on c1", "node instance of plugin {id} on c2")
"""A monolith is a controller as well, by the same task: one finding for both."""


@pytest.fixture(scope="module")
def cluster():
    """Both clients, and all plugins at once: they get well together."""
    with two_clients.started() as made:
        made.plugins = {
            "astray": made.hostpath("astray", "--drivername=other.csi.example.com"),
            "older": made.hostpath("older"),
            "moving": made.hostpath("moving", top=ONE_AT_A_TIME),
            "swapped": made.run("swapped", health_timeout="2m"),
        }
        yield made


def told(seen):
    """Return severity and text of each finding."""
    return [(item.severity, str(item)) for item in seen.status.findings]


def test_other_drivers_name_under_the_plugins_id(cluster):
    """The hostpath driver with a name of its own: however well it is, it is not the one that the plan has."""
    plugin = cluster.plugins["astray"]

    seen = plugin.until("wrong-identity", *["wrong-identity"] * 4, **two_clients.HOSTPATH)

    why = "expected hostpath.csi.k8s.io, found"
    assert told(seen) == [
        (
            "error",
            f"provider-differs: plugin astray: {why} other.csi.example.com; correct the image or command, "
            "or choose another plugin id",
        ),
        *(
            (
                "error",
                f"provider-differs: {row.format(id='astray')}: {why} it reports other.csi.example.com; correct the "
                "image or command, or choose another plugin id",
            )
            for row in ROWS
        ),
    ]
    assert (seen.status.provider, seen.status.counts) == ("other.csi.example.com", "0/2 nodes, 0/2 controllers")


def test_other_version_than_planned(cluster):
    """The version that the driver answers itself, against one that a plan wants."""
    plugin = cluster.plugins["older"]
    version = plugin.until("healthy", **two_clients.HOSTPATH).status.version

    seen = plugin.look(**two_clients.HOSTPATH | {"version": "v0.0.1"})

    assert version.startswith("v1.")
    assert told(seen) == [
        (
            "error",
            f"version-differs: {row.format(id='older')}: expected version v0.0.1, found version {version}; correct the "
            "image, or wait for a rolling update to finish",
        )
        for row in ROWS
    ]
    assert (seen.status.status, seen.status.ok) == ("wrong-identity", False)


def test_job_that_changes_is_outdated_until_each_client_has_it(cluster):
    """One client after the other; what still runs the job as it was says so, and in the end all is well."""
    plugin = cluster.plugins["moving"]
    plugin.until("healthy", *["healthy"] * 4, **two_clients.HOSTPATH)
    before = {name: plugin.allocation(name).alloc_id for name in two_clients.ZONES}
    cluster.hostpath("moving", "--v=2", top=ONE_AT_A_TIME)

    seen = two_clients.until(lambda: _with_outdated(plugin.look(**two_clients.HOSTPATH)))
    after = plugin.until("healthy", *["healthy"] * 4, **two_clients.HOSTPATH)

    outdated = [item for item in seen.status.findings if item.code == "instance-outdated"]
    assert {item.found for item in outdated} == {"it runs version 0 of its job, which is at version 1"}
    assert {item.advice for item in outdated} == {"wait for the rolling update, or check the job's deployment"}
    assert not seen.status.ok
    assert not {row.alloc_id for row in after.status.instances} & set(before.values())


def _with_outdated(seen):
    return seen if "outdated" in {row.status for row in seen.status.instances} else None


def test_version_that_changed_in_place_is_asked_of_the_instance(cluster):
    """Nomad asks name and version of an allocation once, and not again after a restart in place; we ask the instance."""
    plugin = cluster.plugins["swapped"]
    plugin.until("healthy", "healthy", "healthy")
    plugin.fault("c2", version="v9")
    plugin.restart("c2")

    own = plugin.until("wrong-identity", "healthy", "wrong-identity", client_data_dir=str(cluster.folder / "c2"))
    later = plugin.until("healthy", "healthy", "healthy")  # heard of by Nomad since, or a minute on

    assert told(own) == [
        (
            "error",
            "version-differs: node instance of plugin swapped on c2: expected version v3.4.1, found version v9; "
            "restarted once so far; correct the image, or wait for a rolling update to finish",
        )
    ]
    assert [row.evidence for row in own.status.instances] == ["nomad", "csi"]
    assert [item.provider_version for item in later.seen.plugin.nodes] == ["v3.4.1", "v3.4.1"]
    assert later.status.instances[1].detail == "restarted once so far"
