"""``nomad-csi apply``: from an empty cluster to healthy plugins and registered volumes, and nothing twice."""

import json
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.frame import resource
from nomad_csi.health import plugin_health_wait
from nomad_csi.jobs import apply as apply_jobs
from nomad_csi.jobs import owner as job_owner
from nomad_csi.jobs import plugin_job
from nomad_csi.nomad import jobs, volumes


@pytest.fixture
def spec(created):
    """A spec with one plugin, and two volumes that it creates."""
    return created({"id": "a"}, {"id": "b"})


@pytest.fixture
def apply(client, spec, capsys):
    """Apply the spec; return the exit code, and what was printed."""
    del client

    def call(*words):
        return cli.main(["apply", spec, *words, "--owner", "shop/hcl"]), *capsys.readouterr()

    return call


def writes(serving, before):
    return [
        f"{each['method']} {each['path']}"
        for each in list(serving.cluster.requests)[before:]
        if each["method"] != "GET"
    ]


def test_empty_cluster_becomes_what_the_spec_says(apply, client, serving):
    """Shown first, asked, done in the order job, health, volumes; the second time nothing changes."""
    before = len(serving.cluster.requests)
    code, out, _ = apply("--dry-run")
    assert (code, "3 of 3 would change" in out) == (1, True)
    refused = apply()
    assert refused[0] == 1
    assert refused[2].endswith("refused: no terminal to confirm on; pass --yes\n")
    assert {line.rpartition("/")[2] for line in writes(serving, before)} <= {"parse", "plan"}
    asked = len(serving.cluster.requests)

    code, out, err = apply("a", "--yes", "--json")

    assert code == 0, err
    shown = json.loads(out)
    assert [(each["volume_id"], each["status"]) for each in shown["volumes"]] == [("a", "created")]
    sent = writes(serving, asked)
    job, volume = (next(at for at, line in enumerate(sent) if end in line) for end in ("/v1/jobs", "/v1/volume/csi/a"))
    assert job < volume
    assert volumes.get(client, "default", "a") is not None
    assert volumes.get(client, "default", "b") is None

    code, out, err = apply("--yes")
    assert code == 0, err
    assert "2 volumes: 1 unchanged, 1 created" in out
    sent = len(serving.cluster.requests)
    code, out, err = apply()
    assert (code, "0 of 3 would change" in out, "2 volumes: 2 unchanged" in out) == (0, True, True), err
    assert {line.rpartition("/")[2] for line in writes(serving, sent)} <= {"parse", "plan"}


def test_plugin_that_does_not_become_healthy_gets_no_volumes(apply, monkeypatch, serving):
    """The error of the health check is told, and no volume is sent."""

    def unhealthy(*_):
        raise plugin_health_wait.errors.RefusedError("plugin hostpath0 is not healthy")

    monkeypatch.setattr(apply_jobs.plugin_health.plugin_health_wait, "wait", unhealthy)
    before = len(serving.cluster.requests)

    code, _, err = apply("--yes")

    assert (code, "plugin hostpath0 is not healthy" in err) == (1, True)
    assert not [line for line in writes(serving, before) if "/volume" in line]


def test_job_of_a_pulumi_stack_is_left_to_it(apply, client, serving, spec, capsys):
    """
    Even where the owner has the stack's name: its state holds the record. An equal job is used as it is.

    `plan` shows none to be stopped where the spec has its plugin no more.
    """
    apply("--yes")
    [key] = [key for key in serving.cluster.state.jobs if "hostpath0" in key[1]]
    found = jobs.get(client, *key)
    inputs = {"namespace": key[0], "jobId": key[1], "owner": "shop/hcl", "ownerId": "9f86d081884c7d65"}
    inputs |= {"hcl": jobs.source(client, *key, found.version), "adopt": True}
    plugin_job.PluginJobResource().create(resource.Context(connect=lambda: client), inputs)
    record = job_owner.owner_of(client, jobs.get(client, *key))

    equal = apply("--yes")
    path = Path(spec)
    path.write_text(path.read_text().replace("driver: csi-hostpath\n", "driver: csi-hostpath\n  priority: 71\n"))
    changed = apply("--yes")

    assert equal[0] == 0, equal
    assert record.stack_id == "9f86d081884c7d65"
    assert job_owner.owner_of(client, jobs.get(client, *key)) == record
    assert changed[0] == 1, changed
    assert "belongs to Pulumi stack shop/hcl: change it with `pulumi up`" in " ".join(changed[1].split())
    assert changed[2].endswith(f"refused: {'/'.join(key)}: refused, see the plan; nothing was changed\n")

    path.write_text(yaml.safe_dump({"owner": "shop/hcl", "plugins": [], "volumes": []}))
    capsys.readouterr()
    cli.main(["plan", spec, "--json"])
    assert json.loads(capsys.readouterr().out)["jobs_not_in_spec"] == []


def test_job_of_a_plugin_that_left_the_spec_is_shown_and_stopped(apply, client, spec, capsys):
    """`plan` names it with the command; `remove` refuses another owner's, and one that has registered volumes."""
    apply("--yes")
    path = Path(spec)
    path.write_text(yaml.safe_dump({"owner": "shop/hcl", "plugins": [], "volumes": []}))
    capsys.readouterr()
    planned = cli.main(["plan", spec, "--json"]), json.loads(capsys.readouterr().out)["jobs_not_in_spec"]
    cli.main(["plan", spec])
    said = capsys.readouterr().out
    [key] = planned[1]

    codes = [
        cli.main(["remove", "--job", key, "--owner", "bank/prod", "--yes"]),
        cli.main(["remove", "--job", key, "--owner", "shop/hcl"]),
        cli.main(["remove", "--job", "nobody", "--owner", "shop/hcl", "--yes"]),
        cli.main(["remove", "--job", key, "--owner", "shop/hcl", "--yes"]),
        cli.main(["remove", "a", "b", "--job", key, "--owner", "shop/hcl", "--dry-run"]),
    ]
    refused = capsys.readouterr().err
    running = jobs.get(client, *key.split("/"))
    codes.append(cli.main(["remove", "a", "b", "--job", key, "--owner", "shop/hcl", "--yes"]))

    assert (planned[0], f"to stop it: nomad-csi remove --job {key}" in said) == (0, True)
    assert (codes, running.stopped) == ([1, 1, 1, 1, 0, 0], False)
    assert f"job {key} belongs to owner shop/hcl: pass --owner shop/hcl, or --adopt" in refused
    assert "no terminal to confirm on; pass --yes" in refused
    assert "volumes are registered with its plugin, and nothing could mount them without it: default/a" in refused
    assert f"job {key}: would be stopped and purged" in refused
    assert "there is no job default/nobody that runs a CSI plugin" in refused
    assert jobs.get(client, *key.split("/")) is None
    assert job_owner.records(client).read([tuple(key.split("/"))]).owners == {}
