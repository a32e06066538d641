"""Nomad variables, and templates that wait for them: how secrets reach a plugin."""

import pytest

from nomad_csi.plan import task_secrets
from nomad_csi.spec import model as spec

ITEMS = {"token": 'a"b<c>&', "user": "me"}


def _template(name, data, *, env=False):
    flag = "\n        env = true" if env else ""
    return f"""
      template {{
        destination = "${{NOMAD_SECRETS_DIR}}/{name}"{flag}
        data = <<-EOT
{data}
EOT
      }}
"""


@pytest.fixture
def output(agent):
    """Read what the one task of a job has written."""

    def read(job_id):
        [alloc] = agent.get(f"/v1/job/{job_id}/allocations")
        return (agent.data_dir / "alloc" / alloc["ID"] / "alloc" / "logs" / "t.stdout.0").read_text(encoding="utf-8")

    return read


@pytest.fixture
def reader(job):
    """Write a job that prints what our own templates give it."""

    def write(job_id):
        source = spec.CredentialsSpec(nomad_variable=f"nomad/jobs/{job_id}")
        config = {"driver": "zfs-generic-nfs", "key": {"from_secret": "token"}}
        task = _template("config.yaml", task_secrets.config_file(source, config, job_id))
        task += _template("credentials.env", task_secrets.template_data(source, {"TOKEN": "token"}, job_id), env=True)
        script = 'cat "$NOMAD_SECRETS_DIR/config.yaml"; printf "%s\\n%s\\n" "$TOKEN" "$0"'
        hcl = job(job_id, kind="batch", task=task, command="/bin/sh", args=["-c", script, "MARK"])
        return hcl.replace("MARK", "${TOKEN}")

    return write


def _messages(agent, job_id):
    found = agent.get(f"/v1/job/{job_id}/allocations")
    states = [(alloc["TaskStates"] or {}).get("t") or {} for alloc in found]
    return [event["DisplayMessage"] for each in states for event in each.get("Events") or []]


def test_task_waits_for_its_variable_and_is_told_what_it_holds(agent, ran, fresh, reader, output):
    """A file with JSON in it, and a variable of the environment that arguments may name."""
    job_id = fresh("reader")
    ran(job_id, reader(job_id))
    missing = f"Missing: nomad.var.block(nomad/jobs/{job_id}@default.global)"
    agent.until(lambda: _messages(agent, job_id), lambda found: missing in found)

    status, written, _ = agent.call("PUT", f"/v1/var/nomad/jobs/{job_id}", {"Items": ITEMS})

    assert (status, written["Items"], written["Path"]) == (200, ITEMS, f"nomad/jobs/{job_id}")
    agent.until_status(job_id, "complete")
    driver, key, *rest = output(job_id).splitlines()
    assert (driver, key) == ("driver: zfs-generic-nfs", 'key: "a\\"b\\u003cc\\u003e\\u0026"')
    assert [line for line in rest if line] == [ITEMS["token"], ITEMS["token"]]


def test_item_that_is_missing_holds_the_task_back(agent, ran, fresh, reader):
    """The wait names a variable that no one writes, and the item with it."""
    job_id = fresh("half")
    agent.call("PUT", f"/v1/var/nomad/jobs/{job_id}", {"Items": {"user": "me"}})

    ran(job_id, reader(job_id))

    missing = f"nomad.var.block(nomad/jobs/{job_id}/missing/token@default.global)"
    agent.until(lambda: _messages(agent, job_id), lambda found: any(missing in each for each in found))
