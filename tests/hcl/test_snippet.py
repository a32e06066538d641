"""The blocks by which a job uses a volume: they say what the volume is, and our own reader takes them."""

from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.cli.common import inputs
from nomad_csi.diagnosis.file_rules import judge
from nomad_csi.hcl import documents, files
from nomad_csi.plan import snippet, storage

CATALOGUE = Path(__file__).parents[1] / "catalogue"
VOLUMES = [
    pytest.param(item, id=f"{path.parent.name}/{item.key}")
    for path in sorted(CATALOGUE.glob("*/storage.yaml"))
    for item in inputs.read_plan(path).volumes
]
WRITER, READER = {"access_mode": "single-node-writer"}, {"access_mode": "single-node-reader-only"}


def planned(*capabilities, **more):
    """Return the plans of a volume, or of a set."""
    volume = {"id": "data", "plugin_id": "p", "create": {"capacity_min_gib": 1}, "capabilities": list(capabilities)}
    plugin = {"id": "p", "driver": "csi-hostpath"}
    return storage.plan_document({"plugins": [plugin], "volumes": [volume | more]}).volumes


def registrations(*capabilities, **more):
    """Return the registrations of these."""
    return [item.registration for item in planned(*capabilities, **more)]


def job_of(found):
    """Return the job that has the blocks of *found*, as text."""
    text = documents.snippet(found)
    head, _, mount = text.partition("# Into each task")
    task = f'task "t" {{\ndriver = "docker"\n# Into each task{mount}}}\n'
    return f'job "j" {{\nnamespace = "{found.namespace}"\ngroup "g" {{\n{head}{task}}}\n}}\n'


def read(found):
    """Return the group of that job, its only volume block, and the only volume_mount of its task."""
    [job] = files.parse(job_of(found), "j.nomad.hcl").jobs
    [group] = job.groups
    [task] = group.tasks
    [request] = group.volumes
    [mount] = task.body["volume_mount"]
    return group, request, mount


@pytest.mark.parametrize("item", VOLUMES)
def test_blocks_claim_the_volume_as_it_is_registered(item):
    """Of every driver's volumes, beside their files: the linter, which compares the two, remarks no error."""
    found = snippet.make_snippet([item.registration], item.registration.volume_id)

    _, request, mount = read(found)
    volume = documents.volume_file(item.registration, made_by_plugin=item.made_by_plugin)
    judged = judge.judge([files.parse(volume, "v.volume.hcl"), files.parse(job_of(found), "j.nomad.hcl")])
    modes = [(mode.access_mode, mode.attachment_mode) for mode in item.registration.capabilities]
    assert (request.source, request.per_alloc) == (item.registration.volume_id, False)
    assert (request.access_mode, request.attachment_mode) in modes
    assert mount["volume"] == request.name
    assert [str(one) for one in judged if one.file == "j.nomad.hcl" and one.severity == "error"] == []


def test_set_is_claimed_by_index():
    """As many allocations as volumes, each with its own."""
    found = snippet.make_snippet(registrations(WRITER, count=3), "data")

    group, request, _ = read(found)
    assert (group.count, request.source, request.per_alloc, found.is_alone) == (3, "data", True, False)


def test_one_of_a_set_is_a_volume_like_others():
    """Named with its index; what tasks call it has none."""
    found = snippet.make_snippet(registrations(WRITER, count=3)[1:2], "data[1]")

    group, request, mount = read(found)
    assert (group.count, request.source, request.per_alloc) == (None, "data[1]", False)
    assert (request.name, mount["volume"], mount["destination"]) == ("data", "data", "/data")


@pytest.mark.parametrize(
    ("capabilities", "reads", "mode", "read_only"),
    [
        ([WRITER], False, "single-node-writer", False),
        ([WRITER], True, "single-node-writer", True),
        ([READER], False, "single-node-reader-only", True),
        ([READER, WRITER], False, "single-node-writer", False),
        ([WRITER, READER], True, "single-node-reader-only", True),
    ],
)
def test_only_reading_is_said_in_both_blocks(capabilities, reads, mode, read_only):
    """A reader mode goes with read_only, which Nomad demands; it is taken where the job only reads, or there is no other."""
    found = snippet.make_snippet(registrations(*capabilities), "data", reads=reads)

    _, request, mount = read(found)
    assert (request.access_mode, request.read_only, mount.get("read_only", False)) == (mode, read_only, read_only)
    told = found.blocks()["volume_mount"]["read_only"], found.is_alone, len(found.others)
    assert told == (read_only, True, len(capabilities) - 1)


def test_block_device_is_below_dev():
    """It is no folder, and is mounted by nobody."""
    device = {"access_mode": "single-node-writer", "attachment_mode": "block-device"}
    [item] = planned(device)

    _, request, mount = read(snippet.make_snippet([item.registration], "data"))

    assert (request.attachment_mode, mount["destination"]) == ("block-device", "/dev/data")


def test_text_is_as_reviewed():
    """What somebody reads who pastes it."""
    options = {"fs_type": "ext4", "mount_flags": ["noatime"]}
    [item] = planned(WRITER, {"access_mode": "multi-node-multi-writer"}, namespace="prod", mount_options=options)

    text = documents.snippet(snippet.make_snippet([item.registration], "data", destination="/srv/x"))

    assert text == (
        "# Into the group (one allocation: count = 1), of a job in namespace prod:\n"
        "# The volume may be claimed as multi-node-multi-writer file-system, too.\n"
        'volume "data" {\n'
        '  type            = "csi"\n'
        '  source          = "data"\n'
        '  access_mode     = "single-node-writer"\n'
        '  attachment_mode = "file-system"\n'
        "}\n\n"
        "# Into each task that uses it, run by docker, podman, exec or java:\n"
        "volume_mount {\n"
        '  volume      = "data"\n'
        '  destination = "/srv/x"\n'
        "}\n"
    )


def test_rejects_a_set_that_no_one_block_can_claim():
    """Without modes in common."""
    volumes = registrations(each=[{"capabilities": [WRITER]}, {"capabilities": [READER]}])

    with pytest.raises(errors.SpecError, match="data: expected capabilities that all its volumes have, got none"):
        snippet.make_snippet(volumes, "data")
