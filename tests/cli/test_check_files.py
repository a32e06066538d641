"""``nomad-csi check``: what it prints and how it exits."""

import json
import textwrap
from pathlib import Path

import pytest

from nomad_csi import cli

CASES = Path(__file__).parents[1] / "cases"
RIGHT = Path(__file__).parents[1] / "diagnosis/file_rules/right"


def test_clean_files_exit_0(capsys):
    """Nothing to say is said in a line."""
    assert cli.main(["check", str(RIGHT / "node.nomad.hcl"), str(RIGHT / "controller.nomad.hcl")]) == 0

    assert capsys.readouterr().out == "2 files, nothing found\n"


def test_warnings_alone_are_no_reason_to_fail(capsys):
    """Unless somebody says so; they are printed either way."""
    path = str(CASES / "tutorial-ebs-nodes.nomad.hcl")

    codes = [cli.main(["check", path]), cli.main(["check", path, "--strict"])]

    assert codes == [0, 1]
    assert capsys.readouterr().out.count("5 found in 1 file") == 2
    assert cli.main(["check", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_findings_exit_1(capsys):
    """One line for each, and how to learn more."""
    path = CASES / "tutorial-volume.hcl"

    assert cli.main(["check", str(path)]) == 1

    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{path}:1: error: topology-missing: volume mysql: topology_request: expected a zone: ")
    assert last == "1 found in 1 file; `nomad-csi explain CODE` explains it"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'# x\nid = "\xff"\n', "{path}: line 2: expected text in UTF-8, got the byte 0xff"),
        (b"spec: yaml\n", "{path}: line 1, column 5: expected what HCL allows there, got ':'"),
        (b'{"a": 1}', "{path}: expected a job file, a volume file or an IAM policy, got none of them"),
        (b'id = "x"\ntype = "nfs"\n', '{path}: expected a CSI volume (type = "csi"), got a volume of another type'),
    ],
    ids=["encoding", "yaml", "json", "another type"],
)
def test_broken_files_exit_2(tmp_path, capsys, content, said):
    """A file that cannot be read is told with its line; the others are judged all the same."""
    path = tmp_path / "broken.hcl"
    path.write_bytes(content)

    assert cli.main(["check", str(path), str(CASES / "tutorial-volume.hcl")]) == 2

    printed = capsys.readouterr()
    assert printed.err == f"error: {said.format(path=path)}\n"
    assert "topology-missing" in printed.out
    assert "1 found in 1 file (not all could be read); " in printed.out
    assert cli.main(["check", str(path), str(RIGHT / "node.nomad.hcl"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out) == {"schema_version": 1, "ok": False, "specs": [], "findings": []}


def test_a_folder_stands_for_the_files_below_it(tmp_path, capsys):
    """All *.hcl, and the IAM policy; one without any is told."""
    (tmp_path / "gone.json").symlink_to("nowhere")
    assert cli.main(["check", str(RIGHT)]) == 0
    assert cli.main(["check", str(tmp_path)]) == 2

    printed = capsys.readouterr()
    assert printed.out == f"{len(list(RIGHT.rglob('*.hcl'))) + 1} files, nothing found\n"
    assert printed.err == f"error: {tmp_path}: expected files or a directory with *.hcl, got a directory without any\n"


SECRETS = """\
classes:
  fast: {secrets: {key: CANARY-1}}
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1, environment: {PROXY: "http://u:CANARY-2@p", secrets: x}}
volumes:
  - id: a
    plugin_id: aws-ebs0
    existing: {external_id: vol-0123456789abcdef0, availability_zone: us-east-1a}
    secrets:
      user: {secure: v1:abc}
      password: CANARY-3
    each:
      - secrets: {password: CANARY-4, empty: ""}
"""


@pytest.mark.parametrize(("is_stack", "first"), [(False, 0), (True, 2)])
def test_secrets_in_clear_in_a_committed_spec_are_errors(tmp_path, capsys, is_stack, first):
    """With the line and never the value, wherever they stand; in a stack's config encrypted ones are none."""
    spec = tmp_path / "storage.yaml"
    indented = textwrap.indent(SECRETS, "    ")
    spec.write_text(
        f"config:\n  nomad-csi:storage:\n{indented}" if is_stack else SECRETS.replace("{secure: v1:abc}", '""')
    )

    assert cli.main(["check", str(spec)]) == 1

    out = capsys.readouterr().out
    assert [line.partition(";")[0] for line in out.splitlines()[:-1]] == [
        f"{spec}:{first + line}: error: secret-in-file: spec: a plain-text value at {place}"
        for line, place in (
            (2, "classes.fast.secrets.key"),
            (4, "plugins[0].environment.PROXY"),
            (11, "volumes[0].secrets.password"),
            (13, "volumes[0].each[0].secrets.password"),
        )
    ]
    assert "CANARY" not in out
