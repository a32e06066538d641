"""Reading job files: what comes out, and the sentences for what is wrong."""

import pytest

from nomad_csi.nomad import jobs

TASK = 'job "a" {\n group "g" {\n task "t" {\n%s\n}\n}\n}'
ONLY_ONE = 'Only one block of type "job" is allowed. Previous definition was at input.hcl:1,1-8.'


@pytest.mark.parametrize(
    ("hcl", "sentence"),
    [
        ('job "a" {\n bogus = 1\n}', 'input.hcl:2,2-7: Unsupported argument; An argument named "bogus" is not expected here.'),
        ("# nothing", "<nil>: Missing job block; A job block is required"),
        ('job "a" {}\njob "b" {}', f"input.hcl:2,1-8: Duplicate job block; {ONLY_ONE}"),
        ('job "a" {\n priority = "high"\n}', "input.hcl:2,14-18: Unsuitable value type; Unsuitable value: a number is required"),
        (TASK % 'kill_timeout = "abc"', 'input.hcl:4,17-20: Unsuitable value type; Unsuitable duration value: time: invalid duration "abc"'),
        (TASK % "csi_plugin {\n bogus = 1\n}", 'input.hcl:5,2-7: Unsupported argument; An argument named "bogus" is not expected here.'),
    ],
)  # fmt: skip
def test_wrong_job_file_is_refused_at_its_place(agent, hcl, sentence):
    """Line, columns, and Nomad's own words."""
    body = {"JobHCL": hcl, "Canonicalize": True}

    assert agent.refused("POST", "/v1/jobs/parse", body) == (400, f"Failed to parse job: {sentence}")


def test_empty_job_file_is_refused(agent):
    """Without a place."""
    assert agent.refused("POST", "/v1/jobs/parse", {"JobHCL": ""}) == (400, "Job spec is empty")


def test_parsed_plugin_job_has_the_servers_defaults(client, job):
    """What the product compares and plans with."""
    plugin = 'csi_plugin {\n id = "p"\n type = "node"\n}'

    parsed = jobs.parse(client, job("a", kind="system", task=plugin))

    [group] = parsed["TaskGroups"]
    assert (parsed["ID"], parsed["Namespace"], parsed["Type"], parsed["Priority"]) == ("a", "default", "system", 50)
    assert (parsed["Datacenters"], parsed["Meta"], group["Count"]) == (None, None, 1)
    assert group["Tasks"][0]["CSIPluginConfig"] == {
        "HealthTimeout": 30_000_000_000,
        "ID": "p",
        "MountDir": "/csi",
        "StagePublishBaseDir": "/local/csi",
        "Type": "node",
    }


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ('"${attr.cpu.arch}"', "${attr.cpu.arch}"),
        (r'"\u0024{attr.cpu.arch}"', "${attr.cpu.arch}"),
        ('"$${attr.cpu.arch}"', "${attr.cpu.arch}"),
        ("attr.cpu.arch", "${attr.cpu.arch}"),
        ("anything", "${anything}"),
        ('"%%{ x }"', "%{ x }"),
        ('"cafe\\u0301"', "café"),
        (r'"\" \\ \n \t $ $$ 🎉"', '" \\ \n \t $ $$ 🎉'),
        ("1", "1"),
        ("true", "true"),
    ],
)
def test_texts_are_stored_as_nomad_reads_them(client, job, written, stored):
    """Escapes, doubled marks, composed characters; what only the client knows stays an interpolation."""
    parsed = jobs.parse(client, job("a", top=f"meta {{\n text = {written}\n}}"))

    assert parsed["Meta"] == {"text": stored}


def test_variable_takes_its_default(client):
    """The one expression that both compute."""
    parsed = jobs.parse(client, 'variable "x" {\n default = "batch"\n}\njob "a" {\n type = var.x\n}')

    assert parsed["Type"] == "batch"


def test_byte_order_mark_is_ignored(client):
    """As some editors write it."""
    assert jobs.parse(client, '\ufeffjob "a" {\n}')["ID"] == "a"
