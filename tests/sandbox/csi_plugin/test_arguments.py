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
    (("gce-disk", HERE), {}, 2, ""),
    # The driver exits 0 for these, so its task looks complete.
    (("aws-ebs", "banana", HERE), {}, 0, "Unknown driver mode banana"),
    (("aws-ebs", "node", "--volume-attach-limit=3", "--reserved-volume-attachments=1", HERE), {}, 0, "only one of"),
    (("aws-ebs", "node", HERE), NOWHERE, 1, ""),
    ((*EBS, "--extra-tags=ebs.csi.aws.com/cluster=x"), {}, 1, ""),
    (("aws-ebs", "controller", "--endpoint=127.0.0.1:9000"), {}, 1, ""),
    # With `node` in front --endpoint is never read; CSI_ENDPOINT is not read by the drivers themselves.
    (("aws-efs", "node", HERE, "--nonsense"), {}, 1, "the driver would listen on unix://tmp/csi.sock"),
    (("csi-hostpath", HERE), {}, 1, "no node id provided"),
    (("csi-driver-nfs", "node", HERE), {}, 1, "--endpoint was not read"),
    (("gce-pd", HERE, "--run-controller-service=false", "--extra-labels=a=b"), {}, 255, "but not running controller"),
    (("digitalocean", HERE, "--region=fra1"), {}, 1, "region flag must not be set"),
    (("portworx", "-c", "px"), {}, 1, "expected -k with a key value store"),
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
