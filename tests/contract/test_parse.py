"""Reading job files: what comes out, and the sentences for what is wrong."""

import re

import pytest

from nomad_csi.nomad import jobs

TASK = 'job "a" {\n group "g" {\n task "t" {\n%s\n}\n}\n}'
UNSET = 'Unset variable "x"; A used variable must be set or have a default value; see {} for details.'
UNSET_AT = "https://developer.hashicorp.com/nomad/docs/{}"
ONLY_ONE = 'Only one block of type "job" is allowed. Previous definition was at input.hcl:1,1-8.'
INTEGER = "between -9223372036854775808 and 9223372036854775807"


@pytest.mark.parametrize(
    ("hcl", "sentence"),
    [
        ('job "a" {\n bogus = 1\n}', 'input.hcl:2,2-7: Unsupported argument; An argument named "bogus" is not expected here.'),
        ('job "a" {\n bogus {}\n}', 'input.hcl:2,2-7: Unsupported block type; Blocks of type "bogus" are not expected here.'),
        ('group "x" {}', 'input.hcl:1,1-6: Unsupported block type; Blocks of type "group" are not expected here.'),
        ("x = 1", 'input.hcl:1,1-2: Unsupported argument; An argument named "x" is not expected here.'),
        ("# nothing", "<nil>: Missing job block; A job block is required"),
        ('job "a" {}\njob "b" {}', f"input.hcl:2,1-8: Duplicate job block; {ONLY_ONE}"),
        ("job {}", "input.hcl:1,5-6: Missing name for job; All job blocks must have 1 labels (name)."),
        ('job "a" "b" {}', "input.hcl:1,9-12: Extraneous label for job; Only 1 labels (name) are expected for job blocks."),
        ('job "a" {\n group {\n}\n}', "input.hcl:2,8-9: Missing name for group; All group blocks must have 1 labels (name)."),
        ('variable "x" {}\njob "a" {\n type = var.x\n}', f"<nil>: {UNSET}"),  # the page has moved
        ('job "a" {\n type = "b"\n type = "c"\n}', "input.hcl:3,2-6: Attribute redefined; "
         'The argument "type" was already set at input.hcl:2,2-6. Each argument may be set only once.'),
        ('job "a" {\n priority = "high"\n}', "input.hcl:2,14-18: Unsuitable value type; Unsuitable value: a number is required"),
        ('job "a" {\n priority = 1.5\n}', f"input.hcl:2,13-16: Unsuitable value type; Unsuitable value: value must be a whole number, {INTEGER}"),
        ('job "a" {\n priority = true\n}', "input.hcl:2,13-17: Unsuitable value type; Unsuitable value: number required, but have bool"),
        ('job "a" {\n all_at_once = "yes"\n}', "input.hcl:2,17-20: Unsuitable value type; Unsuitable value: a bool is required"),
        ('job "a" {\n type = ["x"]\n}', "input.hcl:2,9-10: Unsuitable value type; Unsuitable value: string required, but have tuple"),
        ('job "a" {\n meta = "x"\n}', "input.hcl:2,10-11: Unsuitable value type; Unsuitable value: map of string required, but have string"),
        ('job "a" {\n datacenters = "dc1"\n}', "input.hcl:2,17-20: Unsuitable value type; Unsuitable value: list of string required, but have string"),
        ('job "a" {\n datacenters = ["a",["b"]]\n}', "input.hcl:2,16-17: Unsuitable value type; Unsuitable value: element 1: string required, but have tuple"),
        (TASK % "leader = 1", "input.hcl:4,10-11: Unsuitable value type; Unsuitable value: bool required, but have number"),
        (TASK % 'kill_timeout = "abc"', 'input.hcl:4,17-20: Unsuitable value type; Unsuitable duration value: time: invalid duration "abc"'),
        (TASK % 'kill_timeout = "30"', 'input.hcl:4,17-19: Unsuitable value type; Unsuitable duration value: time: missing unit in duration "30"'),
        (TASK % 'kill_timeout = "5x"', 'input.hcl:4,17-19: Unsuitable value type; Unsuitable duration value: time: unknown unit "x" in duration "5x"'),
        (TASK % "csi_plugin {\n bogus = 1\n}", 'input.hcl:5,2-7: Unsupported argument; An argument named "bogus" is not expected here.'),
        (TASK % 'csi_plugin "x" {\n}', "input.hcl:4,12-15: Extraneous label for csi_plugin; No labels are expected for csi_plugin blocks."),
        (TASK % "csi_plugin {\n}\ncsi_plugin {\n}", "input.hcl:6,1-11: Duplicate csi_plugin block; "
         "Only one csi_plugin block is allowed. Another was defined at input.hcl:4,1-11."),
    ],
)  # fmt: skip
def test_wrong_job_file_is_refused_at_its_place(agent, hcl, sentence):
    """Line, columns, and Nomad's own words."""
    body = {"JobHCL": hcl, "Canonicalize": True}
    page = "reference/hcl2/variables " if agent.has("docs-moved") else "job-specification/hcl2/variables"

    told = sentence.format(UNSET_AT.format(page)) if UNSET in sentence else sentence
    if not agent.has("names-found-types"):
        told = re.sub(r"((?:bool|number|string)) required, but have \w+$", r"\1 required", told)
    assert agent.refused("POST", "/v1/jobs/parse", body) == (400, f"Failed to parse job: {told}")


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
