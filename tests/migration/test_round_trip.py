"""Generated specs: the import of their files gives a spec with the same files."""

import random

import pytest

from nomad_csi.hcl import documents
from nomad_csi.hcl import files as parsed
from nomad_csi.migration import adopt
from nomad_csi.plan import storage

COUNT = 15
"""Specs of one run."""


@pytest.fixture
def chance():
    """Another one in each run."""
    return random.Random(random.randrange(2**32))  # noqa: S311  # tests are to be repeated


def some(chance, fields):
    """Return each of *fields* in one case of two."""
    return {name: value for name, value in fields.items() if chance.random() < 0.5}


def plugin_fields(chance):
    """Return fields that any plugin may have."""
    return some(
        chance,
        {
            "namespace": "storage",
            "datacenters": ["dc1", "eu-*"],
            "node_pool": "disks",
            "nomad_region": "eu",
            "priority": chance.randrange(1, 101),
            "constraints": [
                {"attribute": "${meta.csi}", "operator": "!=", "value": "no"},
                {"attribute": "${attr.nomad.version}", "operator": "semver", "value": ">= 1.9"},
                {"attribute": "${meta.old}", "operator": "is_not_set"},
            ][: chance.randrange(4)],
            "restart": {"attempts": chance.randrange(1, 9), "interval_s": 600, "delay_s": chance.randrange(1, 60)},
            "update": {"max_parallel": 2, "min_healthy_time_s": chance.randrange(1, 99), "auto_revert": True},
            "health_timeout_s": chance.randrange(60, 200),
            "resources": {"cpu_mhz": chance.randrange(50, 500), "memory_mib": 128, "memory_max_mib": 512},
            "environment": {"HTTPS_PROXY": "http://proxy:3128", "FLAG": "true"},
            "job_ids": {"node": "csi-node"},
        },
    )


def ebs(chance):
    """Return EBS with one volume that exists and one that the plugin creates."""
    zone = chance.choice(["eu-west-1a", "eu-west-1b"])
    plugin = {"id": "ebs", "driver": "aws-ebs", "aws_region": "eu-west-1"}
    plugin |= plugin_fields(chance) | some(
        chance,
        {
            "log_verbosity": chance.randrange(10),
            "availability_zone": zone,
            "controller": {"count": chance.randrange(1, 4)},
            "metrics_port": 9000,
            "extra_tags": {"team": "a", "zone": "b"},
            "image_registry": "mirror.example:5000/ecr",
            "task_driver": {"name": "podman"},
            "extra_arguments": {"node": ["--volume-attach-limit=9"]},
            "host_network": True,
        },
    )
    existing = {
        "id": "data",
        "plugin_id": "ebs",
        "existing": {"external_id": f"vol-{chance.randrange(2**68):017x}", "availability_zone": zone},
    } | some(chance, {"name": "Data", "mount_options": {"fs_type": "xfs", "mount_flags": ["noatime"]}})
    created = {
        "id": "scratch",
        "plugin_id": "ebs",
        "create": {"capacity_min_gib": 10, "capacity_max_gib": 20, "availability_zone": zone},
    } | some(chance, {"parameters": {"type": "gp3", "encrypted": "true"}})
    return plugin, [existing, created]


def efs(chance):
    """Return EFS with volumes of one per_alloc job."""
    plugin = {"id": "efs", "driver": "aws-efs", "aws_region": "eu-west-1"} | plugin_fields(chance)
    system = f"fs-{chance.randrange(2**68):017x}"
    sources = [system, system, f"{system}::fsap-{chance.randrange(2**68):017x}"]
    return plugin, [
        {"id": f"web[{index}]", "plugin_id": "efs", "existing": {"external_id": source}, "shares_storage": index == 1}
        for index, source in enumerate(sources)
    ]


def own(chance):
    """Return a driver that the catalogue does not know."""
    role = {"arguments": ["--endpoint=${CSI_ENDPOINT}", "--driver-name", "own.example", "serve"]}
    node = role | some(
        chance,
        {
            "environment": {"LEVEL": "info"},
            "privileged": True,
            "network_mode": "host",
            "ipc_mode": "host",
            "binds": ["/dev:/dev", "/etc/own:/etc/own:ro"],
            "mount_dir": "/own",
            "kill_timeout_s": 40,
        },
    )
    driver = {
        "name": "own",
        "provider": "own.example",
        "image": "registry.example.com/own:1",
        "roles": {"controller": {"job_type": "service", **role}, "node": {"job_type": "system", **node}},
        "capabilities": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
    }
    volume = {"id": "data", "plugin_id": "own", "existing": {"external_id": "a#b"}, "context": {"share": "one"}}
    capability = {"access_mode": "single-node-writer", "attachment_mode": "file-system"}
    return {"id": "own", "driver": driver} | plugin_fields(chance), [volume | {"capabilities": [capability]}]


def rendered(document):
    """Return the files of a spec, by their names."""
    return documents.render_plan(storage.plan_document(document), {})


@pytest.mark.parametrize("kind", [ebs, efs, own])
def test_imported_files_are_rendered_the_same(chance, kind):
    """And nothing is said of a difference: all that a spec may say of jobs and volumes is read from the files."""
    for _ in range(COUNT):
        plugin, volumes = kind(chance)
        document = {"plugins": [plugin], "volumes": volumes}
        before = rendered(document)
        found = [parsed.parse(text, name) for name, text in sorted(before.items()) if name.endswith(".hcl")]

        adoption = adopt.adopt(found, aws_region="eu-west-1")

        assert [str(remark) for remark in adoption.remarks if remark.kind != "note"] == [], document
        assert rendered(adoption.document) == before, document
