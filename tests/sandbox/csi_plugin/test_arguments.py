import pytest

from nomad_csi.drivers import catalogue
from nomad_csi_sandbox.csi_plugin import arguments

ENVIRONMENT = {
    "AWS_REGION": "us-east-1",
    "NOMAD_CSI_SANDBOX_INSTANCE_ID": "i-0abc",
    "NOMAD_CSI_SANDBOX_ZONE": "us-east-1a",
}
HERE = "--endpoint=unix:///run/csi.sock"


def read(*words, environment=ENVIRONMENT):
    return arguments.read(["--driver", *words], environment)


def ended(*words, environment=ENVIRONMENT):
    with pytest.raises(arguments.Ended) as caught:
        read(*words, environment=environment)
    return caught.value.code, str(caught.value)


@pytest.mark.parametrize("name", sorted(arguments.DRIVERS))
def test_arguments_of_our_catalogue_are_accepted(name, tmp_path):
    """What our own job files render starts the driver, in the role that it is rendered for."""
    config = tmp_path / "config.yaml"
    config.write_text("driver: zfs-generic-nfs\n", encoding="utf-8")
    filled_in = {
        "${CSI_ENDPOINT}": "unix:///run/csi.sock", "${DIGITALOCEAN_ACCESS_TOKEN}": "token", "{log_verbosity}": "2",
        "{log_level}": "info", "{config_file}": str(config), "{plugin_id}": "p", "{node_id}": "n1",
        "{state_dir}": str(tmp_path / "state"), "{cluster_id}": "px", "{kvdb}": "consul://127.0.0.1:8500",
    }  # fmt: skip
    environment = ENVIRONMENT | {"CSI_ENDPOINT": "unix:///run/csi.sock"}
    for kind, role in catalogue.DRIVERS[name].roles.items():
        words = list(role.arguments)
        for mark, value in filled_in.items():
            words = [each.replace(mark, value) for each in words]

        command = read(name, *words, environment=environment)

        assert str(command.socket.socket) == "/run/csi.sock"
        assert command.serves_controller or kind == "node"
        assert command.serves_node or kind == "controller"


def test_what_is_played_is_what_the_catalogue_has():
    """No emulator is without a driver of the catalogue, and the drivers without an emulator are known."""
    not_played = {"ceph-rbd", "cephfs", "hetzner", "rocketduck-nfs", "seaweedfs", "smb"}
    assert {*arguments.DRIVERS, *not_played} == set(catalogue.DRIVERS)


HOSTPATH = ("csi-hostpath", "--nodeid=n1", HERE)


EBS = ("aws-ebs", "controller", HERE)
NOWHERE = {"AWS_REGION": "", "NOMAD_CSI_SANDBOX_INSTANCE_ID": "", "NOMAD_CSI_SANDBOX_ZONE": "us-east-1a"}
MISTAKES = [
    ((*EBS, "--nonsense"), {}, 2, ""),
    (("aws-ebs", "node", HERE, "--extra-tags=a=b"), {}, 2, ""),
    ((*EBS, "--volume-attach-limit=3"), {}, 2, ""),
    ((*EBS, "--batching=maybe"), {}, 2, ""),
    ((*EBS, "--v=loud"), {}, 2, ""),
    (("aws-ebs", "controller", "--endpoint"), {}, 2, ""),
    ((*EBS, "-x"), {}, 2, ""),
    (("aws-efs", HERE, "--nonsense"), {}, 2, ""),
    ((), {}, 2, ""),
    (("gce-disk", HERE), {}, 2, ""),
    # The driver exits 0 for these, so its task looks complete.
    (("aws-ebs", "banana", HERE), {}, 0, "Unknown driver mode banana"),
    (("aws-ebs", "node", "--volume-attach-limit=3", "--reserved-volume-attachments=1", HERE), {}, 0, "only one of"),
    (("aws-ebs", "node", "--metadata-sources=imds,crystal", HERE), {}, 0, "invalid option 'crystal'"),
    (("aws-ebs", "controller", "--help"), {}, 0, arguments.USAGE),
    (("aws-efs", "-h"), {}, 0, arguments.USAGE),
    (("aws-ebs", "node", HERE), NOWHERE, 1, ""),
    (("aws-efs", HERE), NOWHERE, 1, ""),
    (EBS, NOWHERE, 1, ""),
    *(
        ((*EBS, f"--extra-tags={key}=x"), {}, 1, "")
        for key in ("CSIVolumeName", "kubernetes.io/x", "ebs.csi.aws.com/cluster")
    ),
    *(
        (("aws-ebs", "controller", f"--endpoint={given}"), {}, 1, "")
        for given in ("127.0.0.1:9000", "unix:csi.sock", "/" + "x" * 200)
    ),
    # With `node` in front --endpoint is never read; CSI_ENDPOINT is not read by the drivers themselves.
    (("aws-efs", "node", HERE, "--nonsense"), {}, 1, "the driver would listen on unix://tmp/csi.sock"),
    (("aws-efs",), {"CSI_ENDPOINT": "unix:///run/csi.sock"}, 1, ""),
    (("aws-efs", HERE, "--volume-attach-limit-opt-in"), {}, 1, ""),
    (("csi-hostpath", HERE), {}, 1, "no node id provided"),
    (("csi-hostpath", "node", "--nodeid=n1", HERE), {}, 1, "no node id provided"),
    ((*HOSTPATH, "--nonsense"), {}, 2, "flag provided but not defined: -nonsense"),
    ((*HOSTPATH, "--statedir=/dev/null/state"), {}, 1, "failed to create"),
    (("csi-driver-nfs", HERE, "--mount-permissions=loud"), {}, 2, 'invalid argument "loud"'),
    (("csi-driver-nfs", "node", HERE), {}, 1, "--endpoint was not read"),
    (("gce-pd", HERE, "--run-controller-service=false", "--extra-labels=a=b"), {}, 255, "but not running controller"),
    (("gce-pd", HERE), {"GOOGLE_APPLICATION_CREDENTIALS": "/nowhere.json"}, 255, ""),
    (("digitalocean", HERE, "--region=fra1"), {}, 1, "region flag must not be set"),
    (("digitalocean", HERE, "--v=2"), {}, 2, "flag provided but not defined: -v"),
    (("portworx", "-c", "px"), {}, 1, "expected -k with a key value store"),
    (("portworx", "-c", "px", "-k", "consul://127.0.0.1:8500"), {}, 1, "expected CSI_ENDPOINT"),
    (("democratic-csi", "--csi-version=1.5.0"), {}, 1, "driver-config-file is required\ncsi-name is required"),
]


@pytest.mark.parametrize(("words", "variables", "code", "message"), MISTAKES)
def test_mistakes_end_as_with_the_driver(words, variables, code, message):
    """Each driver has its own code for the same mistake; a trap must show in the sandbox, too."""
    found, said = ended(*words, environment=ENVIRONMENT | variables)

    assert (found, message in said) == (code, True), said


def test_records_lie_where_the_sandbox_says(tmp_path):
    """Not in the folder that the job names, which is of the machine itself."""
    environment = {"NOMAD_CSI_SANDBOX_STORAGE": str(tmp_path / "s")}

    command = read(*HOSTPATH, "--statedir=/csi-data-dir", environment=environment)

    assert command.storage == tmp_path / "s" / "hostpath.csi.k8s.io.json"
    assert read(*HOSTPATH, environment={}).storage is None
