"""Status of whole files: those that operators have, several together, hostile ones."""

from pathlib import Path

import pytest

from nomad_csi.diagnosis.file_rules import judge
from nomad_csi.drivers import catalogue
from nomad_csi.hcl import files

CASES = Path(__file__).parents[2] / "cases"

EVERY_JOB = {"restart-gives-up", "image-other-version", "endpoint-written-out"}
EXPECTED = {
    "democratic-volume-legacy.hcl": {"legacy-modes", "block-map"},
    "docs-efs-node.nomad.hcl": EVERY_JOB | {"folder-missing", "host-network-missing"},
    "tutorial-ebs-controller.nomad.hcl": EVERY_JOB | {"flag-without-effect", "health-timeout-short"},
    "tutorial-ebs-nodes.nomad.hcl": EVERY_JOB | {"flag-without-effect", "health-timeout-short"},
    "tutorial-iam-policy.json": {
        "policy-any-volume",
        "policy-without-limits",
        "policy-without-probe",
    },
    "tutorial-mysql.nomad.hcl": set(),
    "tutorial-volume.hcl": {"topology-missing"},
}


@pytest.mark.parametrize(("name", "codes"), EXPECTED.items(), ids=EXPECTED)
def test_files_of_the_guides(judged, name, codes):
    """What is old, unsafe or wrong in the files of the public guides, and nothing else."""
    found = judged({name: (CASES / name).read_text(encoding="utf-8")})

    assert {status.code for status in found} == codes


def test_findings_come_in_the_order_of_files_and_lines(judged):
    """A reader goes through the files once."""
    names = [name for name, codes in EXPECTED.items() if codes]

    found = judged({name: (CASES / name).read_text(encoding="utf-8") for name in names})

    assert [status.file for status in found] == sorted((status.file for status in found), key=names.index)
    for name in names:
        lines = [status.line for status in found if status.file == name]
        assert lines == sorted(lines)


def test_a_consumer_is_judged_by_its_volume_block(judged):
    """The tutorial's database job fits the tutorial's volume; its password is its own business."""
    text = (CASES / "tutorial-mysql.nomad.hcl").read_text(encoding="utf-8")
    volume = (CASES / "tutorial-volume.hcl").read_text(encoding="utf-8").replace("single-node-writer", "x", 1)

    found = judged({"job": text, "volume": volume})

    assert ("job", "claim-mode-differs") in {(status.file, status.code) for status in found}


@pytest.mark.parametrize(
    "text",
    [
        'id = "x"\nexternal_id = "e"\nplugin_id = "p"\nsecrets = {\n  password = "hunter2"\n}\ncontext = {\n  api_key = "hunter2"\n}\n',
        'id = "x"\nexternal_id = "e"\nplugin_id = "p"\nsecrets {\n  password = ["hunter2"]\n}\n',
        'job "x" {\n  group "g" {\n    task "t" {\n      driver = "docker"\n      config {\n        image = "a/b:1"\n'
        '        args = ["--token=hunter2", "--password", "hunter2", "AKIAHUNTER2HUNTER222"]\n      }\n'
        '      env {\n        SECRET_KEY = "hunter2"\n      }\n      csi_plugin {\n        id = "p"\n        type = "node"\n      }\n    }\n  }\n}\n',
    ],
)
def test_no_status_tells_a_secret(judged, text):
    """A secret in a file is named by its key."""
    found = judged({"file": text})

    assert {"secret-in-file", "secret-in-argument", "volume-unreadable"} & {status.code for status in found}
    assert "hunter2" not in " ".join(map(str, found)).lower()


def test_a_plugin_that_is_not_in_the_catalogue_is_judged_by_what_nomad_wants(judged):
    """Privilege, restarts, pinned image: they hold for every driver."""
    text = (
        'job "x" {\n  group "g" {\n    task "t" {\n      driver = "docker"\n      config {\n        image = "a/b"\n'
        "      }\n"
        '      csi_plugin {\n        id = "p"\n        type = "node"\n      }\n    }\n  }\n}\n'
    )

    found = judged({"file": text})

    assert [(status.code, status.line) for status in found] == [
        ("node-not-everywhere", 1),
        ("restart-gives-up", 2),
        ("privilege-missing", 5),
        ("image-unpinned", 6),
    ]


def test_a_plugin_is_judged_by_the_driver_that_is_given():
    """That of the spec, whatever its image; without one, that of the image."""
    text = (Path(__file__).parent / "right/controller.nomad.hcl").read_text(encoding="utf-8")
    file = files.parse(text.replace("60s", "1s"), "x")

    codes = [
        [item.code for item in judge.judge_plugins(file, driver)] for driver in (catalogue.DRIVERS["strict"], None)
    ]

    assert codes == [
        ["controllers-too-many", "health-timeout-short", "image-other-version", "positional-word", "flag-unknown"],
        ["health-timeout-short"],
    ]
