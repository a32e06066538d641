"""`nomad-csi check`: all problems of specs, with file and line, and nothing written."""

import json
import textwrap

import pytest

from nomad_csi import cli
from nomad_csi.hcl import environment

SPEC = """\
plugins:
  - id: aws-ebs0
    driver: aws-ebs
    aws_region: us-east-1
volumes:
  - id: mysql
    plugin_id: aws-ebs0
    ebs: {availability_zone: us-east-1a, size_gib: 40}
  - id: scratch
    plugin_id: aws-ebs0
    create: {capacity_min_gib: 1, availability_zone: us-east-1a}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, name, text):
    (folder / name).write_text(text)
    return name


def test_a_sound_spec_is_one_line_and_nothing_is_written(folder, capsys):
    """Storage of Pulumi whose id is known later, and storage that the plugin makes, need no outputs of a stack."""
    code = cli.main(["check", write(folder, "storage.yaml", SPEC)])

    assert code == 0
    assert capsys.readouterr().out == "storage.yaml: valid, 1 plugin, 2 volumes\n"
    assert [path.name for path in folder.iterdir()] == ["storage.yaml"]


def test_all_problems_of_all_specs_have_their_line(folder, capsys):
    """In a spec, below the key of a stack config, in YAML that is none, and in a file that is not there."""
    wrong = SPEC.replace("size_gib: 40", "size_gib: 0").replace("    aws_region: us-east-1\n", "")
    stack = "config:\n  nomad-csi:storage:\n" + textwrap.indent(wrong, "    ")
    names = [
        write(folder, "good.yaml", SPEC),
        write(folder, "wrong.yaml", wrong),
        write(folder, "Pulumi.dev.yaml", stack),
        write(folder, "keys.yaml", "{b: 1, a: 2}"),
        write(folder, "broken.yaml", "plugins:\n  - id: a\n  id: b\n"),
        "absent.yaml",
    ]

    code = cli.main(["check", *names])

    told = capsys.readouterr()
    assert code == 2
    assert told.out == "good.yaml: valid, 1 plugin, 2 volumes\n"
    region = "plugins[0] (aws-ebs0).aws_region: expected a value, got nothing; add aws_region"
    size = "volumes[0] (mysql).ebs.size_gib: expected 1 to 65536 for gp3, got 0"
    absent, first, second, third, fourth, *keys, broken = told.err.splitlines()
    assert [first, second] == [f"error: wrong.yaml:2: {region}", f"error: wrong.yaml:7: {size}"]
    assert [third, fourth] == [f"error: Pulumi.dev.yaml:4: {region}", f"error: Pulumi.dev.yaml:9: {size}"]
    assert [line.partition(": expected")[0] for line in keys] == ["error: keys.yaml:1: b", "error: keys.yaml:1: a"]
    assert broken.startswith("error: broken.yaml:3: column 3: expected a YAML document, got ")
    assert absent == "error: absent.yaml: No such file or directory"


def test_a_problem_has_the_line_that_says_it(folder, capsys):
    """The key where it is written; what should hold it where it is missing, also in an item of `each`."""
    text = """\
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1}
volumes:
  - id: data
    plugin_id: aws-ebs0
    ebs:
      size_gib: 20
    each:
      - {ebs: {availability_zone: us-east-1a}}
      - {ebs: {size_gib: 30}}
  - id: mysql
    plugin_id: aws-ebs0
    ebs:
      # only in one zone
      size_gib: 20
"""

    cli.main(["check", write(folder, "storage.yaml", text), "--json"])

    [spec] = json.loads(capsys.readouterr().out)["specs"]
    assert {item["path"]: item["line"] for item in spec["problems"]} == {
        "volumes[0].each[1].ebs.availability_zone": 10,
        "volumes[1].ebs.availability_zone": 13,
    }


def test_template_that_leaves_out_what_is_known_later_is_refused(folder, capsys):
    """The id of storage that Pulumi is to create; storage of a plugin has none."""
    ours = environment.templates_folder().joinpath("volume.volume.hcl.j2").read_text()
    write(folder, "volume.volume.hcl.j2", "".join(line for line in ours.splitlines(True) if "external_id" not in line))

    assert cli.main(["check", write(folder, "storage.yaml", SPEC), "--templates", "."]) == 1

    said = capsys.readouterr().err
    assert said.count("error: ") == 1
    assert said.startswith("error: storage.yaml: volumes/default/mysql.volume.hcl: volume default/mysql, ")
