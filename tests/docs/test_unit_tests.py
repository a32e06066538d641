"""The program and the tests of docs/howto/unit-tests.md run as they are."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/howto/unit-tests.md").read_text()
FILES = dict(re.findall(r"^```python (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def test_the_tests_of_the_page_pass(tmp_path):
    """In a project of their own, without settings of this one."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_storage.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert re.search(r"^3 passed", run.stdout, re.MULTILINE), run.stdout + run.stderr
