"""What is mounted below a folder."""

import os
import subprocess
from pathlib import Path

import pytest

from nomad_csi_sandbox.session import mounts

TABLE = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
90 22 0:40 / /tmp/d/alloc/a/secrets rw - tmpfs tmpfs rw
91 22 254:0 /srv/with\\040space /tmp/d/alloc/a/with\\040space rw - ext4 /dev/vda rw
92 91 0:41 / /tmp/d/alloc/a/with\\040space/inner rw - tmpfs tmpfs rw
93 22 0:42 / /tmp/dd/elsewhere rw - tmpfs tmpfs rw
"""


def test_mounts_below_a_folder_come_in_the_order_in_which_they_can_go():
    """What was mounted last comes first; a folder whose name only begins alike has no part in it."""
    found = mounts.below(Path("/tmp/d"), TABLE)

    assert found == [
        Path("/tmp/d/alloc/a/with space/inner"),
        Path("/tmp/d/alloc/a/with space"),
        Path("/tmp/d/alloc/a/secrets"),
    ]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
def test_mount_in_use_is_detached(tmp_path):
    """A process that still works in it, such as a shell, does not keep the sandbox from being removed."""
    point = tmp_path / "alloc"
    point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", point], check=True)
    with subprocess.Popen(["sleep", "600"], cwd=point) as user:
        mounts.unmount_below(tmp_path)
        is_running = user.poll() is None
        user.kill()

    assert is_running
    assert mounts.below(tmp_path) == []
