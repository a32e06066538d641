"""A plugin of one zone is verified by the clients of that zone, as the agent describes them."""


def test_plugin_of_one_zone_runs_and_is_counted_there_only(sandbox):
    """Of two clients one is in the zone, and that one is enough."""

    def only_zone_a(storage):
        plugin = storage["plugins"][0]
        plugin |= {"availability_zone": "us-east-1a", "controller": {"count": 1}}

    sandbox.edit(only_zone_a)

    up = sandbox.up(check=True)

    assert "aws-ebs0 healthy 1/1 1/1 csi ebs.csi.aws.com" in " ".join(up.stdout.split())
