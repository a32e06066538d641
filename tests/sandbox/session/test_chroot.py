"""What a task of the exec driver finds in its root."""

import subprocess
from pathlib import Path

from nomad_csi_sandbox.session import chroot


def test_shell_runs_with_what_the_root_holds(tmp_path):
    """The files are enough: the loader starts the shell with nothing but them."""
    places = chroot.contents()
    for source, place in places.items():
        target = tmp_path / place.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(Path(source).read_bytes())
        target.chmod(0o755)
    [loader] = [tmp_path / place.lstrip("/") for place in places.values() if "/ld-" in place]
    folders = {str((tmp_path / place.lstrip("/")).parent) for place in places.values() if ".so" in place}

    command = [loader, "--inhibit-cache", "--library-path", ":".join(sorted(folders)), tmp_path / "bin/sh"]
    done = subprocess.run([*command, "-c", "echo runs"], capture_output=True, text=True, timeout=30, check=True)

    assert done.stdout == "runs\n"
    assert not any(Path(source).is_symlink() for source in places)
