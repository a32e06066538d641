"""Job files as parts: plugins, volume blocks, drivers, in all forms in which Nomad takes a job."""

import json
from pathlib import Path

import pytest

from nomad_csi.hcl import files, job, read
from tests import tables

HCL = """
job "x" {
  type      = "system"
  namespace = "storage"
  group "nodes" {
    count = 2
    volume "data" {
      type            = "csi"
      source          = "mysql"
      read_only       = true
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
      per_alloc       = true
    }
    volume "scratch" {
      type   = "host"
      source = "scratch"
    }
    task "plugin" {
      driver = "docker"
      env {
        A = "b"
      }
      config {
        image = "a/b:1"
        args  = ["--v=2"]
      }
      csi_plugin {
        id                     = "p"
        type                   = "node"
        mount_dir              = "/csi"
        stage_publish_base_dir = "/local/csi"
        health_timeout         = "1m30s"
      }
    }
    task "beside" {
      driver = "exec"
    }
  }
}
"""
HCL_IN_JSON = {
    "job": {
        "x": {
            "type": "system",
            "namespace": "storage",
            "group": {
                "nodes": {
                    "count": 2,
                    "volume": {
                        "data": {
                            "type": "csi",
                            "source": "mysql",
                            "read_only": True,
                            "access_mode": "single-node-writer",
                            "attachment_mode": "file-system",
                            "per_alloc": True,
                        },
                        "scratch": [{"type": "host", "source": "scratch"}],
                    },
                    "task": [
                        {
                            "plugin": {
                                "driver": "docker",
                                "env": {"A": "b"},
                                "config": {"image": "a/b:1", "args": ["--v=2"]},
                                "csi_plugin": {
                                    "id": "p",
                                    "type": "node",
                                    "mount_dir": "/csi",
                                    "stage_publish_base_dir": "/local/csi",
                                    "health_timeout": "1m30s",
                                },
                            }
                        },
                        {"beside": {"driver": "exec"}},
                    ],
                }
            },
        }
    }
}
API = {
    "Job": {
        "ID": "x",
        "Name": "x",
        "Type": "system",
        "Namespace": "storage",
        "Status": "running",
        "ModifyIndex": 12,
        "Periodic": None,
        "TaskGroups": [
            {
                "Name": "nodes",
                "Count": 2,
                "Volumes": {
                    "data": {
                        "Name": "data",
                        "Type": "csi",
                        "Source": "mysql",
                        "ReadOnly": True,
                        "AccessMode": "single-node-writer",
                        "AttachmentMode": "file-system",
                        "PerAlloc": True,
                    },
                    "scratch": {"Name": "scratch", "Type": "host", "Source": "scratch"},
                },
                "Tasks": [
                    {
                        "Name": "plugin",
                        "Driver": "docker",
                        "User": "",
                        "Env": {"A": "b"},
                        "Config": {"image": "a/b:1", "args": ["--v=2"]},
                        "CSIPluginConfig": {
                            "ID": "p",
                            "Type": "node",
                            "MountDir": "/csi",
                            "StagePublishBaseDir": "/local/csi",
                            "HealthTimeout": 90_000_000_000,
                        },
                        "Leader": False,
                    },
                    {"Name": "beside", "Driver": "exec"},
                ],
            }
        ],
    }
}


@pytest.mark.parametrize(
    "text",
    [HCL, json.dumps(HCL_IN_JSON, indent=1), json.dumps(API, indent=1), json.dumps(API["Job"])],
    ids=["hcl", "hcl in json", "api", "bare api"],
)
def test_a_job_reads_the_same_in_every_form(text):
    """HCL2, HCL in JSON, and the JSON of the API with or without its envelope."""
    [found] = files.parse(text, "x").jobs

    assert (found.id, found.type, found.namespace) == ("x", "system", "storage")
    [group] = found.groups
    assert (group.name, group.count) == ("nodes", 2)
    [request] = group.volumes
    assert (request.name, request.source, request.access_mode, request.attachment_mode) == (
        "data",
        "mysql",
        "single-node-writer",
        "file-system",
    )
    assert request.read_only
    assert request.per_alloc
    plugin_task, other = group.tasks
    assert (plugin_task.name, plugin_task.driver, plugin_task.image) == ("plugin", "docker", "a/b:1")
    assert plugin_task.arguments == ["--v=2"]
    assert plugin_task.env == {"A": "b"}
    assert (other.name, other.driver, other.plugin) == ("beside", "exec", None)
    plugin = plugin_task.plugin
    assert (plugin.id, plugin.type, plugin.mount_dir) == ("p", "node", "/csi")
    assert (plugin.stage_publish_base_dir, plugin.health_timeout_s) == ("/local/csi", 90.0)
    assert [(item.name, task.name) for item, task, _ in found.plugins()] == [("nodes", "plugin")]


def test_what_is_not_said_is_nomads_default():
    """A job is a service, and its group has no count of its own."""
    [found] = job.jobs(read.read_job('job "x" {\n  group "g" {\n    task "t" {}\n  }\n}\n'))

    assert (found.type, found.namespace, found.groups[0].count) == ("service", "", None)
    task = found.groups[0].tasks[0]
    assert (task.driver, task.image, task.arguments, task.plugin, task.config.at("args")) == ("", "", [], None, 3)


def test_arguments_are_texts():
    """A number as its digits."""
    [task] = job.labelled(read.read_job('task "t" {\n  config {\n    args = ["--v", 5]\n  }\n}\n'), "task")

    assert job.TaskBlock(task).shown_arguments == job.TaskBlock(task).arguments == ["--v", "5"]


def test_id_of_a_job_is_its_label_or_the_one_it_names():
    """Nomad registers the job under ``id``."""
    assert [each.id for each in files.parse('job "x" {}\njob "y" {\n  id = "z"\n}\n', "x").jobs] == ["x", "z"]


def test_parts_know_their_lines():
    """A finding can name the line, except in JSON."""
    [found], [in_json] = files.parse(HCL, "x").jobs, files.parse(json.dumps(API, indent=1), "x").jobs
    task, of_json, lines = found.groups[0].tasks[0], in_json.groups[0].tasks[0], HCL.splitlines()
    assert "a/b:1" in lines[task.config.at("image") - 1]
    assert '"p"' in lines[task.plugin.body.at("id") - 1]
    assert (of_json.config.at("image"), of_json.plugin.body.at("id")) == (0, 0)


def test_the_api_calls_things_by_other_names():
    """Each has the name of a file; null, empty, zero, false and the server's own are left out, but a count of zero."""
    recorded = tables.load(Path(__file__).parent / "api_job.yaml")

    [found] = files.parse(json.dumps(recorded["api"]), "x").jobs

    assert found.body == recorded["file"]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("30s", 30.0), ("1m30s", 90.0), ("1.5h", 5400.0), ("250ms", 0.25), ("500µs", 0.0005), (".25s", 0.25), (10**9, 1.0), ("", None), ("5", None), ("x", None), ("1m30", None), ("x1m", None), (True, None), (None, None)],
)  # fmt: skip
def test_durations(value, seconds):
    """As Go writes them, or in nanoseconds as the API does."""
    assert job.duration_s(value) == seconds


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (HCL, "job"),
        ('variable "a" {\n  default = 1\n}\n' + HCL, "job"),
        ('id = "x"\nplugin_id = "p"\n', "volume"),
        ('# job "x" {\nid = "x"\n', "volume"),
        ('{"id": "x"}', "volume"),
        ('{"Version": "2012-10-17", "Statement": []}', "policy"),
    ],
)
def test_kinds_of_files(text, kind):
    """By what is in them, not by their names."""
    assert files.parse(text, "x").kind == kind


@pytest.mark.parametrize(
    ("value", "text"),
    [(1000.0, "1000"), (0.1, "0.1"), (True, "true"), (7, "7"), ("x", "x"), (123456789.0, "123456789")],
)
def test_text_of_a_value(value, text):
    """As Nomad writes it."""
    assert job.as_text(value) == text


def test_values_of_another_kind_are_unset():
    """A count that is no number, and a volume without a type."""
    volumes = 'volume "v" {\n source = "a"\n }\n volume "w" {\n type = "csi"\n read_only = true\n }\n'
    [found] = files.parse(f'job "x" {{\n group "g" {{\n count = true\n {volumes} }}\n}}\n', "x").jobs[0].groups

    assert found.count is None
    assert [(each.name, each.read_only, each.per_alloc) for each in found.volumes] == [("w", True, False)]
