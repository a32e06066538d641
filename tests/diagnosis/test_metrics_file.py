"""A reader of the file sees the old metrics or the new ones, whatever goes wrong."""

import subprocess
import sys


def test_file_is_put_in_place_and_readable_for_all(tmp_path):
    """The exporter is another user; nothing is left beside."""
    path = tmp_path / "nomad_csi.prom"
    write = "import pathlib, sys; from nomad_csi.hcl import disk; from nomad_csi.diagnosis import prometheus as p"
    write += "; [disk.write(pathlib.Path(sys.argv[1]), f'a {number}\\n', mode=p.FILE_MODE) for number in (1, 2)]"

    subprocess.run([sys.executable, "-c", write, path], umask=0o077, check=True)

    assert path.read_text() == "a 2\n"
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]
