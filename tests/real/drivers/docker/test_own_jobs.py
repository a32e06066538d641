"""The job that probes and the one that verifies, each in a container that holds nomad-csi and nothing of the client."""

import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.drivers import catalogue
from nomad_csi.health import probe_deep, probe_run
from nomad_csi.nomad import jobs, nodes
from nomad_csi.plan import probe_job
from tests import nomad_csi_image

COMMAND = shutil.which("hostpathplugin")
DRIVER = catalogue.DRIVERS["csi-hostpath"]
OWN = "nomad-csi-tests/nomad-csi:1"
RUN_S = 240.0

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not COMMAND or os.geteuid() != 0, reason="needs `hostpathplugin` on PATH, and root"),
]


@pytest.fixture(scope="module")
def document(folder, image, images):
    """One plugin in a container, to be asked."""
    image(DRIVER.image, ["/hostpathplugin"], {"/hostpathplugin": COMMAND} | images.on_path("mount", "umount"))
    return {"plugins": [{"id": "hostpath0", "driver": "csi-hostpath", "config": {"state_dir": str(folder)}}]}


@pytest.fixture(scope="module")
def own(images, tmp_path_factory):
    """The image with nomad-csi; made anew, since what is in it is under test."""
    nomad_csi_image.make(OWN, tmp_path_factory.mktemp("own"))
    yield OWN
    images.remove(OWN)


def test_probe_in_a_container_reaches_the_sockets(stack, own):
    """Through the client's folder, which the container sees at another place."""
    job = probe_job.ProbeJob(image=own, state_dir=f"{stack.agent.folder}/client")

    how = probe_run.OnNodes(job=job, timeout_s=RUN_S, is_strict=True)
    found = probe_deep.probe_on_nodes(stack.agent.client, "hostpath0", how)

    assert [(row.role, row.status) for row in found.rows] == [("controller", "ready"), ("node", "ready")], found
    assert {row.report.name for row in found.rows} == {DRIVER.provider}
    assert jobs.get(stack.agent.client, "default", probe_job.PREFIX) is None


def test_state_dir_that_is_not_the_clients_is_told(stack, own, tmp_path):
    """Docker names the folder that is not there, and makes none."""
    elsewhere = tmp_path / "elsewhere"
    job = probe_job.ProbeJob(image=own, state_dir=str(elsewhere))

    how = probe_run.OnNodes(job=job, timeout_s=RUN_S, is_strict=True)
    found = probe_deep.probe_on_nodes(stack.agent.client, "hostpath0", how)

    assert {row.status for row in found.rows} == {"no-answer"}
    assert f"bind source path does not exist: {elsewhere}/csi/plugins" in found.rows[0].detail
    assert not elsewhere.exists()


@pytest.fixture
def run_once(stack):
    """Run a periodic job once: its allocation, and what it printed."""
    client = stack.agent.client

    def run(source, job_id):
        jobs.register(client, jobs.parse(client, source), source=source, enforce_index=None)
        client.request("PUT", f"/v1/job/{job_id}/periodic/force")
        found = stack.until(lambda: _ended(client, job_id), RUN_S, "the run has ended")
        logs = Path(stack.agent.folder) / "alloc" / found["ID"] / "alloc" / "logs"
        client.request("DELETE", f"/v1/job/{job_id}", query={"purge": "true"})
        return found, "".join((logs / f"verify.{name}.0").read_text() for name in ("stdout", "stderr"))

    return run


def _ended(client, job_id):
    children = client.request("GET", "/v1/jobs", query={"prefix": f"{job_id}/periodic-"}).data
    for child in children:
        path = f"/v1/job/{child['ID'].replace('/', '%2F')}/allocations"
        for found in client.request("GET", path).data:
            if found["ClientStatus"] in {"complete", "failed"}:
                return found
    return None


HEALTHY, ABSENT, UNSEEN = "hostpath0", "absent", "hostpath0 over its socket"


@pytest.mark.parametrize(("case", "status"), [(HEALTHY, "complete"), (ABSENT, "failed"), (UNSEEN, "failed")])
def test_periodic_job_verifies_from_a_container(stack, own, run_once, tmp_path, capsys, case, status):
    """On the host's network it reaches its agent; metrics are in their folder of the client. Sockets it does not see."""
    plugin = {"id": case.split()[0], "driver": "csi-hostpath"}
    if case == UNSEEN:
        task = {"name": "docker", "client_data_dir": str(stack.agent.folder)}
        plugin |= {"task_driver": task, "verify": {"evidence": "csi"}}
    job_id, spec, metrics = f"verify-{status}-{plugin['id']}", tmp_path / "storage.yaml", tmp_path / "nomad_csi.prom"
    spec.write_text(yaml.safe_dump({"plugins": [plugin]}), encoding="utf-8")
    words = ("--image", own, "--address", stack.agent.address, "--prometheus", str(metrics), "--job-id", job_id)
    assert cli.main(["verify", "job", str(spec), "--on-client", _client_name(stack), *words]) == 0

    found, log = run_once(capsys.readouterr().out, job_id)

    assert found["ClientStatus"] == status, log
    expected = {HEALTHY: "healthy", ABSENT: "missing", UNSEEN: "unverified"}[case]
    assert re.search(rf"^{plugin['id']} +{expected} ", log, re.MULTILINE), log
    assert "nomad_csi_verify_answered 1\n" in metrics.read_text(encoding="utf-8")


def _client_name(stack):
    [node] = nodes.list_nodes(stack.agent.client)
    return node.name
