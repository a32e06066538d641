"""Every option that a page names, for itself or in a command, is one of the commands that the page is about."""

import pytest

from nomad_csi import cli
from tests.docs import page

PAGES = {
    "howto/claims.md": ("claims", "claims repair", "remove"),
    "howto/delete-data.md": ("remove",),
    "howto/snapshots.md": ("apply", "snapshot create", "snapshot list", "snapshot delete"),
    "howto/moving-in.md": ("import", "eject", "render", "plan", "apply"),
    "howto/take-over-jobs.md": ("import", "plan"),
    "howto/move-out.md": ("eject", "apply"),
    "explain/ownership.md": ("apply", "remove", "plan"),
    "reference/csi.md": ("csi probe", "csi call"),
    "reference/doctor.md": ("doctor",),
    "reference/report.md": ("verify",),
    "howto/monitoring.md": ("verify", "verify job"),
    "howto/probe-on-clients.md": ("verify", "verify job", "csi probe"),
}
"""The commands that a page is about."""

OF_OTHERS = {"--target", "--file", "--generate-code", "--diff", "--check-volume-lifecycle"}
"""Options of Pulumi and of drivers."""


@pytest.mark.parametrize("name", PAGES)
def test_every_option_exists(name, capsys):
    """As the page spells it."""
    for command in (*PAGES[name], "help connection"):
        words = command.split() if command.startswith("help") else [*command.split(), "--help"]
        assert cli.main(words) == 0

    helps = capsys.readouterr().out
    named = set(page.options(page.read(name))) - OF_OTHERS
    assert named != set()
    assert [option for option in named if option not in helps] == []
