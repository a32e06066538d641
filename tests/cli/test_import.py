"""``nomad-csi import``: a spec on standard output, what is to be said on standard error."""

import json
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli

CASES = Path(__file__).parents[1] / "cases"
EFS = str(CASES / "docs-efs-node.nomad.hcl")


def test_spec_goes_out_and_remarks_beside_it(capsys):
    """The spec can be sent to a file; remarks and statuses are read."""
    assert cli.main(["import", EFS, "--aws-region", "us-east-1"]) == 0

    printed = capsys.readouterr()
    assert yaml.safe_load(printed.out) == {
        "plugins": [
            {
                "id": "aws-efs0",
                "driver": "aws-efs",
                "datacenters": ["dc1"],
                "priority": 50,
                "job_ids": {"node": "plugin-efs"},
                "image": "amazon/aws-efs-csi-driver:v.1.3.2",
                "log_verbosity": 5,
                "extra_arguments": {"node": ["--logtostderr"]},
                "resources": {"memory_mib": 300},
                "health_timeout_s": 30,
                "aws_region": "us-east-1",
            }
        ]
    }
    lines = printed.err.splitlines()
    assert f"{EFS}:17: changed: config.network_mode: none becomes host (host-network-missing)" in lines
    assert f"{EFS}:17: changed: privileged" not in printed.err
    assert not any("error: host-network-missing" in line for line in lines)


TESTS = Path(__file__).parents[1]
OWN = [
    TESTS / "catalogue" / "csi-driver-nfs" / "expected",
    TESTS / "catalogue" / "csi-hostpath" / "expected",
    TESTS / "catalogue" / "aws-efs" / "expected",
    TESTS.parent / "examples" / "committed-hcl" / "nomad",
]


@pytest.mark.parametrize("folder", OWN, ids=[folder.parent.name for folder in OWN])
def test_what_we_rendered_comes_back_as_the_same_files(folder, tmp_path, capsys):
    """Imported and rendered again, no byte of jobs and volumes changes, where no secret and no template is in them."""
    before = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.hcl")}
    spec = tmp_path / "storage.yaml"

    named = sorted(before, key=lambda name: name.split(".")[0])  # a volume before those that share its storage
    assert cli.main(["import", *(str(folder / name) for name in named)]) == 0
    spec.write_text(capsys.readouterr().out, encoding="utf-8")
    assert cli.main(["render", str(spec), "--out", str(tmp_path / "out")]) == 0

    out = tmp_path / "out"
    assert {str(path.relative_to(out)): path.read_text(encoding="utf-8") for path in out.rglob("*.hcl")} == before


def test_everything_as_json(capsys):
    """For programs: spec, remarks and findings in one document."""
    assert cli.main(["import", "--json", EFS]) == 1

    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"schema_version", "spec", "remarks", "findings"}
    assert found["remarks"][0] == {
        "kind": "changed",
        "file": EFS,
        "line": 1,
        "text": "namespace: none becomes default",
        "code": "",
    }
    assert {"host-network-missing", "restart-gives-up"} <= {item["code"] for item in found["findings"]}
    assert {item["text"].partition(":")[0]: item["code"] for item in found["remarks"] if item["code"]} == {
        "restart.mode": "restart-gives-up",
        "config.network_mode": "host-network-missing",
        "arguments": "endpoint-written-out",
    }


def test_broken_files_exit_2_and_nothing_is_imported(tmp_path, capsys):
    """Half of a spec would be worse than none."""
    broken = tmp_path / "broken.hcl"
    broken.write_text("a = @\n", encoding="utf-8")

    assert cli.main(["import", EFS, str(broken)]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {broken}: line 1, column 5: ")


def test_file_with_nothing_to_import_exits_1(tmp_path, capsys):
    """No empty spec is printed."""
    path = tmp_path / "web.nomad.hcl"
    path.write_text('job "web" {}\n')

    assert cli.main(["import", str(path)]) == 1

    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("error: nothing to import was found: no job with a csi_plugin block, no CSI volume\n")
