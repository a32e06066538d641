"""
Our own program on both engines: every step that it can take, and states, operations and words compared after each.

Known deviations of the emulator, which the comparison leaves out; none of them changes what is made:
secrets, of which the emulator keeps digests only (that both are secret is compared); times and source positions; ids of
providers; and the lines about steps under way, which come in whatever order steps that run at once take.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan import registration


@dataclass(frozen=True, kw_only=True)
class Step:
    """A change, and what is done about it."""

    name: str
    spec: Any = None
    """Changes the storage spec."""

    by_hand: Any = None
    """Changes what is outside, given the `Engine`."""

    operation: tuple = ("up", "--skip-preview")
    code: int = 0


def volume(storage, volume_id):
    """Return the volume of the spec."""
    return next(each for each in storage["volumes"] if each["id"] == volume_id)


def change(volume_id, **fields):
    """Return a change of a volume's own fields."""
    return lambda storage: volume(storage, volume_id).update(fields)


def change_ebs(volume_id, **fields):
    """Return a change of a volume's EBS fields."""
    return lambda storage: volume(storage, volume_id)["ebs"].update(fields)


def add_volume(storage):
    ebs = {"availability_zone": "us-east-1b", "size_gib": 8}
    storage["volumes"].append({"id": "data", "namespace": "default", "plugin_id": "aws-ebs0", "ebs": ebs})


def remove(volume_id):
    """Return a change that removes a volume from the spec."""
    return lambda storage: storage["volumes"].remove(volume(storage, volume_id))


def disturb(engine):
    """Drop a registration, stop a job, edit a file."""
    with engine.sandbox.nomad() as client:
        client.request("DELETE", "/v1/volume/csi/mysql")
        client.request("DELETE", "/v1/job/plugin-aws-efs0-nodes")
    edited = engine.sandbox.project / "rendered/jobs/aws-ebs0-controller.nomad.hcl"
    edited.write_text(edited.read_text() + "# a note\n")


def alter(engine):
    """Register a job and a volume otherwise, and tag the EBS volume."""
    rendered = engine.sandbox.project / "rendered/jobs/aws-efs0-node.nomad.hcl"
    [volume_id] = engine.sandbox.owned()[0]
    with engine.sandbox.nomad() as client:
        document = jobs.parse(client, rendered.read_text())
        jobs.register(client, document | {"Priority": 61}, source=rendered.read_text(), enforce_index=None)
        found = volumes.get(client, "default", "mysql").registration()
        capability = registration.Capability(access_mode="single-node-reader-only", attachment_mode="file-system")
        volumes.register(client, dataclasses.replace(found, capabilities=(*found.capabilities, capability)))
    engine.sandbox.aws("ec2").create_tags(Resources=[volume_id], Tags=[{"Key": "by", "Value": "hand"}])


def guard(storage):
    storage["protect"] = True


def move_guarded(storage):
    change_ebs("mysql", availability_zone="us-east-1a")(storage)


def give_back(storage):
    """End the protection, with the volume as it is."""
    storage["protect"] = False
    storage["volumes"].insert(0, {"id": "mysql", "plugin_id": "aws-ebs0", "ebs": MOVED})


PREVIEW = ("preview",)
MOVED = {"availability_zone": "us-east-1b", "size_gib": 50}
MOUNT = {"fs_type": "xfs", "mount_flags": ["noatime"]}
CAPABILITIES = [
    {"access_mode": "single-node-writer", "attachment_mode": "file-system"},
    {"access_mode": "single-node-writer", "attachment_mode": "block-device"},
]

STEPS = (
    Step(name="up again", operation=("up",)),
    Step(name="size", spec=change_ebs("mysql", size_gib=50)),
    Step(name="mount options", spec=change("mysql", mount_options=MOUNT)),
    Step(name="capabilities", spec=change("mysql", capabilities=CAPABILITIES)),
    Step(name="volume added", spec=add_volume),
    Step(name="volume removed", spec=remove("data")),
    Step(name="preview of the zone", spec=change_ebs("mysql", availability_zone="us-east-1b"), operation=PREVIEW),
    Step(name="zone"),
    Step(name="secrets added", spec=change("mysql", secrets={"key": "sesame"})),
    Step(name="secrets changed", spec=change("mysql", secrets={"key": "open sesame"})),
    Step(name="protected", spec=guard),
    Step(name="zone of what is protected", spec=move_guarded, operation=PREVIEW, code=1),
    Step(name="removal of what is protected", spec=remove("mysql"), operation=PREVIEW, code=1),
    Step(name="not protected", spec=give_back),
    Step(name="preview after changes by hand", by_hand=disturb, operation=PREVIEW),
    Step(name="mended"),
    Step(name="refreshed after changes by hand", by_hand=disturb, operation=("refresh", "--skip-preview")),
    Step(name="made again after the refresh"),
    Step(name="preview of what has drifted", by_hand=alter, operation=PREVIEW),
    Step(name="refreshed after a drift", operation=("refresh", "--skip-preview")),
    Step(name="drift mended"),
    Step(name="destroyed", operation=("destroy", "--skip-preview")),
)


def take(engine, step):
    """Take *step* with *engine*, and return what it did and what the state is then."""
    if step.spec:
        engine.sandbox.edit(step.spec)
    if step.by_hand:
        step.by_hand(engine)
    run = engine.run(*step.operation)
    return run, engine.steady()


def reached(step, operations):
    """Return *operations* without updates of files where the step is refused: the refusal comes before or after them."""
    return {each for each in operations if not (step.code and each[0] == "update" and "RenderedFile" in each[1])}


def assert_alike(step, states, real, ours):
    """Insist that both did, said and kept the same."""
    (theirs, kept), (mine, held) = real, ours
    assert (theirs.code, mine.code) == (step.code, step.code), theirs.text + mine.text
    assert reached(step, states.shown(mine.operations)) == reached(step, states.shown(theirs.operations)), step.name
    if not step.code:  # the counts of a refused step are those of what was reached
        assert mine.summaries() == theirs.summaries(), step.name
    assert mine.diagnostics() == theirs.diagnostics(), step.name
    found = states.differences(states.normal(held), states.normal(kept))
    assert not found, "\n".join([f"state after: {step.name}", *found])
    assert states.in_order(held), f"order after: {step.name}"


def test_both_engines_take_every_step_of_the_program_alike(both, states, noise):
    """What the spec can ask for, and what a hand can do outside: made, changed, replaced, refused, mended, removed."""
    real, ours = both(lambda engine: (engine.start_sandbox(), engine.steady()))
    assert_alike(Step(name="up"), states, real, ours)
    assert noise(real[0].text) == []

    for step in STEPS:
        real, ours = both(lambda engine, step=step: take(engine, step))

        assert_alike(step, states, real, ours)
        assert noise(real[0].text) == [], step.name
