"""``nomad-csi plan``: jobs, volumes and files in one picture, and exit codes for a pipeline."""

import json

import pytest
import yaml

from nomad_csi import cli, nomad
from nomad_csi.jobs import apply as apply_jobs
from nomad_csi.nomad import jobs
from nomad_csi.volumes import apply_volumes

SPEC = {
    "plugins": [
        {
            "id": "aws-efs0",
            "driver": "aws-efs",
            "aws_region": "us-east-1",
            "task_driver": {"name": "raw_exec", "command": "/bin/sleep", "client_data_dir": "/opt/nomad"},
        }
    ],
    "volumes": [{"id": "shared", "plugin_id": "aws-efs0", "existing": {"external_id": "fs-0123456789abcdef0"}}],
}


@pytest.fixture
def project(tmp_path):
    """A spec and its rendered files."""
    path = tmp_path / "storage.yaml"
    path.write_text(yaml.safe_dump(SPEC))
    assert cli.main(["render", str(path), "--out", str(tmp_path / "out")]) == 0
    return tmp_path


@pytest.fixture
def address(empty_agent):
    """An emulator agent without jobs."""
    return empty_agent(environment={"PATH": "/usr/bin:/bin"})


@pytest.fixture
def plan(project, address, capsys):
    """Run the command; return its exit code and the picture."""

    def run():
        capsys.readouterr()
        words = ["plan", str(project / "storage.yaml"), "--out", str(project / "out"), "--address", address]
        code = cli.main([*words, "--json"])
        found = json.loads(capsys.readouterr().out)
        assert cli.main(words) == code
        return code, found, capsys.readouterr().out

    return run


@pytest.fixture
def applied(project, address):
    """Run what is rendered."""
    [path] = (project / "out/jobs").iterdir()
    with nomad.Nomad(nomad.Connection(address=address)) as client:
        jobs.register(client, jobs.parse(client, path.read_text()), source=path.read_text(), enforce_index=None)
    assert cli.main(["apply", str(project / "out"), "--yes", "--address", address]) == 0


def states(found):
    """Return kind and state of each item."""
    return [(item["kind"], item["state"]) for item in found["items"]]


def test_empty_cluster_would_get_everything(plan):
    """And the files are as they are rendered."""
    code, found, table = plan()

    assert (code, found["changes"]) == (1, 2)
    assert states(found) == [("job", "new"), ("volume", "new"), ("file", "equal"), ("file", "equal")]
    assert table.endswith("2 of 4 would change; 2 equal, not shown\n")


@pytest.mark.usefixtures("applied")
def test_each_kind_of_drift_is_seen(plan, project):
    """A job by Nomad's plan, a volume by comparison, a file by its content."""
    changed = SPEC | {
        "plugins": [SPEC["plugins"][0] | {"node": {"resources": {"memory_mib": 333}}}],
        "volumes": [SPEC["volumes"][0] | {"context": {"encryptInTransit": "true"}}],
    }
    (project / "storage.yaml").write_text(yaml.safe_dump(changed))

    code, found, _ = plan()

    assert code == 1
    assert states(found) == [
        ("job", "changes"),
        ("volume", "changes"),
        ("file", "out of date"),
        ("file", "out of date"),
    ]
    assert any("-> 333" in remark for remark in found["items"][0]["remarks"])
    assert found["items"][1]["remarks"] == ['context: Nomad has nothing, wanted {"encryptInTransit": "true"}']


@pytest.mark.parametrize(
    ("states", "code"),
    [([], 0), (["equal"], 0), (["equal", "not compared"], 2), (["not compared", "changes"], 1), (["refused"], 1)],
)
def test_exit_code_says_whether_something_would_change_or_is_not_known(project, address, monkeypatch, states, code):
    """What was not compared is no reason to go on."""
    items = tuple(apply_volumes.PlannedChange(kind="job", name=f"default/{state}", state=state) for state in states)
    drawn = apply_jobs.PlannedChanges(items=items)
    monkeypatch.setattr(apply_jobs, "plan_changes", lambda *_, **__: drawn)

    assert cli.main(["plan", str(project / "storage.yaml"), "--address", address]) == code
