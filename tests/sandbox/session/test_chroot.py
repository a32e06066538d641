"""What a task of the exec driver finds in its root."""

import subprocess
from pathlib import Path

from nomad_csi_sandbox.session import chroot

GLIBC = """\
/usr/bin/dash:
\tlinux-vdso.so.1 (0x00007fff)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f11)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f22)
/usr/bin/ls:
\tlibselinux.so.1 => /lib/x86_64-linux-gnu/libselinux.so.1 (0x00007f33)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f44)
\tlibmissing.so => not found
"""


def test_libraries_are_read_from_what_ldd_prints():
    """Each path once; the kernel's own library has none, and neither has a missing one."""
    assert chroot.needed(GLIBC) == [
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib/x86_64-linux-gnu/libselinux.so.1",
        "/lib64/ld-linux-x86-64.so.2",
    ]


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
