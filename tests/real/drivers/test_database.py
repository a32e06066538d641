"""
The database of examples/database on a real agent: a real engine, from its package, under the task driver exec.

What it acknowledged is there after its process was killed in the middle of writing, and after its job was purged.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from nomad_csi.nomad import jobs, variables, volumes

JOB = (Path(__file__).parents[3] / "examples/database/mariadb.nomad.hcl").read_text()
ENGINE, CLIENT, PLUGIN = (shutil.which(name) for name in ("mariadbd", "mariadb", "hostpathplugin"))
NODE = "node-of-tests"
PASSWORD = "only-of-this-test"  # of a database that lives for a minute on loopback
ACKNOWLEDGED = 200
INSERT = "INSERT INTO app.rows VALUES ({number}); SELECT {number};\n"
START_S = 240

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(
        not (shutil.which("nomad") and ENGINE and CLIENT and PLUGIN) or os.geteuid() != 0,
        reason="needs `nomad`, `hostpathplugin`, `mariadbd` and `mariadb` on PATH, and root to start a Nomad client",
    ),
]


@pytest.fixture(scope="module")
def agent(whole_machine_agent):
    """The engine's programs and libraries are all over the machine."""
    return whole_machine_agent


@pytest.fixture(scope="module")
def command():
    """The driver."""
    return PLUGIN


@pytest.fixture(scope="module")
def document(folder):
    """One plugin, with its state in a folder of the test's."""
    config = {"state_dir": str(folder), "node_id": NODE}
    return {"plugins": [{"id": "hostpath0", "driver": "csi-hostpath", "config": config}]}


@pytest.fixture
def client(agent):
    """Nomad."""
    return agent.client


@pytest.fixture
def mysql(create):
    """The volume of the example, made by the driver."""
    use = {"access_mode": "single-node-writer", "attachment_mode": "file-system"}
    return create(
        {
            "id": "mysql",
            "plugin_id": "hostpath0",
            "capabilities": [use],
            "create": {"capacity_min_gib": 1},
        }
    )


@pytest.fixture
def database(client, mysql, until):
    """Run the example's job; its port. Called again, it runs it again; it is purged in the end."""
    assert mysql["externalId"]
    variables.put(client, "default", "nomad/jobs/mysql-server", {"password": PASSWORD}, index=variables.NEW)

    def run():
        jobs.register(client, jobs.parse(client, JOB), source=JOB, enforce_index=None)
        return answering()

    def answering():
        def look():
            return next((port for port in ports(client) if ask(port, "SELECT 1") == ["1"]), None)

        return until(look, START_S, "the database answers")

    run.answering = answering
    yield run
    purge(client, until)


def purge(client, until):
    """Stop the job, wait for its end and for the volume, and have Nomad forget it."""
    jobs.stop(client, "default", "mysql-server", purge=False)
    until(lambda: all(each.client_status != "running" for each in allocations(client)), 60, "the database has ended")
    until(lambda: not volumes.get(client, "default", "mysql").claims, 60, "the volume is free")
    jobs.stop(client, "default", "mysql-server", purge=True)


def allocations(client):
    return jobs.allocations(client, "default", "mysql-server")


def ports(client):
    """Return the port of each allocation that runs."""
    for each in allocations(client):
        if each.client_status == "running":
            found = client.request("GET", f"/v1/allocation/{each.alloc_id}").data
            yield from (port["Value"] for port in found["AllocatedResources"]["Shared"]["Ports"])


def command_of(port):
    words = [CLIENT, "--no-defaults", "--host=127.0.0.1", f"--port={port}", "--user=app", "--batch"]
    return [*words, "--skip-column-names", "--unbuffered", "--skip-ssl", "app"]


def ask(port, statement):
    """Return the lines that *statement* answers; none where the server cannot be asked yet."""
    environment = {"MYSQL_PWD": PASSWORD}
    done = subprocess.run(
        [*command_of(port), "--execute", statement], env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout.split()


@contextlib.contextmanager
def writing(port):
    """Write rows one after the other, each with a transaction of its own; yields the lines of acknowledgements."""
    with subprocess.Popen(
        command_of(port),
        env={"MYSQL_PWD": PASSWORD},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        # As many as fit into the pipe: the server is killed long before the last.
        lines = [INSERT.format(number=number) for number in range(1_000)]
        process.stdin.write("".join(lines))
        process.stdin.flush()
        yield process.stdout
        process.kill()


def engine():
    """Return the process id of the engine of the example."""
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"mariadbd") and b"--datadir=/srv/mysql" in words:
                return int(folder.name)
    return None


def test_acknowledged_rows_survive_a_kill_and_a_purge(client, database, until):
    """Killed while it writes, restarted by Nomad, purged, and run again: no acknowledged row is missing."""
    port = database()
    ask(port, "CREATE TABLE app.rows (number INT PRIMARY KEY) ENGINE=InnoDB")

    with writing(port) as acknowledgements:
        seen = [int(next(acknowledgements)) for _ in range(ACKNOWLEDGED)]
        os.kill(engine(), signal.SIGKILL)
        seen += [int(line) for line in acknowledgements]
    port = database.answering()
    after_kill = [int(number) for number in ask(port, "SELECT number FROM app.rows ORDER BY number")]
    purge(client, until)
    port = database()
    after_purge = [int(number) for number in ask(port, "SELECT number FROM app.rows ORDER BY number")]

    assert len(seen) >= ACKNOWLEDGED
    assert after_kill[: len(seen)] == seen
    assert after_purge == after_kill
