"""The job that verifies carries the spec with it: whole, without secrets, and with nothing that Nomad would evaluate."""

import json

import pytest
import yaml

from nomad_csi.plan import program_jobs, storage

PLUGIN = {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}
MODES = {"access_mode": "single-node-writer", "attachment_mode": "file-system"}
DRIVER = {"name": "own", "provider": "own", "image": "own:1", "version": "1", "creates": True, "capabilities": [MODES]}
OWN = DRIVER | {"roles": {"monolith": {"job_type": "system"}}, "secrets": {"required": ["key"]}}
CANARY = "canary-91ab"


@pytest.mark.parametrize(
    "text",
    [
        "${attr.kernel.name}",
        "%{ if x }",
        '{{ env "X" }}',
        "{{{{}}}}",
        "$${a}",
        "a\\b",
        'a"b',
        "e\u0301 🎉",
        "a\nb\x00\x1b\x7f\u200b",
    ],
)
def test_text_comes_back_as_it_was(text):
    """For whoever reads JSON or YAML; neither HCL nor a template finds anything to do."""
    data = program_jobs.as_data({"plugins": [{"note": text, text: {"deep": {}}}]})

    assert json.loads(data) == yaml.safe_load(data) == {"plugins": [{"note": text, text: {"deep": {}}}]}
    assert data.replace("🎉", "").isascii()
    assert not any(word in data for word in ("${", "%{", "{{", "}}"))


def test_secrets_stay_behind():
    """Their names stay, since the plan needs them, and the keys that a driver takes."""
    volume = {
        "id": "v",
        "plugin_id": "aws-ebs0",
        "existing": {"external_id": "vol-0123456789abcdef0", "availability_zone": "us-east-1a"},
        "secrets": {"key": CANARY},
    }

    data = program_jobs.as_data({"plugins": [PLUGIN, {"id": "own", "driver": OWN}], "volumes": [volume]})

    assert CANARY not in data
    assert json.loads(data)["volumes"][0]["secrets"] == {"key": "[encrypted]"}
    assert len(storage.plan_document(json.loads(data)).volumes) == 1


def test_container_sees_what_the_task_names():
    """Certificates for reading, the folder of metrics for writing, each at its own place."""
    certificates = {"NOMAD_CACERT": "/etc/ca.pem", "NOMAD_CLIENT_CERT": "/etc/cert.pem", "NOMAD_CLIENT_KEY": "/etc/key"}
    ids = ("--stack-output", "${NOMAD_TASK_DIR}/outputs.json")
    job = program_jobs.VerifyJob(
        spec="{}",
        external_ids="[]",
        image="registry.example/nomad-csi:1",
        environment={"NOMAD_ADDR": "https://nomad:4646"} | certificates,
        token_variable="nomad/jobs/verify",
        metrics_file="/var/lib/node_exporter/nomad_csi.prom",
    )

    assert job.mounts == {"/etc/ca.pem": True, "/etc/cert.pem": True, "/etc/key": True, "/var/lib/node_exporter": False}
    assert job.arguments == ("verify", "${NOMAD_TASK_DIR}/storage.json", *ids, "--prometheus", job.metrics_file)
    assert job.files == {"storage.json": "{}", "outputs.json": "[]"}
    assert "NOMAD_TOKEN={{ .token.Value | toJSON }}" in job.credentials
