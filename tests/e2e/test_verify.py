"""`nomad-csi verify` against a sandbox that is up."""

import contextlib
import json
import os
import signal
import threading
from pathlib import Path

import pytest

from nomad_csi.nomad import jobs
from tests import deadlines


@pytest.fixture
def efs_only(sandbox):
    """A sandbox of the test's own, up, with the EFS plugin and no volume."""

    def keep_efs(storage):
        storage["plugins"] = [plugin for plugin in storage["plugins"] if plugin["driver"] == "aws-efs"]
        storage["volumes"] = []

    sandbox.edit(keep_efs)
    sandbox.up(check=True)
    return sandbox


@pytest.fixture
def kept_dead():
    """Return a function that ends every process of an allocation, again and again until the test is over."""
    over = threading.Event()
    threads = []

    def keep(alloc_id):
        ended = threading.Event()

        def work():
            while not over.is_set():
                for pid in of_allocation(alloc_id):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                    ended.set()
                over.wait(0.02)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        assert ended.wait(deadlines.PATIENT_S)

    yield keep
    over.set()
    for thread in threads:
        thread.join()


def of_allocation(alloc_id):
    """Return the pids of a plugin's processes: the endpoint on their command line names the allocation."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"/{alloc_id}/csi.sock".encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def verify(sandbox, *words):
    return sandbox.exec("nomad-csi", "verify", sandbox.config, *words, check=False)


def test_verify_verifies_everything(untouched):
    """Exit code 0; plugins and instances by their own answers, volumes by Nomad's status."""
    done = verify(untouched)

    assert done.returncode == 0, done.stdout + done.stderr
    table = [line.split() for line in done.stdout.splitlines()]
    assert ["aws-ebs0", "healthy", "2/2", "2/2", "csi", "ebs.csi.aws.com", "v1.64.0"] in table
    assert ["aws-efs0", "healthy", "-", "2/2", "csi", "efs.csi.aws.com", "v3.4.1"] in table
    rows = [row[4:] for row in table if row[:1] in (["default/mysql"], ["default/shared"])]
    assert rows == [["nomad", "external", "id", "not", "compared"]] * 2
    assert table.count(["(--stack-output)"]) == 2
    assert done.stderr == ""


def test_what_a_cluster_holds_comes_back_as_it_is(untouched, tmp_path):
    """Imported and planned again, nothing would change: jobs by Nomad's own plan, volumes by comparison."""
    spec = tmp_path / "storage.yaml"
    spec.write_text(untouched.exec("nomad-csi", "import", "--cluster").stdout)

    planned = untouched.exec("nomad-csi", "plan", str(spec), check=False)

    assert (planned.returncode, planned.stdout) == (0, "0 of 5 would change\n")


def test_verify_exits_1_for_a_dead_plugin_and_2_without_nomad(efs_only, kept_dead):
    """Nomad may call it healthy for minutes; its socket does not answer. Without Nomad nothing can be found out."""
    with efs_only.nomad() as client:
        [first, second] = jobs.allocations(client, "default", "plugin-aws-efs0-nodes")
    kept_dead(first.alloc_id)

    done = verify(efs_only, "--json")

    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads(done.stdout)
    statuses = {item["alloc_id"]: item["status"] for item in report["plugins"][0]["instances"] if item["alloc_id"]}
    assert statuses[second.alloc_id] == "healthy"
    assert statuses.get(first.alloc_id) != "healthy"
    assert report["plugins"][0]["nodes"] == {"healthy": 1, "expected": 2}
    found = [finding["severity"] for finding in report["findings"]]
    assert found == ["error"], report["findings"]
    assert "1/2" in verify(efs_only).stdout

    record = json.loads((efs_only.project / ".sandbox/record.json").read_text())
    os.kill(record["processes"]["nomad"]["pid"], signal.SIGKILL)
    done = verify(efs_only)

    assert (done.returncode, done.stdout) == (2, "")
    assert "no connection: Connection refused; check NOMAD_ADDR (http://127.0.0.1:" in done.stderr
