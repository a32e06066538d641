"""A volume file and the same volume in a spec: `lint` finds something wrong where the spec is refused, and else not."""

import itertools
import json

import pytest

from nomad_csi.diagnosis.file_rules import judge
from nomad_csi.drivers import catalogue
from nomad_csi.hcl import documents, files
from nomad_csi.migration import adopt, model
from nomad_csi.plan import storage
from nomad_csi.spec import names

EXTERNAL_IDS = {"aws-ebs": "vol-0123456789abcdef0", "aws-efs": "fs-0123456789abcdef0"}
FILE_SYSTEMS = ("ext4", "xfs", "btrfs", "ntfs", "nfs", "zfs")


@pytest.fixture(autouse=True)
def known_drivers():
    """The real catalogue, instead of the one of the other tests."""


def example(driver):
    """Return the job files and the volume file, as JSON has it, of the driver's example."""
    spec = {
        "plugins": [{"id": "p", "driver": driver.name, **driver.example.plugin}],
        "volumes": [{"id": "v", "plugin_id": "p", **driver.example.volume}],
    }
    plan = storage.plan_document(spec)
    [volume] = plan.volumes
    is_made_by_pulumi = not volume.registration.external_id and not volume.made_by_plugin
    texts = documents.render_plan(plan, {volume.key: EXTERNAL_IDS[driver.name]} if is_made_by_pulumi else {})
    jobs = [files.parse(texts[job.file_name], job.file_name) for plugin in plan.plugins for job in plugin.jobs]
    content = json.loads(json.dumps(files.parse(texts[volume.file_name], "v").volumes[0]))
    return jobs, content | ({"secrets": [driver.example.volume["secrets"]]} if driver.secrets.required else {})


def changed(driver, document):
    """Yield the name of a change, and the keys of the volume *document* that it gives other values."""
    for first, second in itertools.product(names.ACCESS_MODES, names.ATTACHMENT_MODES):
        yield f"{first} {second}", {"capability": [{"access_mode": first, "attachment_mode": second}]}
    options = [{"fs_type": name} for name in FILE_SYSTEMS]
    options += [{"mount_flags": [f"{flag}=x"]} for flag in ("ro", *driver.refused_mount_flags)]
    for option in options:
        yield str(option), {"mount_options": [option]}
    for external_id in ("x", "a b", "x" * 200, *EXTERNAL_IDS.values(), "fs-0123456789abcdef0:/x"):
        yield external_id, {"external_id": external_id} if "external_id" in document else {}
    for name, keys in (("context", driver.context), ("parameters", driver.parameters)):
        yield from ((f"{name} {change}", {name: given}) for change, given in maps(keys, document.get(name, {})))
    yield "no topology", {"topology_request": []}
    zone = driver.topology_key or "zone"
    for key, value in (("strange/zone", "a"), (zone, "us-east-1"), (zone, "")):
        segments = {"segments": {key: value}}
        yield f"{key} is {value!r}", {"topology_request": [{"required": [{"topology": [segments]}]}]}


def maps(keys, given):
    """Yield the name of a change, and the map *given* with it."""
    for key in ("strange", *keys.refused, *(keys.allowed or ())):
        yield f"with {key}", {**given, key: "x"}
    for key in given:
        yield f"without {key}", {other: given[other] for other in given if other != key}
    yield "large", {**given, **{f"k{index}": "x" * 1000 for index in range(5)}}


@pytest.mark.parametrize("name", catalogue.DRIVERS)
def test_lint_finds_what_a_spec_is_refused_for(name):
    """Modes, file systems, flags, ids, keys, sizes and zones that the driver takes, and that it does not."""
    driver = catalogue.DRIVERS[name]
    jobs, document = example(driver)
    differ = set()
    for change, values in (("as it is", {}), *changed(driver, document)):
        file = files.parse(json.dumps({**document, **values}), "v.json")
        remarks = model.Remarks()
        adopt.adopt([*jobs, file], remarks=remarks)
        is_refused = any(remark.kind in model.OPEN for remark in remarks.entries if remark.file == file.name)
        is_found = any(finding.file == file.name for finding in judge.judge([*jobs, file]))
        if is_found != is_refused:
            differ.add((name, change))

    assert differ == set()
