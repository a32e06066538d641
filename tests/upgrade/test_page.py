"""The commands of docs/howto/upgrades.md, one after the other, in a stack of e27e896 on Pulumi's own engine."""

import re
import shlex
from pathlib import Path

import pytest

from tests.real.engines.conftest import ABSENT

PAGE = (Path(__file__).parents[2] / "docs/howto/upgrades.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.startswith("pulumi ")
]
UNATTENDED = ("PULUMI_OPTION_YES=true", "PULUMI_OPTION_NON_INTERACTIVE=true")

pytestmark = [
    pytest.mark.real_pulumi,
    pytest.mark.skipif(bool(ABSENT), reason=f"not on PATH: {', '.join(ABSENT)}"),
]


def test_commands_work_as_written(begin):
    """Up, back and up again: each succeeds, and volumes, storage and tasks are those of before."""
    life = begin("components", "real")
    project = life.engine.sandbox.project

    for program, *words in COMMANDS:
        done = life.engine.sandbox.exec("env", *UNATTENDED, program, "--cwd", project, *words, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    life.note("after")

    assert [words[1] for words in COMMANDS] == ["stack", "preview", "up", "preview", "stack", "stack", "stack", "up"]
    before, after = life.facts["before"], life.facts["after"]
    assert (after.storage, after.registrations, after.tasks) == (before.storage, before.registrations, before.tasks)
    assert "nomad-csi:index:StackIdentity nomad-csi" in after.resources
