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


def test_ebs_controller_needs_no_metadata():
    """A controller with a region starts on any machine."""
    command = read("aws-ebs", "controller", HERE, "--v=2", environment={"AWS_REGION": "us-east-1"})

    assert (command.mode, command.machine, command.region) == ("controller", None, "us-east-1")
    assert (command.serves_controller, command.serves_node) == (True, False)


def test_ebs_node_knows_its_machine():
    """Instance and zone come from the sandbox instead of the metadata service."""
    command = read("aws-ebs", "node", HERE, "--v=2", "--metadata-sources=imds")

    assert command.machine == arguments.Machine(instance_id="i-0abc", zone="us-east-1a")
    assert (command.serves_controller, command.serves_node) == (False, True)


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


@pytest.fixture
def democratic(tmp_path):
    """Write a configuration of democratic-csi, and return what starts it."""

    def write(text="driver: zfs-generic-nfs\n"):
        config = tmp_path / "config.yaml"
        config.write_text(text, encoding="utf-8")
        return [
            *("democratic-csi", "--csi-version=1.5.0", "--csi-name=org.democratic-csi.p"),
            *(f"--driver-config-file={config}", "--server-socket=unix:///run/csi.sock"),
        ]

    return write


@pytest.mark.parametrize(
    ("backend", "blocks"),
    [("zfs-generic-nfs", False), ("freenas-api-smb", False), ("zfs-generic-iscsi", True), ("zfs-local-zvol", True)],
)
def test_democratic_is_what_its_configuration_says(democratic, backend, blocks):
    """Datasets are mounted, zvols are block devices as well."""
    command = read(*democratic(f"# ours\ndriver: '{backend}'\nzfs: {{}}\n"))

    assert bool(command.driver.block_modes) is blocks


def test_records_lie_where_the_sandbox_says(tmp_path):
    """Not in the folder that the job names, which is of the machine itself."""
    environment = {"NOMAD_CSI_SANDBOX_STORAGE": str(tmp_path / "s")}

    command = read(*HOSTPATH, "--statedir=/csi-data-dir", environment=environment)

    assert command.storage == tmp_path / "s" / "hostpath.csi.k8s.io.json"
    assert read(*HOSTPATH, environment={}).storage is None
