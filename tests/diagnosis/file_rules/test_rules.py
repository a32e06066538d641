"""Each rule: fires on a file with one thing wrong, and not on the file without."""

from pathlib import Path

import pytest

from nomad_csi.findings import registry
from tests import tables

RIGHT = {path.name: path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "right").iterdir()}
"""Files with which nothing is wrong, by name."""

EFS = RIGHT["efs.nomad.hcl"]
VOLUME = RIGHT["volume.volume.hcl"]
CONSUMER = RIGHT["consumer.nomad.hcl"]

FOLDER = Path(__file__).parent
SENTENCES = tables.load(FOLDER / "sentences.yaml")
"""What is found in the examples, by their codes."""

WRONG = tables.load(FOLDER / "wrong.yaml")
"""
What makes a file wrong: the code, the file of `RIGHT` or its text, what is replaced in it, and the line of the finding.

``also`` are further codes that fire of the same change, ``beside`` other files that are given too.
"""

NEAR = tables.load(FOLDER / "near.yaml")


def changed(of, change=None, **_):
    """Return a file that is right with some texts replaced."""
    text = RIGHT[of]
    for old, new in (change or {}).items():
        assert old in text
        text = text.replace(old, new, 1)
    return text


def written(status):
    """Return all of a finding but its file."""
    return f"{status.line} {status.code} {status.subject}: {status.found}; {status.advice}"


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_wrong_with_what_is_right(judged, name):
    """The files that the other tests change are clean."""
    assert judged({name: RIGHT[name]}) == ()


def test_nothing_is_wrong_with_all_of_them_together(judged):
    """Jobs, volumes, a consumer and the policy fit each other."""
    assert judged(RIGHT) == ()


def test_efs_may_run_as_controller(judged):
    """Its process serves both roles, so Nomad sees it as healthy."""
    assert "plugin-type-unknown" not in {item.code for item in judged({"x": EFS.replace('"node"', '"controller"')})}


@pytest.mark.parametrize("example", WRONG, ids=[example["code"] for example in WRONG])
def test_rule_fires_on_one_change_and_says_the_line(judged, example):
    """With one thing wrong, the rule says so at its line, and no other rule but those that it brings along."""
    code, text = example["code"], example.get("text") or RIGHT[example["of"]]
    assert example["old"] in text

    found = judged({**example.get("beside", {}), "sample": text.replace(example["old"], example["new"], 1)})

    mine = [status for status in found if status.file == "sample"]
    assert {status.code for status in mine} == {code, *example.get("also", ())}
    assert min(status.line for status in mine if status.code == code) == example["line"]
    assert list(map(written, mine)) in SENTENCES[code]


@pytest.mark.parametrize("row", NEAR, ids=[row["what"] for row in NEAR])
def test_what_is_near_a_rule(judged, row):
    """The other half of each condition: what has no finding, or another one; whole sentences."""
    given = {**row.get("beside", {}), "sample": row}

    found = judged({name: changed(**each) for name, each in given.items()})

    assert [written(status) for status in found if status.file == "sample"] == row["found"]


@pytest.mark.parametrize(
    ("more", "codes"),
    [("", ["claim-by-several"]), ("per_alloc = true\n", []), ("read_only = true\n", ["claim-by-several"])],
)
def test_several_allocations_of_one_volume_are_refused_by_nomad(judged, more, codes):
    """With per_alloc each has its own; Nomad refuses readers, too."""
    text = CONSUMER.replace("count = 1", "count = 3").replace('type            = "csi"', f'{more}type = "csi"')

    assert [item.code for item in judged({"sample": text})] == codes


def test_every_rule_has_an_example():
    """A rule without one would be a rule that nobody saw firing."""
    assert {example["code"] for example in WRONG} == {
        code for code, row in registry.codes().items() if "check" in row.commands
    }


def test_a_host_volume_file_is_read_and_has_no_findings(judged):
    """A directory with both kinds can be checked as a whole."""
    assert judged({"host.volume.hcl": 'type = "host"\nname = "data"\nplugin_id = "mkdir"\n'}) == ()


def test_many_volumes_with_one_external_id_are_one_finding_each(judged):
    """Each names the first one, so that 60 files are 59 lines."""
    texts = {f"{index}.hcl": VOLUME.replace('"mysql"', f'"m{index}"') for index in range(10)}

    assert [item.code for item in judged(texts)] == ["external-id-shared"] * 9
