"""The machine of the operator: a clock that jumps, a disk that is full."""

import ast
import subprocess
import sys
from pathlib import Path

from nomad_csi import cli

PACKAGE = Path(cli.__file__).parents[1]
MAY_LOOK = ("nomad/request.py", "diagnosis/claim_replacement.py", "diagnosis/rounds.py", "hcl/disk.py", "cli/")
"""Where an agent sent no time; timestamps of what is printed and written, and ages of files."""

WALL_CLOCK = {"time.time", "time.time_ns", "time.localtime", "time.gmtime", "datetime.now", "datetime.utcnow"}


def test_nothing_is_timed_by_the_clock_on_the_wall():
    """Deadlines, waits and ages are measured by a clock that only goes forward, or by Nomad's own times."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
                owner = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                if f"{owner}.{node.attr}" in WALL_CLOCK:
                    found.add(str(path.relative_to(PACKAGE)))

    assert [path for path in found if not path.startswith(MAY_LOOK)] == []


LIMITED = """\
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
from nomad_csi import cli
sys.exit(cli.main(sys.argv[1:]))
"""


def test_file_that_the_kernel_cuts_off_is_none(spec, tmp_path):
    """Rendered files come all together or not at all; with room again, the same command writes them."""
    words = ["render", spec("v0", "v1"), "--out", str(tmp_path / "rendered")]

    # -B: a file of bytecode would be cut as well, and every later import of its module would fail.
    done = subprocess.run([sys.executable, "-B", "-c", LIMITED, *words], capture_output=True, text=True, check=False)

    folder = tmp_path / "rendered"
    message = f"error: {folder}: the files cannot be written: {folder}: File too large\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert list(folder.iterdir()) == []
    assert cli.main(words) == 0
    assert len(list((tmp_path / "rendered").rglob("*.hcl"))) == 3
