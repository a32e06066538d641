"""Job files become the JSON that a real agent made of them."""

import pytest

from nomad_csi_sandbox.nomad.hcl import hcl_reader, parse
from nomad_csi_sandbox.nomad.jobs import defaults, stored

ESCAPES = r"""
job "esc" {
  type = "batch"
  meta {
    m_unk = "${NOT_A_VAR} x"
    m_u   = "\u0024{attr.cpu.arch} \u0025{ if }"
    m_dd  = "$${attr.cpu.arch}"
    m_raw = "${attr.cpu.arch}"
  }
  group "g" {
    task "t" {
      driver = "raw_exec"
      meta = { tm_u = "\u0024{attr.cpu.arch}", tm_dd = "$${attr.cpu.arch}", "tm_raw" = "${attr.cpu.arch}" }
      env {
        E_PCT  = "\u0025{ x }"
        E_PCT2 = "%%{ x }"
        E_EMO  = "\U0001F389 🎉 \" \\ \n nl"
        E_DD   = "$${attr.cpu.arch}"
        E_U    = "\u0024{attr.cpu.arch}"
        E_UNK  = "${NOT_A_VAR}"
        E_RAW  = "${attr.cpu.arch}"
        E_UNKU = "\u0024{NOT_A_VAR}"
        E_NFD  = "cafe\u0301"
      }
      config {
        command = "/usr/bin/env"
        args = [
          "A_RAW=${attr.cpu.arch}", "A_U=\u0024{attr.cpu.arch}", "A_DD=$${attr.cpu.arch}", "A_UNK=${NOT_A_VAR}",
          "A_UNKU=\u0024{NOT_A_VAR}", "A_DOLLAR=$ $$ x", "A_EMO=🎉 \" \\", "env",
        ]
      }
      template {
        destination = "local/t"
        data        = <<EOT
T_U=${attr.cpu.arch} T_DD=$${attr.cpu.arch} T_RAW=${attr.cpu.arch} T_UNK=${NOT_A_VAR} {{ env "E_RAW" }}
EOT
      }
    }
  }
}
"""


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


def test_escapes_equal_the_recording(recording):
    """Every spelling of a dollar, a percent sign and an emoji is decoded as the real parser does."""
    assert defaults.canonical(parse.parse(ESCAPES)) == recording("05-esc-parse")


def test_unknown_argument_is_refused_in_nomads_words():
    """The sentence, the line and the columns are those measured on a real agent."""
    with pytest.raises(hcl_reader.HclError) as caught:
        parse.parse('job "a" {\n  bogus = 1\n}')

    expected = 'input.hcl:2,3-8: Unsupported argument; An argument named "bogus" is not expected here.'
    assert str(caught.value) == expected


def test_bare_name_of_the_client_stays_a_reference():
    """As measured: what only the client knows is stored as an interpolation."""
    job = parse.parse('job "a" {\n meta {\n arch = attr.cpu.arch\n}\n}')

    assert job["Meta"] == {"arch": "${attr.cpu.arch}"}


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
