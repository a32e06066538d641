"""The job that verifies: both sides read it alike, and a real agent runs it."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli
from tests.contract import agents

PROGRAM = str(Path(sys.executable).with_name("nomad-csi"))
PAGE = (Path(__file__).parents[2] / "docs/howto/monitoring.md").read_text(encoding="utf-8")
SPEC = {
    "plugins": [{"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}],
    "volumes": [
        {
            "id": "shared",
            "plugin_id": "aws-efs0",
            "existing": {"external_id": "fs-0123456789abcdef0"},
            "mount_options": {"mount_flags": ['note={{ not }} a "template" é🎉']},
        }
    ],
}  # fmt: skip


@pytest.fixture
def printed(tmp_path, capsys):
    """Print the job for the spec: ``printed("--cron", "...")``."""
    path = tmp_path / "storage.yaml"
    path.write_text(yaml.safe_dump(SPEC), encoding="utf-8")

    def call(*words):
        assert cli.main(["verify", "job", str(path), "--command", PROGRAM, *words]) == 0
        return capsys.readouterr().out

    return call


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--image", "registry.example/nomad-csi:1", "--token-variable", "nomad/jobs/verify", "--job-id", "verify"],
        ["--prometheus", "/var/lib/a.prom", "--on-client", "one", "--ca-cert", "/etc/ca.pem", "--region", "global"],
    ],
)
@pytest.mark.real_nomad
def test_both_sides_read_the_job_alike(side_by_side, printed, words):
    """Times, identity, templates, and all that the server adds."""
    source = printed(*words)

    emulator, real = side_by_side

    assert emulator.parse(source) == real.parse(source)


def test_job_has_its_times_and_the_spec(agent, printed):
    """One run after the other, and the spec as it was written."""
    job = agent.parse(printed("--cron", "17 * * * *"))

    [group] = job["TaskGroups"]
    [task] = group["Tasks"]

    assert job["Type"] == "batch"
    assert job["Periodic"] == {
        "Enabled": True,
        "ProhibitOverlap": True,
        "Spec": "",
        "SpecType": "cron",
        "Specs": ["17 * * * *"],
        "TimeZone": "UTC",
    }
    assert task["Identity"]["Env"] is True
    assert json.loads(task["Templates"][0]["EmbeddedTmpl"]) == SPEC


def _run_once(agent, source, job_id, headers=None):
    """Run the periodic job of *source* once, and return the reply to that, its allocation and what it printed."""

    def get(path):
        return agent.call("GET", path, headers=headers)[1]

    body = {"Job": agent.call("POST", "/v1/jobs/parse", {"JobHCL": source, "Canonicalize": True}, headers)[1]}
    assert agent.call("POST", "/v1/jobs", body, headers)[0] == 200
    try:
        forced = agent.call("PUT", f"/v1/job/{job_id}/periodic/force", headers=headers)
        children = agent.until(lambda: get(f"/v1/jobs?prefix={job_id}/periodic-"), bool)
        child = children[0]["ID"].replace("/", "%2F")
        [allocation] = agent.until(
            lambda: get(f"/v1/job/{child}/allocations"),
            lambda found: [alloc["ClientStatus"] for alloc in found] in (["complete"], ["failed"]),
        )
    finally:
        agent.call("DELETE", f"/v1/job/{job_id}?purge=true", headers=headers)
    logs = agent.data_dir / "alloc" / allocation["ID"] / "alloc" / "logs"
    return forced, allocation, "".join((logs / f"verify.{name}.0").read_text() for name in ("stdout", "stderr"))


@pytest.mark.real_nomad
def test_real_agent_runs_it(real_world, printed, fresh, tmp_path):
    """A run that finds something fails, with the report in its log and the metrics in their file."""
    agent, job_id, file = real_world.agent, fresh("verify"), tmp_path / "nomad_csi.prom"
    source = printed("--job-id", job_id, "--prometheus", str(file), "--on-client", "one")

    (status, forced, _), allocation, log = _run_once(agent, source, job_id)

    assert (status, bool(forced["EvalID"])) == (200, True)
    assert allocation["ClientStatus"] == "failed"
    assert allocation["TaskStates"]["verify"]["Restarts"] == 0
    assert "default/shared  missing" in log
    assert "nomad_csi_verify_answered 1\n" in file.read_text()
    assert 'nomad_csi_findings{severity="error",code="plugin-missing"} 1\n' in file.read_text()


@pytest.mark.real_nomad
def test_identity_of_the_task_is_its_token(moto_url, printed):
    """With the policy of the page it may ask all that a status needs; that of another job may not, and says so."""
    if why := agents.obstacle():
        pytest.skip(why)
    [policy] = re.findall(r"```hcl\n(namespace.*?)```", PAGE, re.DOTALL)
    with agents.started(agents.Real, agents.task_environment(moto_url, "i-0"), with_acl=True) as agent:
        root = {"X-Nomad-Token": agent.call("POST", "/v1/acl/bootstrap")[1]["SecretID"]}
        agent.until(
            lambda: agent.call("GET", "/v1/nodes", headers=root)[1],
            lambda found: [node["Status"] for node in found] == ["ready"],
        )
        source = printed("--job-id", "stranger")
        refused = _run_once(agent, source, "stranger", root)[-1]
        given = {"Name": "verify", "Rules": policy, "JobACL": {"Namespace": "default", "JobID": "nomad-csi-verify"}}
        assert agent.call("PUT", "/v1/acl/policy/verify", given, root)[0] == 200
        allowed = _run_once(agent, printed("--address", agent.url), "nomad-csi-verify", root)[-1]

    assert "status 403: Permission denied" in refused
    assert "default/shared  missing" in allowed
    assert "Permission denied" not in allowed
