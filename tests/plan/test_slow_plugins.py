"""A plugin that takes long to become healthy gets the time, from Nomad's deployment and from the proof."""

import pytest

from nomad_csi.plan import storage

PORTWORX = {"id": "p", "driver": "portworx", "config": {"cluster_id": "px"}}
EBS = {"id": "p", "driver": "aws-ebs", "aws_region": "us-east-1"}


def planned(plugin):
    [found] = storage.plan_document({"plugins": [plugin], "volumes": []}).plugins
    return found


def test_deployment_of_a_slow_service_outlasts_its_health_timeout():
    """Nomad's own deadline of five minutes would call it a failure long before."""
    [job] = planned(PORTWORX | {"monolith": {"job_type": "service"}}).jobs

    assert (job.health_timeout_s, job.update.healthy_deadline_s) == (1800, 1860)
    assert (job.update.max_parallel, job.update.min_healthy_time_s, job.update.auto_revert) == (1, 10, False)


def test_deployment_of_others_is_left_to_nomad():
    """Their deadline is not ours to say, and a system job has no health to wait for."""
    assert [job.update for job in planned(EBS).jobs] == [None, None]
    for timeout_s, deadline_s in ((299, None), (300, 360), (600, 660)):
        controller, node = planned(EBS | {"health_timeout_s": timeout_s}).jobs
        assert (controller.update and controller.update.healthy_deadline_s, node.update) == (deadline_s, None)


@pytest.mark.parametrize(
    ("changes", "timeout_s"),
    [({}, 1860.0), ({"verify": {"timeout_s": 30}}, 30.0), ({"health_timeout_s": 100}, 300.0)],
    ids=["slow", "said", "quick"],
)
def test_proof_waits_longer_than_nomad_does_for_health(changes, timeout_s):
    """Unless the plugin says how long; at least the usual five minutes."""
    assert planned(PORTWORX | changes).expectation.timeout_s == timeout_s


def test_policy_names_ebs_volumes_alone():
    """A device of the client is no volume that AWS could be asked about."""
    plugin = EBS | {
        "iam": {"role_name": "nomad-client"},
        "extra_arguments": {"controller": ["--enable-node-local-volumes"]},
    }
    volumes = [
        {"id": "a", "plugin_id": "p", "existing": {"external_id": "local-ebs://dev/xvdbz"}},
        {
            "id": "b",
            "plugin_id": "p",
            "existing": {"external_id": "vol-0123456789abcdef0", "availability_zone": "us-east-1a"},
        },
    ]

    [found] = storage.plan_document({"plugins": [plugin], "volumes": volumes}).plugins

    text = str(found.iam_policy.document)
    assert "vol-0123456789abcdef0" in text
    assert "xvdbz" not in text
