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
    own, docker = (program_jobs.ProbeJob(state_dir="/srv/client/", image=image) for image in ("", "x/y:1"))
    assert (own.folder, docker.folder, docker.sockets) == (own.sockets, "/csi-plugins", "/srv/client/csi/plugins")
    assert (found.on_nodes.timeout_s, other.on_nodes.timeout_s) == (program_jobs.WAIT_S, 90)
    assert expectation(EFS).on_nodes is None


def test_topologies_name_the_place_where_no_zone_is_given():
    """An existing volume of a driver with zones needs one of the two."""
    ebs = {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}
    volume = {"id": "v", "plugin_id": "aws-ebs0", "existing": {"external_id": "vol-0123456789abcdef0"}}
    place = {"topology.ebs.csi.aws.com/zone": "us-east-1a"}

    [planned] = storage.plan_document({"plugins": [ebs], "volumes": [volume | {"topologies": [place]}]}).volumes

    assert planned.registration.required_topologies == (place,)
