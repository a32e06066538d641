"""The wheels and sdists of a commit: built, compared byte for byte, and checked as a package index would."""

import filecmp
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

from tests.release import project

FOLDERS = (".", "infra/nomad_csi_sandbox")
RELATIVE = re.compile(r'(?:href|src)="(?!https?://|#|mailto:)([^"]*)"')
UMASKS = (0o022, 0o077)
"""Those of two builds: what a file may do is no part of an archive."""


def commit(root=project.ROOT):
    """Return the id of the commit and its time in seconds since 1970."""
    shown = subprocess.run(
        ["git", "-C", root, "log", "-1", "--format=%H %ct"], capture_output=True, text=True, check=True
    )
    name, seconds = shown.stdout.split()
    return name, int(seconds)


def build(folder, umask=UMASKS[0], root=project.ROOT):
    """
    Build all archives of the commit into *folder*. Files that are not committed are not in them.

    Each wheel is built from its sdist, so an installation from either is the same.
    """
    name, seconds = commit(root)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "source")
        packed = subprocess.run(["git", "-C", root, "archive", name], capture_output=True, check=True).stdout
        unpack = ["tar", "--extract", "--touch", f"--directory={_made(source)}"]
        subprocess.run(unpack, input=packed, umask=umask, check=True)
        for each in FOLDERS:
            subprocess.run(
                [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder.resolve(), source / each],
                env=os.environ | {"SOURCE_DATE_EPOCH": str(seconds)},
                umask=umask,
                check=True,
                stdout=subprocess.DEVNULL,
            )


def _made(folder):
    folder.mkdir()
    return folder


def found(folder):
    """Return the archives in *folder*, wheels first."""
    return [*sorted(folder.glob("*.whl")), *sorted(folder.glob("*.tar.gz"))]


def differences(folder):
    """Build once more, elsewhere and with another umask, and return the names of archives that are not the same."""
    with tempfile.TemporaryDirectory() as place:
        again = Path(place, "again")
        build(again, UMASKS[1])
        names = sorted({path.name for path in (*found(folder), *found(again))})
        _, differ, absent = filecmp.cmpfiles(folder, again, names, shallow=False)
    return differ + absent


def relative_links(archive):
    """Return the links and pictures of the archive's page on a package index that lead nowhere there."""
    import readme_renderer.markdown  # noqa: PLC0415  # it is no tool of the tests' environment

    page = readme_renderer.markdown.render(message_from_bytes(description(archive)).get_payload())
    if page is None:
        return ["the readme cannot be rendered"]
    return RELATIVE.findall(page)


def description(archive):
    """Return the metadata of a wheel or sdist."""
    if archive.suffix == ".whl":
        with ZipFile(archive) as wheel:
            [name] = [each for each in wheel.namelist() if each.endswith(".dist-info/METADATA")]
            return wheel.read(name)
    with tarfile.open(archive) as sdist:
        [name] = [each for each in sdist.getnames() if each.count("/") == 1 and each.endswith("/PKG-INFO")]
        return sdist.extractfile(name).read()


def check(folder):
    """Return what is wrong with the archives in *folder*, one sentence each."""
    archives = found(folder)
    wheels = [path for path in archives if path.suffix == ".whl"]
    if len(archives) != 2 * len(FOLDERS):
        return [f"{folder}: expected a wheel and an sdist of 2 packages, got {[path.name for path in archives]}"]
    wrong = [f"{name}: two builds of one commit differ" for name in differences(folder)]
    wrong += _refused("twine", "check", "--strict", *archives)
    wrong += _refused("check-wheel-contents", *wheels)
    wrong += [f"{path.name}: relative link: {link}" for path in archives for link in relative_links(path)]
    return wrong


def _refused(name, *words):
    """Return what a tool of this environment says of *words*, when it fails."""
    program = Path(sys.executable).with_name(name)
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    return [f"{name}: {done.stdout}{done.stderr}"] if done.returncode else []


def clear(folder):
    """Remove archives that are there from before."""
    shutil.rmtree(folder, ignore_errors=True)
