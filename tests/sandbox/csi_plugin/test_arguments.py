import json

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


def test_ebs_without_a_mode_serves_all():
    """The driver's default mode is `all`."""
    assert read("aws-ebs", HERE).mode == "all"


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


@pytest.mark.parametrize(
    "words",
    [
        ["aws-ebs", "controller", HERE, "--nonsense"],
        ["aws-ebs", "node", HERE, "--extra-tags=a=b"],
        ["aws-ebs", "controller", HERE, "--volume-attach-limit=3"],
        ["aws-ebs", "controller", HERE, "--batching=maybe"],
        ["aws-ebs", "controller", HERE, "--v=loud"],
        ["aws-ebs", "controller", "--endpoint"],
        ["aws-ebs", "controller", HERE, "-x"],
        ["aws-efs", HERE, "--nonsense"],
        ["aws-efs", HERE, "--v=loud"],
        [],
        ["gce-disk", HERE],
    ],
)
def test_wrong_flags_end_with_2(words):
    """Flags are refused as the drivers refuse them, those of the other mode too."""
    assert ended(*words)[0] == 2


def test_driver_must_come_first():
    """The rest belongs to the driver."""
    with pytest.raises(arguments.Ended, match="--driver must come first"):
        arguments.read(["controller", "--driver=aws-ebs"], ENVIRONMENT)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["banana"], "Unknown driver mode banana"),
        (["node", "--volume-attach-limit=3", "--reserved-volume-attachments=1"], "only one of --volume-attach-limit"),
        (["node", "--metadata-sources=imds,crystal"], "invalid option 'crystal'"),
    ],
)
def test_ebs_mistakes_that_look_like_success_end_with_0(words, message):
    """The driver exits 0 for them, so its task looks complete: the trap must show in the sandbox too."""
    code, said = ended("aws-ebs", *words, HERE)

    assert code == 0
    assert message in said


@pytest.mark.parametrize("words", [["aws-ebs", "node", HERE], ["aws-efs", HERE]])
@pytest.mark.parametrize("missing", ["NOMAD_CSI_SANDBOX_INSTANCE_ID", "NOMAD_CSI_SANDBOX_ZONE"])
def test_missing_metadata_ends_with_1(words, missing):
    """A node plugin that cannot learn where it runs does not start."""
    assert ended(*words, environment={**ENVIRONMENT, missing: ""})[0] == 1


def test_controller_without_region_ends_with_1():
    """Without a region it would need the metadata."""
    assert ended("aws-ebs", "controller", HERE, environment={})[0] == 1


@pytest.mark.parametrize("key", ["CSIVolumeName", "kubernetes.io/x", "ebs.csi.aws.com/cluster"])
def test_reserved_tags_end_with_1(key):
    """Tags of the driver's own are not for operators."""
    assert ended("aws-ebs", "controller", HERE, f"--extra-tags={key}=x")[0] == 1


def test_efs_stops_reading_at_the_first_word():
    """The known trap: with `node` in front, --endpoint is never read, and no socket is where Nomad looks."""
    code, said = ended("aws-efs", "node", HERE, "--nonsense")

    assert code == 1
    assert said.startswith("--endpoint was not read, so the driver would listen on unix://tmp/csi.sock")


def test_ebs_reads_on_after_a_word():
    """The EBS driver's pflag goes on where Go's own flag package stops."""
    assert str(read("aws-ebs", "controller", "stray", HERE).socket.socket) == "/run/csi.sock"


def test_default_endpoint_is_not_taken_from_the_environment():
    """The drivers do not read CSI_ENDPOINT themselves: who forgets the flag must see it here."""
    code, _ = ended("aws-efs", environment={**ENVIRONMENT, "CSI_ENDPOINT": "unix:///run/csi.sock"})

    assert code == 1


@pytest.mark.parametrize("given", ["127.0.0.1:9000", "unix:csi.sock", "/" + "x" * 200])
def test_rejects_endpoint_that_is_no_socket(given):
    """Only Unix sockets with a path that fits."""
    assert ended("aws-ebs", "controller", f"--endpoint={given}")[0] == 1


def test_single_dashes_are_flags_for_efs():
    """Go's flag package makes no difference between one dash and two."""
    assert read("aws-efs", "-endpoint", "unix:///run/csi.sock", "-v", "2").flags["v"] == "2"


def test_version_names_the_driver_and_the_emulator():
    """The emulator cannot be taken for the driver."""
    code, said = ended("aws-ebs", "--version")

    assert (code, json.loads(said)) == (0, {"driverVersion": "v1.64.0", "emulator": True})


@pytest.mark.parametrize("words", [["aws-ebs", "controller", "--help"], ["aws-efs", "-h"]])
def test_help_ends_with_0(words):
    """Help is no mistake."""
    assert ended(*words) == (0, arguments.USAGE)


def test_efs_limits_must_be_positive():
    """An opt-in without a number is refused."""
    assert ended("aws-efs", HERE, "--volume-attach-limit-opt-in")[0] == 1


HOSTPATH = ("csi-hostpath", "--nodeid=n1", HERE)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("csi-hostpath", HERE), 1, "no node id provided"),
        (("csi-hostpath", "node", "--nodeid=n1", HERE), 1, "no node id provided"),
        ((*HOSTPATH, "--nonsense"), 2, "flag provided but not defined: -nonsense"),
        (("csi-driver-nfs", HERE, "--mount-permissions=loud"), 2, 'invalid argument "loud"'),
        (("csi-driver-nfs", "node", HERE), 1, "--endpoint was not read"),
        (("gce-pd", HERE, "--run-controller-service=false", "--extra-labels=a=b"), 255, "but not running controller"),
        (("digitalocean", HERE, "--region=fra1"), 1, "region flag must not be set"),
        (("digitalocean", HERE, "--v=2"), 2, "flag provided but not defined: -v"),
        (("digitalocean", HERE, "--logtostderr"), 2, "flag provided but not defined: -logtostderr"),
        (("portworx", "-c", "px"), 1, "expected -k with a key value store"),
        (("portworx", "-c", "px", "-k", "consul://127.0.0.1:8500"), 1, "expected CSI_ENDPOINT"),
        (("democratic-csi", "--csi-version=1.5.0"), 1, "driver-config-file is required\ncsi-name is required"),
    ],
)
def test_mistakes_end_as_with_the_driver(words, code, message):
    """Each driver has its own code for the same mistake."""
    found, said = ended(*words)

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


def test_democratic_takes_options_that_it_does_not_know(democratic):
    """It is written with yargs, which is not strict."""
    command = read(*democratic(), "--nonsense", "--csi-mode=controller", environment={"CSI_NODE_ID": "nas"})

    assert (command.mode, command.node_id, command.driver.provider) == ("controller", "nas", "org.democratic-csi.p")


@pytest.mark.parametrize(
    ("backend", "blocks"),
    [("zfs-generic-nfs", False), ("freenas-api-smb", False), ("zfs-generic-iscsi", True), ("zfs-local-zvol", True)],
)
def test_democratic_is_what_its_configuration_says(democratic, backend, blocks):
    """Datasets are mounted, zvols are block devices as well."""
    command = read(*democratic(f"# ours\ndriver: '{backend}'\nzfs: {{}}\n"))

    assert bool(command.driver.block_modes) is blocks


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--csi-version=2.0.0"], "Argument: csi-version"),
        (["--log-level=loud"], "Argument: log-level"),
        (["--csi-mode=both"], "Argument: csi-mode"),
        (["--driver-config-file=/nowhere"], "failed parsing config file: /nowhere"),
    ],
)
def test_democratic_ends_with_1_for_what_it_refuses(democratic, more, message):
    """As yargs does."""
    code, said = ended(*democratic(), *more)

    assert (code, message in said) == (1, True)


def test_democratic_without_a_backend_ends(democratic):
    """A configuration that names no driver makes none."""
    assert "has no line such as `driver: zfs-generic-nfs`" in ended(*democratic("zfs: {}\n"))[1]


def test_gce_credentials_that_are_not_there_end_it():
    """A template that was not filled in shows at once."""
    environment = ENVIRONMENT | {"GOOGLE_APPLICATION_CREDENTIALS": "/nowhere.json"}

    assert ended("gce-pd", HERE, environment=environment)[0] == 255
    assert read("gce-pd", HERE, "--run-controller-service=false", environment=environment).mode == "node"


def test_records_lie_where_the_sandbox_says(tmp_path):
    """Not in the folder that the job names, which is of the machine itself."""
    environment = {"NOMAD_CSI_SANDBOX_STORAGE": str(tmp_path / "s")}

    command = read(*HOSTPATH, "--statedir=/csi-data-dir", environment=environment)

    assert command.storage == tmp_path / "s" / "hostpath.csi.k8s.io.json"
    assert read(*HOSTPATH, environment={}).storage is None


def test_folder_that_cannot_be_made_ends_it(tmp_path):
    """As the driver does."""
    (tmp_path / "file").touch()

    code, said = ended(*HOSTPATH, f"--statedir={tmp_path}/file/state", environment={})

    assert (code, "failed to create" in said) == (1, True)
