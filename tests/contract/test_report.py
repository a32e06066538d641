"""The report on both sides: what runs is judged by its own jobs, whoever answers."""

import pytest

from nomad_csi.diagnosis import cluster_report


@pytest.mark.usefixtures("world")
def test_report_tells_of_plugins_zones_and_volumes(client):
    """Two plugins, of which one has a controller, on the one client; each volume with the word for it."""
    found = cluster_report.build_report(client, cluster_report.ReportOptions())

    statuses = {item.plugin_id: item.status for item in found.plugins}
    assert {name: (statuses[name].status, statuses[name].counts) for name in ("ebs", "efs")} == {
        "ebs": ("healthy", "1/1 nodes, 1/1 controllers"),
        "efs": ("healthy", "1/1 nodes"),
    }
    assert [(zone.name, zone.clients, zone.ready) for zone in found.zones if zone.clients] == [("us-east-1a", 1, 1)]
    assert (found.cluster.region, len(found.cluster.servers)) == ("global", 1)
    words = {volume.key: (volume.status, volume.zones) for volume in found.volumes}
    assert words["default/zoned"] == ("ok", ("us-east-1a",))
    assert [item.check for item in found.unexpected] == []
    assert found.as_json()["totals"]["plugins"] == len(found.plugins)
