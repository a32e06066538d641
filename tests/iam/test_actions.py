"""
The granted actions are enough for every call of the driver, and none of them is there for nothing.

moto judges the actions; what only clauses can show (keys, tags made with a volume) is text in tests/components/registrations.yaml.
"""

import itertools
from dataclasses import dataclass, field

import pytest

from nomad_csi import errors
from nomad_csi.csi import services
from nomad_csi.plan import iam
from tests import csi_calls

WRITER = services.volume_capability(access_mode="single-node-writer", attachment_mode="file-system")
GIB = 1 << 30
TIMEOUT_S = 60
TAGS = [{"Key": "ebs.csi.aws.com/cluster", "Value": "true"}]
NAMES = itertools.count()
ASKED_BY_PROBE = "ec2:DescribeAvailabilityZones"


@dataclass
class Scene:
    """What a step works on: made by the administrator, so that a step needs its own actions only."""

    ebs: object
    judging: object
    ec2: object = field(init=False)

    def __post_init__(self):
        self.ec2 = self.judging.client("ec2")

    def volume(self):
        """Make a volume that has the driver's tag."""
        tags = [{"ResourceType": "volume", "Tags": TAGS}]
        return self.ec2.create_volume(AvailabilityZone="us-east-1a", Size=1, TagSpecifications=tags)["VolumeId"]

    def snapshot(self):
        """Make a snapshot."""
        return self.ec2.create_snapshot(VolumeId=self.volume())["SnapshotId"]

    def attached(self):
        """Make a volume and attach it."""
        volume_id = self.volume()
        self.ec2.attach_volume(VolumeId=volume_id, InstanceId=self.judging.instance_id, Device="/dev/xvdzz")
        return volume_id


def prepared(call, make=lambda _scene: None):
    """Return a step: *make* as administrator first, then the driver's *call* with what was made."""

    def step(scene):
        made = make(scene)
        return lambda: call(scene.ebs.connection, made, scene)

    return step


def create(connection, source, _scene):
    """Have the driver make a volume, of a snapshot where there is one."""
    csi_calls.create_volume(
        connection,
        f"volume-{next(NAMES)}",
        WRITER,
        required_bytes=GIB,
        snapshot_id=source or "",
        required_topologies=({"topology.ebs.csi.aws.com/zone": "us-east-1a"},),
        timeout_s=TIMEOUT_S,
    )


def publish(connection, volume_id, scene, **context):
    """Have the driver attach."""
    where = {"volume_id": volume_id, "node_id": scene.judging.instance_id}
    csi_calls.call(connection, "ControllerPublishVolume", WRITER, volume_context=context, timeout_s=TIMEOUT_S, **where)
    scene.ec2.detach_volume(VolumeId=volume_id, InstanceId=scene.judging.instance_id)


STEPS = {
    "probe": prepared(lambda on, _made, _scene: services.probe(on, timeout_s=TIMEOUT_S)),
    "validate": prepared(
        lambda on, made, _scene: services.validate_volume_capabilities(
            on, volume_id=made, capabilities=[WRITER], timeout_s=TIMEOUT_S
        ),
        Scene.volume,
    ),
    "attach": prepared(publish, Scene.volume),
    "detach": prepared(
        lambda on, made, scene: csi_calls.call(
            on, "ControllerUnpublishVolume", volume_id=made, node_id=scene.judging.instance_id, timeout_s=TIMEOUT_S
        ),
        Scene.attached,
    ),
    "create": prepared(create),
    "restore": prepared(create, Scene.snapshot),
    "expand": prepared(
        lambda on, made, _scene: csi_calls.call(
            on,
            "ControllerExpandVolume",
            volume_id=made,
            capacity_range={"required_bytes": 2 * GIB},
            timeout_s=TIMEOUT_S,
        ),
        Scene.volume,
    ),
    "snapshot": prepared(
        lambda on, made, _scene: services.create_snapshot(
            on, source_volume_id=made, name=f"snapshot-{next(NAMES)}", timeout_s=TIMEOUT_S
        ),
        Scene.volume,
    ),
    "delete snapshot": prepared(
        lambda on, made, _scene: csi_calls.call(on, "DeleteSnapshot", snapshot_id=made, timeout_s=TIMEOUT_S),
        Scene.snapshot,
    ),
    "list snapshots": prepared(
        lambda on, made, _scene: csi_calls.call(on, "ListSnapshots", snapshot_id=made, timeout_s=TIMEOUT_S),
        Scene.snapshot,
    ),
    "delete": prepared(
        lambda on, made, _scene: services.delete_volume(on, volume_id=made, timeout_s=TIMEOUT_S), Scene.volume
    ),
}
"""What Nomad has the controller do."""

STATIC = ("probe", "validate", "attach", "detach")
"""What it has it do with volumes that were made elsewhere."""

NEEDED = {
    "ec2:DescribeVolumes": "validate",
    "ec2:DescribeInstances": "attach",
    "ec2:AttachVolume": "attach",
    "ec2:DetachVolume": "detach",
    "ec2:CreateVolume": "create",
    "ec2:DescribeSnapshots": "list snapshots",
    "ec2:DescribeVolumesModifications": "expand",
    "ec2:ModifyVolume": "expand",
    "ec2:CreateSnapshot": "snapshot",
    "ec2:DeleteSnapshot": "delete snapshot",
    "ec2:DeleteVolume": "delete",
}
"""The step that fails without the action."""

ELSEWHERE = {
    "ec2:DescribeInstanceTypes": "test_without_instance_types_the_driver_says_that_it_guesses",
    "ec2:DescribeVolumeStatus": "test_waiting_for_a_restored_volume_asks_for_its_status",
    "ec2:CopyVolumes": "test_cloning_asks_for_copies",
    "ec2:CreateTags": "registrations.yaml",
    "kms:CreateGrant": "registrations.yaml",
    "kms:Decrypt": "registrations.yaml",
    ASKED_BY_PROBE: "test_controller_without_its_question_is_never_healthy",
    "kms:DescribeKey": "registrations.yaml",
    "kms:GenerateDataKeyWithoutPlaintext": "registrations.yaml",
}
"""The test that fails without the action, where it is no step."""


@pytest.fixture
def scene(ebs, judging):
    """A controller in an account."""
    return Scene(ebs, judging)


@pytest.fixture
def fresh(fresh_ebs, judging):
    """A controller in an account that has asked for nothing yet: the driver remembers what it was told of a type."""
    return Scene(fresh_ebs, judging)


def test_every_granted_action_has_a_test_that_fails_without_it(granted):
    """An action that nobody can show a need for is not granted."""
    assert granted == sorted({*NEEDED, *ELSEWHERE})


@pytest.mark.parametrize("name", STEPS)
def test_granted_actions_are_enough(scene, judging, granted, name):
    """Every call of the driver works with what the component grants."""
    judging.grant(granted)

    STEPS[name](scene)()


@pytest.mark.parametrize("name", STATIC)
def test_less_is_enough_for_volumes_made_elsewhere(scene, judging, name):
    """Without volumes of its own making the driver needs nothing that makes, changes or deletes."""
    statements = iam.ebs_policy("us-east-1")["Statement"]
    judging.grant({action for statement in statements for action in statement["Action"]})

    STEPS[name](scene)()


@pytest.fixture
def blind(judging, granted):
    """Everything is granted but what a controller asks EC2 before it calls itself healthy."""
    judging.grant(each for each in granted if each != ASKED_BY_PROBE)


@pytest.mark.usefixtures("blind")
def test_controller_without_its_question_is_never_healthy(fresh_ebs, judging):
    """A controller of its own, begun without the action: one that was healthy once believes it for three hours."""
    with pytest.raises(errors.CsiError) as caught:
        STEPS["probe"](Scene(fresh_ebs, judging))()

    assert f"is not authorized to perform: {ASKED_BY_PROBE}" in caught.value.message + fresh_ebs.log.read_text()


@pytest.mark.parametrize("action", NEEDED)
def test_action_taken_away_breaks_its_call(scene, judging, granted, action):
    """EC2 names the action, and the driver passes its sentence on."""
    judging.grant(each for each in granted if each != action)
    call = STEPS[NEEDED[action]](scene)

    with pytest.raises(errors.CsiError) as caught:
        call()

    # A long sentence is cut in the error that users see; the driver's log has the whole.
    assert "is not authorized" in caught.value.message
    assert f"is not authorized to perform: {action}" in caught.value.message + scene.ebs.log.read_text()


def test_without_instance_types_the_driver_says_that_it_guesses(fresh, judging, granted):
    """The attachment works by the driver's own table, which does not know newer types."""
    judging.grant(each for each in granted if each != "ec2:DescribeInstanceTypes")

    STEPS["attach"](fresh)()

    assert "Failed to describe instance type, falling back to static table" in fresh.ebs.log.read_text()


def test_with_instance_types_the_driver_guesses_nothing(fresh, judging, granted):
    """What is granted keeps the log free of it."""
    judging.grant(granted)

    STEPS["attach"](fresh)()

    assert "falling back" not in fresh.ebs.log.read_text()


def test_waiting_for_a_restored_volume_asks_for_its_status(fresh, judging, granted):
    """Without the action EC2 refuses; with it moto has no answer, which is another error."""
    attach = prepared(
        lambda on, made, scene: publish(on, made, scene, blockattachuntilinitialized="true"), Scene.volume
    )

    without = [each for each in granted if each != "ec2:DescribeVolumeStatus"]
    assert "is not authorized to perform: ec2:DescribeVolumeStatus" in _refusal(fresh, judging, attach, without)
    assert "is not authorized to perform" not in _refusal(fresh, judging, attach, granted)


def test_cloning_asks_for_copies(scene, judging, granted):
    """The driver copies with CopyVolumes; moto has no answer to that, which is another error than a refusal."""
    if not scene.ebs.is_real:
        pytest.skip("the emulator plays a clone with CreateVolume: moto has no CopyVolumes")

    def clone(connection, source, _scene):
        # the driver asks again and again what moto lacks
        csi_calls.create_volume(
            connection, f"clone-{next(NAMES)}", WRITER, required_bytes=GIB, clone_id=source, timeout_s=5
        )

    step = prepared(clone, Scene.volume)

    without = [each for each in granted if each != "ec2:CopyVolumes"]
    assert "is not authorized to perform: ec2:CopyVolumes" in _refusal(scene, judging, step, without)
    assert "is not authorized to perform" not in _refusal(scene, judging, step, granted)


def _refusal(scene, judging, step, actions):
    judging.grant(actions)
    with pytest.raises(errors.CsiError) as caught:
        step(scene)()
    return caught.value.message
