"""A plugin of one zone is verified by the clients of that zone, as the agent describes them."""


def test_plugin_of_one_zone_runs_and_is_counted_there_only(sandbox):
    """Of two clients one is in the zone, and that one is enough."""

    def only_zone_a(storage):
        plugin = storage["plugins"][0]
        plugin |= {"availability_zone": "us-east-1a", "controller": {"count": 1}}

    sandbox.edit(only_zone_a)

    up = sandbox.up(check=True)

    assert "aws-ebs0 healthy 1/1 1/1 csi ebs.csi.aws.com" in " ".join(up.stdout.split())


def test_plugin_of_a_zone_without_clients_is_refused_at_once(sandbox):
    """Waiting would not bring one; the constraint is named."""

    def nowhere(storage):
        storage["plugins"][0] |= {
            "constraints": [{"attribute": "${meta.rack}", "operator": "is_set"}],
            "controller": {"count": 1},
        }

    sandbox.edit(nowhere)

    done = sandbox.up()

    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "plugin aws-ebs0 cannot become healthy; nothing was registered" in said
    assert "none of 2 clients (${meta.rack} is not set, not is_set: client-1, client-2)" in said
