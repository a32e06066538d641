"""``nomad-csi import``: a spec on standard output, what is to be said on standard error."""

import json
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.cli.common import inputs
from nomad_csi.hcl import files
from nomad_csi.migration import live_files
from nomad_csi.pulumi_state import stack_cli, stack_import
from tests.cli import option_world

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
    assert cli.main(["import", EFS]) == 1
    assert capsys.readouterr().err.endswith(
        f"\n\n1 missing:\n{EFS}:29: missing: aws_region of plugin aws-efs0: expected a value, got nothing; add aws_region\n"
        "\nnext: correct or add these in the spec, then `nomad-csi check SPEC`\n"
    )


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


def test_cluster_is_read_in_the_namespace_of_the_environment(monkeypatch, capsys):
    """The names of its drivers are those that Nomad shows; where nothing is found, more may be in what was not read."""
    read = [files.parse(option_world.JOB, "san.hcl")]
    asked = []

    def answer(_client, namespace, remarks, **more):
        asked.append((namespace, more["plugin_id"], [file.name for file in more["known"]]))
        remarks.add("not read", "job a", 0, "denied")
        return live_files.Live(files=read if more["plugin_id"] else [], providers={"san": "live.example"})

    monkeypatch.setattr(live_files, "read", answer)
    monkeypatch.setattr(inputs, "warn_of_erasing", lambda _: None)
    monkeypatch.setenv("NOMAD_NAMESPACE", "prod")

    codes = [cli.main(["import", *words, "--cluster"]) for words in ([EFS, "--plugin", "san"], [])]

    assert (codes, asked) == ([1, 2], [("prod", "san", [EFS]), ("prod", "", [])])
    [_, plugin] = yaml.safe_load(capsys.readouterr().out)["plugins"]
    assert plugin["driver"]["provider"] == "live.example"


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
    odd = tmp_path / "odd.hcl"
    odd.write_bytes(b"\xff")

    assert cli.main(["import", EFS, str(broken), str(odd)]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {broken}: line 1, column 5: ")
    assert printed.err.endswith(f"error: {odd}: line 1: expected text in UTF-8, got the byte 0xff\n")


def test_file_with_nothing_to_import_exits_1(tmp_path, capsys):
    """No empty spec is printed."""
    path = tmp_path / "web.nomad.hcl"
    path.write_text('job "web" {}\n')

    assert cli.main(["import", str(path)]) == 1

    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("error: nothing to import was found: no job with a csi_plugin block, no CSI volume\n")


@pytest.mark.parametrize(("is_there", "code"), [(True, 0), (False, 1)])
def test_a_file_for_pulumi_has_what_can_be_imported(tmp_path, monkeypatch, capsys, is_there, code):
    """The rest is told with its reason; without any resource there is no file."""
    disk = stack_import.Entry({"type": "aws:ebs/volume:Volume", "name": "a"})
    disk.importable = stack_import.ImportableObject(id="vol-1" if is_there else "")
    job = stack_import.Entry({"type": "nomad-csi:index:PluginJob", "name": "web"})
    job.importable = stack_import.ImportableObject(reason="there is no such job")
    found = stack_import.ImportFile(document={"resources": [{"id": "vol-1"}]}, lines=(disk, job))
    monkeypatch.setattr(stack_cli.PulumiStack, "preview", lambda stack: ({"of": stack.name}, ("step",)))
    asked = []
    monkeypatch.setattr(
        stack_import, "fill", lambda draft, steps, _read, _storage: asked.append((draft, steps)) or found
    )
    out = tmp_path / "imports.json"

    assert cli.main(["import", "--for-pulumi", str(out), "--stack", "dev"]) == code
    text, err = capsys.readouterr()
    assert cli.main(["import", "--for-pulumi", str(out), "--json"]) == code

    assert [" ".join(line.split()) for line in text.splitlines()] == [
        "type name id remarks",
        f"aws:ebs/volume:Volume a {'vol-1' if is_there else 'left out'} -",
        "nomad-csi:index:PluginJob web left out there is no such job",
        f"{int(is_there)} of 2 can be imported",
    ]
    assert json.loads(capsys.readouterr().out)["resources"] == [
        {"type": "aws:ebs/volume:Volume", "name": "a", "id": disk.id, "reason": ""},
        {"type": "nomad-csi:index:PluginJob", "name": "web", "id": "", "reason": "there is no such job"},
    ]
    assert err == (f"go on: pulumi import --file {out} --generate-code=false\n" if is_there else "")
    assert (out.read_text() if is_there else out.exists()) == (
        '{\n  "resources": [\n    {\n      "id": "vol-1"\n    }\n  ]\n}\n' if is_there else False
    )
    assert asked[0] == ({"of": "dev"}, ("step",))
