"""The commands of the pages on moving in and out work as written, as far as neither Pulumi nor Terraform is needed."""

import json
import re
import shlex
import time
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli, errors
from nomad_csi.frame import resource
from nomad_csi.hcl import documents
from nomad_csi.jobs import plugin_job
from nomad_csi.migration import model, terraform
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan import registration, storage
from tests.docs import page

PAGE = page.read("howto/moving-in.md", "howto/take-over-jobs.md", "howto/move-out.md")
RUN, NOT_RUN, TUTORIAL = (page.commands(PAGE, kind) for kind in ("sh", "sh no-run", "sh tutorial"))
PLUGIN = """job "plugin" {
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "aws-efs0"
        type = "node"
      }
      config {
        command = "sleep"
        args    = ["60"]
      }
    }
  }
}
"""
EXTERNAL_ID = "fs-0123456789abcdef0"
MODE = {"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}
VOLUME = {
    "volume_id": "shared",
    "namespace": "default",
    "name": "shared",
    "plugin_id": "aws-efs0",
    "external_id": EXTERNAL_ID,
    "capability": [MODE],
}
STATE = {
    "version": 4,
    "terraform_version": "1.11.4",
    "resources": [
        {
            "mode": "managed",
            "type": "nomad_csi_volume_registration",
            "name": "shared",
            "instances": [{"attributes": VOLUME}],
        }
    ],
}


CASES = Path(__file__).parents[1] / "cases"
PARTS = {"controller": "plugin-aws-ebs-controller", "node": "plugin-aws-ebs-nodes"}


@pytest.fixture
def client(tmp_path, emulated):
    """An emulator agent with the volume, and the state in the current folder."""
    _, found = emulated()
    (tmp_path / "terraform.tfstate").write_text(json.dumps(STATE))
    document = registration.VolumeRegistration(
        volume_id="shared",
        name="shared",
        external_id=EXTERNAL_ID,
        plugin_id="aws-efs0",
        capabilities=(registration.Capability(**MODE),),
    )
    jobs.register(found, jobs.parse(found, PLUGIN), source=PLUGIN, enforce_index=None)
    volumes.register(found, document)
    return found


@pytest.fixture
def tutorial(client, tmp_path):
    """The tutorial's own jobs on the emulated agent, as processes that only wait, and their files; its volume is away."""
    volumes.deregister(client, "default", "shared")
    program = tmp_path / "aws-ebs-csi-driver"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    stage = 'stage_publish_base_dir = "/opt/nomad/client/csi/node/aws-ebs0"'
    for name in ("controller", "nodes"):
        text = (CASES / f"tutorial-ebs-{name}.nomad.hcl").read_text()
        text = re.sub(r"privileged = true", "", text.replace('"docker"', '"raw_exec"'))
        text = re.sub(r'image = ".*"', f'command = "{program}"', text)
        text = text.replace('mount_dir = "/csi"', f'mount_dir = "/csi"\n        {stage}')
        (tmp_path / f"plugin-ebs-{name}.nomad.hcl").write_text(text)
        jobs.register(client, jobs.parse(client, text), source=text, enforce_index=None)
    deadline = time.monotonic() + 60
    while {status for job_id in PARTS.values() for status in statuses(client, job_id)} != {"running"}:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return client


def statuses(client, job_id):
    """Return the status of each allocation of a job, ``none`` where there is none."""
    return [item.client_status for item in jobs.allocations(client, "default", job_id)] or ["none"]


def declared(text, **changes):
    """Return the inputs of both jobs of a spec, with *changes* of its plugin, as the component declares them."""
    [plugin] = yaml.safe_load(text)["plugins"]
    [plan] = storage.plan_document({"plugins": [plugin | changes]}).plugins
    ids = [job.job_id for job in plan.jobs]
    for job in plan.jobs:
        given = {"jobId": job.job_id, "hcl": documents.job_file(job), "owner": "shop/prod", "adopt": plan.adopt}
        inputs, failures = plugin_job.PluginJobResource().check(given | {"pluginJobs": ids})
        assert failures == ()
        yield inputs


def test_jobs_of_the_tutorial_are_taken_over(tutorial, capsys, tmp_path):
    """Import and plan as written; beside them nothing starts; what `up` does leaves one job for each part."""
    kind, context = plugin_job.PluginJobResource(), resource.Context(connect=lambda: tutorial)
    printed = []
    for line in TUTORIAL:
        words, _, target = line.partition(" > ")
        code = cli.main(shlex.split(words)[1:])
        printed.append((code, capsys.readouterr().out))
        if target:
            (tmp_path / target).write_text(printed[-1][1])
    [(imported, text), (planned, table)] = printed

    assert (imported, yaml.safe_load(text)["plugins"][0]["job_ids"]) == (0, PARTS)
    assert (planned, re.findall(r"default/(\S+) +(\w+)", table)) == (
        1,
        [(job_id, "changes") for job_id in PARTS.values()],
    )
    controller, _ = declared(text, job_ids={}, adopt=True)
    for step in (lambda: kind.preflight(context, {}, controller), lambda: kind.create(context, controller)):
        with pytest.raises(errors.RefusedError) as refused:
            step()
        assert re.findall(r"expected no instances of job default/(\S+) on", str(refused.value)) == [*PARTS.values()]
    assert jobs.get(tutorial, "default", "plugin-aws-ebs0-controller") is None

    [*without] = declared(text)
    with pytest.raises(
        errors.RefusedError, match=r"runs already, is not this stack's, and would change: .*adopt: true"
    ):
        kind.create(context, without[0])
    taken = [kind.create(context, inputs) for inputs in declared(text, adopt=True)]

    assert [identity for identity, _ in taken] == [f"default/{job_id}" for job_id in PARTS.values()]
    assert {job_id: jobs.get(tutorial, "default", job_id).version for job_id in PARTS.values()} == dict.fromkeys(
        PARTS.values(), 1
    )
    assert cli.main(["plan", "storage.yaml"]) == 0
    for identity, outputs in reversed(taken):
        kind.delete(context, identity, outputs)
    assert [jobs.get(tutorial, "default", job_id) for job_id in PARTS.values()] == [None, None]


def test_commands_run_as_written(client, capsys, tmp_path):
    """
    One after the other; what goes to a file goes there.

    Both imports lack the region, which no file and no cluster says; the plan has the plugin's jobs as new.
    """
    codes = []
    for line in RUN:
        words, _, target = line.partition(" > ")
        codes.append(cli.main(shlex.split(words)[1:]))
        printed = capsys.readouterr()
        if target:
            told = "aws_region: us-east-1\n"
            text = printed.out.replace("  driver: aws-efs\n", f"  driver: aws-efs\n  {told}")
            (tmp_path / target).write_text(text)

    assert [line.split()[:2] for line in RUN] == [
        ["nomad-csi", "import"],
        ["nomad-csi", "import"],
        ["nomad-csi", "render"],
        ["nomad-csi", "plan"],
        ["nomad-csi", "apply"],
    ]
    assert codes == [1, 1, 0, 1, 0]
    assert printed.out == "0 of 1 would change\n1 volume: 1 unchanged\n"
    assert volumes.get(client, "default", "shared").external_id == EXTERNAL_ID


@pytest.mark.parametrize("line", [line for line in NOT_RUN if line.startswith("nomad-csi")])
def test_commands_that_need_pulumi_are_typed_right(line, capsys, monkeypatch):
    """Each is understood; without pulumi on PATH it ends with that."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("NOMAD_ADDR", "http://127.0.0.1:9")

    assert cli.main(shlex.split(line)[1:]) == 2

    said = capsys.readouterr().err
    assert "pulumi is not on PATH" in said or line == "nomad-csi apply nomad/ --adopt"


def test_the_table_says_what_the_import_says():
    """Every type that is read has its row, with the word on data where it counts."""
    rows = re.findall(r"^\| (`nomad_[^|]*)\|([^|]*)\|([^|]*)\|$", PAGE, re.MULTILINE)
    told = {kind: destroyed for kinds, _, destroyed in rows for kind in re.findall(r"`(nomad_[a-z_]+)`", kinds)}
    remarks = model.Remarks()
    every = [
        {"mode": "managed", "type": kind, "name": "x", "instances": [{"attributes": VOLUME}]}
        for kind in told
        if kind != "nomad_job"
    ]

    terraform.read(json.dumps(STATE | {"resources": every}), "s", remarks)

    said = {remark.file.removesuffix(".x"): remark.text for remark in remarks.found}
    assert set(said) == set(told) - {"nomad_job"}
    assert {kind for kind, text in said.items() if "data" in text} == {
        kind for kind, text in told.items() if "data" in text
    }
