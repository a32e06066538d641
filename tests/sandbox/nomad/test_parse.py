"""Job files become the JSON that a real agent made of them."""

import pytest

from nomad_csi_sandbox.nomad.hcl import hcl_reader, parse
from nomad_csi_sandbox.nomad.jobs import defaults, stored


@pytest.fixture(scope="module")
def hostpath(recording):
    """The job file that was given to the real agent."""
    return recording("02-job-submission")["Source"]


def test_parse_without_defaults_equals_the_recording(recording, hostpath):
    """What is not written is null, as in the real parser's answer."""
    assert parse.parse(hostpath) == recording("01-hostpath-parse-raw")


def test_parse_with_defaults_equals_the_recording(recording, hostpath):
    """Canonicalize fills in the real agent's defaults."""
    assert defaults.canonical(parse.parse(hostpath)) == recording("01-hostpath-parse-canonical")


def test_stored_job_equals_the_recording(recording, hostpath):
    """The server keeps what the real one keeps, but for what it counts and times."""
    counted = ("CreateIndex", "JobModifyIndex", "ModifyIndex", "SubmitTime", "Stable", "Status")
    expected = recording("02-job")

    found = stored.from_api(parse.parse(hostpath))

    assert {**found, **{name: expected[name] for name in counted}} == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('job "a" {\n service {}\n}', 'Blocks of type "service" are not expected here'),
        ('job "a" {\n priority = "high"\n}', "a number is required"),
        ('job "a" {\n name = upper("x")\n}', "does not compute a function call"),
        ('job "a" {\n name = "x"\n name = "y"\n}', "Each argument may be set only once"),
        ('job "a" {\n name = \n}', "not valid HCL2"),
        ('variable "v" {}\njob "a" {}', 'Unset variable "v"'),
        ('group "a" {}', 'Blocks of type "group" are not expected here'),
        ("# nothing", "<nil>: Missing job block"),
    ],
)
def test_rejects_what_is_no_job(text, words):
    """A wrong file is refused with its place, never half read."""
    with pytest.raises(hcl_reader.HclError, match=words):
        parse.parse(text)


def test_variables_are_replaced_by_default_or_given_value():
    """A declared variable has its default, unless a value is handed in."""
    text = 'variable "n" {\n type = number\n default = 2\n}\njob "a" {\n group "g" {\n count = var.n\n }\n}'

    counts = [parse.parse(text, given)["TaskGroups"][0]["Count"] for given in ("", "n = 3\n")]

    assert counts == [2, 3]


def test_volume_requests_written_by_hand_have_defaults(api):
    """Nomad decodes what is left out as its zero value."""
    request = {"Type": "csi", "Source": "v", "AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
    task = {"Name": "t", "Driver": "exec", "Config": {"command": "true"}}
    group = {"Name": "g", "Count": 1, "Volumes": {"data": request}, "Tasks": [task]}

    status, reply, _ = api.call("POST", "/v1/jobs", {"Job": {"ID": "j", "Name": "j", "TaskGroups": [group]}})

    assert status == 200, reply
    [kept] = api.get("/v1/job/j")["TaskGroups"]
    assert kept["Volumes"]["data"].items() >= (request | {"ReadOnly": False, "PerAlloc": False}).items()
