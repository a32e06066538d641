"""The commands of docs/start/your-own-stack.md work as written, one after the other, and its table names every file."""

import io
import re
import shlex
from pathlib import Path

from nomad_csi import cli

PAGE = (Path(__file__).parents[2] / "docs/start/your-own-stack.md").read_text()


def test_the_commands_run_and_write_the_files_that_the_page_names(tmp_path, monkeypatch):
    """In an empty folder, without a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    [block] = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| (`.+?`) \| .* \| .* \|$", PAGE.partition("| file | in |")[2], re.MULTILINE)

    codes = [cli.main(shlex.split(line)[1:]) for line in block.splitlines()]

    assert codes == [0, 0, 0, 0]
    found = {str(Path(*path.relative_to(tmp_path).parts[1:])) for path in tmp_path.rglob("*") if path.is_file()}
    assert {name for row in rows for name in re.findall("`([^`]+)`", row)} == found
