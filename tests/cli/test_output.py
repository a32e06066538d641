"""Output as Unix programs have it: a reader that goes away, UTF-8, a full disk."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nomad_csi.cli.common import output

COMMAND = str(Path(sys.executable).with_name("nomad-csi"))
SPEC = """
plugins:
- {id: ebs, driver: aws-ebs, aws_region: us-east-1}
volumes:
- id: data
  name: "数据"
  plugin_id: ebs
  existing: {external_id: vol-0123456789abcdef0, availability_zone: us-east-1a}
"""
STALE = [
    pytest.param(["render", "storage.yaml", "--out", "out", "--check"], id="render --check"),
    pytest.param(["check", "job.nomad.hcl"], id="lint"),
    pytest.param(["import", "job.nomad.hcl"], id="import"),
]


@pytest.fixture
def folder(tmp_path):
    """A folder with a spec and a job."""
    (tmp_path / "storage.yaml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "job.nomad.hcl").write_text(
        'job "数据" { group "g" { task "t" { driver = "docker"\n csi_plugin { id = "数"\n type = "node" } } } }',
        encoding="utf-8",
    )
    return tmp_path


def run(words, folder, output, **environment):
    """Return exit code and standard error of a command whose standard output is *output*."""
    done = subprocess.run(
        [COMMAND, *words], cwd=folder, env=os.environ | environment, stdout=output, stderr=subprocess.PIPE, check=False
    )
    return done.returncode, done.stderr.decode("utf-8", errors="replace")


@pytest.mark.parametrize("words", [["--version"], ["schema"]])
def test_closed_pipe_ends_a_process_quietly(words, folder):
    """The interpreter says nothing either when it ends: the output was little, or more than a pipe holds."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert run(words, folder, writer) == (141, "")
    finally:
        os.close(writer)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["schema"], ["--version"], ["sandbox", "up"]])
def test_full_disk_is_an_error(words, unbuffered, folder):
    """It is said once, and names what is full: also where the output is written at the very end, or flushed midway."""
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        code, said = run(words, folder, full, PYTHONUNBUFFERED=unbuffered)

    assert (code, said) == (2, "error: <stdout>: No space left on device\n")


@pytest.mark.parametrize("words", STALE)
def test_output_is_utf_8_in_any_locale(words, folder):
    """The exit code is that of the findings."""
    with (folder / "output").open("wb") as output:
        code, said = run(words, folder, output, PYTHONIOENCODING="latin-1")

    assert "Traceback" not in said
    assert code in {0, 1}
    assert ("数" if words[0] != "import" else "\\u6570") in (folder / "output").read_text(encoding="utf-8")


def test_what_is_hidden_stays_hidden_in_both_streams():
    """Of a command that is given secrets twice: the token, then those of volumes."""
    streams = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]), output.guarded():
        output.hide(["canary-1"])
        output.hide(["canary-2"])
        sys.stdout.write("canary-1 canary-2\n")
        output.print_progress("canary-1 canary-2")

    assert [stream.getvalue() for stream in streams] == ["[secret] [secret]\n"] * 2


def test_json_is_json_whatever_it_holds():
    """A half of a pair is an escape of JSON."""
    value = ["né", "数", "\U0001f600", "half \udce9"]
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii")

    with contextlib.redirect_stdout(stream), output.guarded():
        output.print_json({"value": value})

    assert json.loads(written.getvalue())["value"] == value
