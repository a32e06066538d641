"""Our readers against Nomad's own: what `nomad volume register` sends of a file, what `nomad job run` makes of one."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.hcl import files, read, volume
from nomad_csi.migration import adopt

NOMAD = shutil.which("nomad")
pytestmark = [pytest.mark.real_nomad, pytest.mark.skipif(NOMAD is None, reason="no `nomad` on PATH to read with")]

CASES = Path(__file__).parents[1] / "cases"
FIELDS = [
    "ID",
    "Name",
    "Namespace",
    "ExternalID",
    "PluginID",
    "SnapshotID",
    "CloneID",
    "Secrets",
    "Parameters",
    "Context",
    "RequestedCapacityMin",
    "RequestedCapacityMax",
    "RequestedCapabilities",
    "MountOptions",
    "RequestedTopologies",
]
HEAD = 'id = "v"\ntype = "csi"\n'
SEGMENTS = 'topology {\n    segments { "a/b" = "c" }\n  }\n'
BOTH = [
    HEAD + '"name" = "n"\n',
    HEAD + 'name = "a" plugin_id = "b"\nparameters { "a/b" = "c" d.e = "f" }\n',
    HEAD + "parameters = { a = 1, b = true, c = 1.50, d = -3 }\n",
    HEAD + 'context {\n  a = "1"\n}\ncontext {\n  a = "2"\n}\n',
    HEAD + 'name = "\\u0024{x} $${y} %{z} ${a "b" } \\U0001F389 \\"q\\""\n',
    HEAD + "external_id = <<E\n  a\n${b} \\n\nE\n",
    HEAD + 'capability { access_mode = "a" attachment_mode = "b" }\ncapability {\n  access_mode = "c"\n}\n',
    HEAD + 'mount_options {}\nmount_options {\n  fs_type = "x"\n}\n',
    HEAD + f"topology_request {{\n  required {{\n  {SEGMENTS}  }}\n  preferred {{\n  {SEGMENTS}  }}\n}}\n",
    HEAD + "topology_request {\n  required {\n    topology {\n      segments = {}\n    }\n  }\n}\n",
    HEAD + 'capacity_min = "1.5GiB"\ncapacity_max = "20G"\n',
    HEAD + "# a\n// b\n/* c\n*/ zzz = 1 // d\r\n",
    '{"id": "v", "type": "csi", "parameters": {"a": "\\u00e9 b"}, "capability": [{"access_mode": "a"}]}',
]
NEITHER = [
    'id = "v"\n',  # no type
    HEAD + "name = null\n",
    HEAD + "parameters = { a : 1 }\n",
    HEAD + 'name = "a\\/b"\n',
    HEAD + 'name = "a\nb"\n',
    HEAD + "name = <<E\na\nE \n",
    HEAD + 'capability {\n  mode = "a"\n}\n',
    HEAD + 'capacity_min = "ten"\n',
    "\ufeff" + HEAD,
]


@pytest.fixture
def register(tmp_path, received):
    """Return a function that gives what the nomad command sends of a volume file, ``None`` where it refuses it."""
    address, bodies = received

    def sent(text):
        path = tmp_path / "v.hcl"
        path.write_text(text, encoding="utf-8", newline="")
        environment = {"PATH": os.environ["PATH"], "NOMAD_ADDR": address}
        subprocess.run([NOMAD, "volume", "register", str(path)], env=environment, capture_output=True, check=False)
        return bodies.pop()[1]["Volumes"][0] if bodies else None

    return sent


def said(value):
    """Return *value* without what the command line sends for what a file does not say."""
    if isinstance(value, dict):
        return {key: left for key, item in value.items() if (left := said(item)) not in (None, "", [], {}, 0, False)}
    return [said(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("text", BOTH)
def test_a_volume_file_means_to_us_what_it_means_to_nomad(register, text):
    """Forms of HCL1 and JSON, escapes, weak values, and what Nomad loses."""
    theirs = register(text)

    ours = volume.volume_payload(read.read_volume(text))

    assert said(ours) == said({name: theirs[name] for name in FIELDS})


@pytest.mark.parametrize("text", NEITHER)
def test_what_nomad_refuses_is_refused_or_found(register, text):
    """By the reader, or by a rule of the linter."""
    assert register(text) is None

    try:
        content = read.read_volume(text)
        volume.volume_payload(content)
    except errors.SpecError:
        return
    assert "type" not in content  # the rule `type-missing`


@pytest.mark.parametrize(
    "value",
    [
        r'"a \" \\ \n \t \u00e9 \U0001F389"',
        '"$${x} %%{y} $ % {z} $"',
        '"${attr.cpu.arch} ${meta.a} ${NOMAD_ALLOC_ID}"',
        "attr.cpu.arch",
        '"cafe\u0301"',
        "<<EOF\n  a\n b ${attr.x} $${y}\nEOF",
        "<<-EOF\n    a\n\n      b\n    EOF",
        "var.tag",
        '"${var.tag}-${local.both}"',
        '"${var.count}"',
        "true",
        "-3",
        "1.5",
    ],
)
def test_a_text_in_a_job_file_means_to_us_what_it_means_to_nomad(tmp_path, value):
    """Escapes, templates, heredocs, and variables that the file gives a value."""
    text = (
        'variable "tag" {\n  default = "v1"\n}\nvariable "count" {\n  default = 2\n}\n'
        'locals {\n  both = "x-${var.tag}"\n}\n'
        f'job "j" {{\n  group "g" {{\n    task "t" {{\n      driver = "docker"\n      env {{\n        A = {value}\n'
        "      }\n    }\n  }\n}\n"
    )
    path = tmp_path / "j.nomad.hcl"
    path.write_text(text, encoding="utf-8")
    made = subprocess.run(
        [NOMAD, "job", "run", "-output", str(path)], check=True, capture_output=True, text=True
    ).stdout

    [theirs], [ours] = files.parse(made, "made").jobs, files.parse(text, "text").jobs

    env = ours.groups[0].tasks[0].env["A"]
    shown = str(env).lower() if isinstance(env, bool) else str(env)
    assert shown == theirs.groups[0].tasks[0].env["A"]


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("*.nomad.hcl")))
def test_a_job_is_adopted_from_nomads_own_json_as_from_its_file(name):
    """What `nomad job run -output` makes of a job file imports into the same spec."""
    path = CASES / name
    made = subprocess.run(
        [NOMAD, "job", "run", "-output", str(path)], check=True, capture_output=True, text=True
    ).stdout

    from_json = adopt.adopt([files.parse(made, name)])
    from_file = adopt.adopt([files.parse(path.read_text(encoding="utf-8"), name)])

    assert from_json.document == from_file.document
    assert {remark.text for remark in from_json.remarks} == {remark.text for remark in from_file.remarks}
