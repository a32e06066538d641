"""How many node instances are enough is planned as it is written, and refused where it cannot be meant."""

from nomad_csi.plan import program_jobs, storage

OWN = {
    "name": "own",
    "provider": "own.csi.example.com",
    "roles": {"monolith": {"job_type": "service", "arguments": ["--endpoint=${CSI_ENDPOINT}"]}},
    "image": "own:1",
    "capabilities": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
}
EFS = {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}


def expectation(plugin):
    [planned] = storage.plan_document({"plugins": [plugin]}).plugins
    return planned.expectation


def test_all_are_wanted_unless_said_otherwise():
    """No minimum is no leave to lack one."""
    found = expectation(EFS)

    assert (found.min_healthy_percent, found.min_healthy_per_zone) == (None, None)


def test_both_minima_are_planned():
    """As written."""
    found = expectation(EFS | {"verify": {"min_healthy_percent": 95, "min_healthy_per_zone": 2}})

    assert (found.min_healthy_percent, found.min_healthy_per_zone) == (95, 2)


def test_what_instances_must_be_able_to_do_follows_from_driver_and_volumes():
    """EBS attaches; a volume that the plugin makes wants a controller that makes some."""
    ebs = {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}

    assert expectation(ebs).controller_supports == ("AttachDetach",)
    assert expectation(EFS).controller_supports == ()


def test_topologies_of_the_spec_go_before_those_of_the_driver():
    """A driver that reports no zone has places of its own."""
    plugin = {"id": "own", "driver": OWN}
    storage_of = {"external_id": "x"}
    volume = {"id": "v", "plugin_id": "own", "existing": storage_of, "topologies": [{"rack": "r1"}, {"rack": "r2"}]}

    [planned] = storage.plan_document({"plugins": [plugin], "volumes": [volume]}).volumes

    assert planned.registration.required_topologies == ({"rack": "r1"}, {"rack": "r2"})


def test_a_volume_that_the_plugin_creates_needs_a_controller_that_creates():
    """The driver's own needs stay."""
    ebs = {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}
    create = {"capacity_min_gib": 1, "availability_zone": "us-east-1a"}
    made = {"plugins": [ebs], "volumes": [{"id": "v", "plugin_id": "aws-ebs0", "create": create}]}

    [plugin] = storage.plan_document(made).plugins

    assert plugin.expectation.controller_supports == ("AttachDetach", "CreateDelete")


def test_the_job_that_asks_on_the_clients_is_planned():
    """In the namespace of the plugin's jobs; what is not said is what the command line has."""
    found = expectation(EFS | {"namespace": "storage", "verify": {"evidence": "csi", "on_nodes": {}}})
    said = {"command": "/opt/nomad-csi", "image": "x/y:1", "state_dir": "/srv/client", "timeout_s": 90}
    other = expectation(EFS | {"verify": {"evidence": "csi", "on_nodes": said}})

    job = program_jobs.probe_of(found.on_nodes, namespace="storage", region="eu")
    assert job == program_jobs.ProbeJob(namespace="storage", region="eu")
    assert program_jobs.probe_of(other.on_nodes, namespace="default", region="") == program_jobs.ProbeJob(
        command="/opt/nomad-csi", image="x/y:1", state_dir="/srv/client"
    )
    assert (found.on_nodes.timeout_s, other.on_nodes.timeout_s) == (program_jobs.WAIT_S, 90)
    assert expectation(EFS).on_nodes is None


def test_topologies_name_the_place_where_no_zone_is_given():
    """An existing volume of a driver with zones needs one of the two."""
    ebs = {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}
    volume = {"id": "v", "plugin_id": "aws-ebs0", "existing": {"external_id": "vol-0123456789abcdef0"}}
    place = {"topology.ebs.csi.aws.com/zone": "us-east-1a"}

    [planned] = storage.plan_document({"plugins": [ebs], "volumes": [volume | {"topologies": [place]}]}).volumes

    assert planned.registration.required_topologies == (place,)
