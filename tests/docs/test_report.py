"""The commands of docs/reference/report.md work as written, and the picture is one that a repository can carry."""

import json
import re
import shlex
import struct
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.diagnosis import cluster_report
from tests.diagnosis import report_picture as demo
from tests.docs import page

ROOT = Path(__file__).parents[2]
PAGE = page.read("reference/report.md")
COMMANDS = page.commands(PAGE)
SMOKE = {"namespace": "default", "volume_id": "data-00001", "status": "verified"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the page names, and a cluster that is as its spec wants it."""
    (tmp_path / "storage.yaml").write_text(yaml.safe_dump(demo.SPEC))
    sentences = {"verified": ["it came back"], "not_verified": [], "left_behind": []}
    (tmp_path / "smoke.json").write_text(json.dumps(SMOKE | sentences))
    monkeypatch.chdir(tmp_path)
    with demo.running(3, 6) as (_, serving):
        monkeypatch.setenv("NOMAD_ADDR", serving.url)
        yield tmp_path


def test_commands_run_as_written(folder, capsys):
    """One after the other: all is well but AWS, which refuses; the last page has the volume that was tried."""
    codes = [cli.main(shlex.split(line.partition(" > ")[0])[1:]) for line in COMMANDS]
    said = capsys.readouterr().out

    assert [line.split()[:2] for line in COMMANDS] == [["nomad-csi", "verify"]] * 4
    assert codes == [2] * 4, said
    assert '<li><span class="b good">verified</span> it came back' in (folder / "report.html").read_text()
    data = json.loads(said[said.index("{") :])
    assert (data["findings"], data["totals"]["volumes"]) == ([], 6)
    assert {item["reason"].partition(":")[0] for item in data["not_checked"] if not item["is_expected"]} == {
        "AWS credentials"
    }


def test_every_proof_is_explained():
    """A new one needs a line; the bound is that of the code."""
    told = set(re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE))

    assert told == {tier for tier, _ in cluster_report.EVIDENCE}
    assert f"at most {cluster_report.CLAIMED_MAX} of them" in PAGE


def test_picture_is_small():
    """It is shown in README.md and on the page, and is made again by the command of CONTRIBUTING.md."""
    content = (ROOT / "docs/images/report.png").read_bytes()

    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", content[16:24])[0] == 1100
    assert len(content) < 200_000
    assert "(docs/images/report.png)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python -m tests.diagnosis.report_picture docs/images/report.png" in (ROOT / "CONTRIBUTING.md").read_text(
        encoding="utf-8"
    )
