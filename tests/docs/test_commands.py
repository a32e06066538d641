"""Every command in README.md and docs/ is one that the command line understands."""

import re
import shlex

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import command
from tests.docs import page

PAGES = [page.DOCS.parent / "README.md", *sorted(page.DOCS.rglob("*.md"))]
BLOCK = re.compile(r"^ *```sh.*?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LINES = {
    line.strip(): None
    for path in PAGES
    for block in BLOCK.findall(path.read_text(encoding="utf-8"))
    for line in block.replace("\\\n", " ").splitlines()
    if line.strip().startswith("nomad-csi ")
}


@pytest.mark.parametrize("line", LINES)
def test_command_is_understood(line, monkeypatch, tmp_path):
    """With its arguments and options, in a directory with a spec; nothing is run."""
    (tmp_path / "storage.yaml").touch()
    monkeypatch.chdir(tmp_path)
    parsed = []
    monkeypatch.setattr(command.Command, "invoke", lambda _command, ctx: parsed.append(ctx) or 0)

    words = shlex.split(re.split(" [|>&] ", line)[0], comments=True)

    assert cli.main(words[1:]) == 0
    assert parsed
