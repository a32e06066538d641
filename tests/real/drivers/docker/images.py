"""
Images for Docker made of programs of this machine, with the libraries that they are linked with. No registry is asked.

A name that the engine has is left as it is: an image from its own publisher verifies more than ours.
"""

import io
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

DEADLINE_S = 120.0


def obstacle():
    """Return why no container can run here; empty when one can."""
    if shutil.which("docker") is None:
        return "no `docker` on PATH"
    done = docker("version", "--format", "{{.Server.Version}}", check=False)
    return "" if done.returncode == 0 else f"no Docker engine answers: {done.stderr.decode().strip()}"


def docker(*words, check=True, data=None):
    """Run the client of the engine that DOCKER_HOST names, or of the machine's own."""
    return subprocess.run(["docker", *words], input=data, capture_output=True, check=check, timeout=DEADLINE_S)


def address():
    """Return where the engine listens, as its client has it: ``unix:///var/run/docker.sock``."""
    form = "{{.Endpoints.docker.Host}}"
    return docker("context", "inspect", "--format", form).stdout.decode().strip()


def exists(name):
    """Return whether the engine has the image."""
    return docker("image", "inspect", name, check=False).returncode == 0


def make(name, entrypoint, programs, files=(), linked=(), environment=None):
    """
    Make the image *name*.

    Args:
        name: with its tag.
        entrypoint: words; empty: none.
        programs: place in the image -> file here.
        files: files and folders that keep their places.
        linked: more files here whose libraries are needed.
        environment: variables of all that runs in it.

    """
    changes = [f"--change=ENTRYPOINT {json.dumps(entrypoint)}"] if entrypoint else []
    changes += [f"--change=ENV {key}={value}" for key, value in (environment or {}).items()]
    libraries = _libraries([*programs.values(), *linked])
    docker("import", *changes, "-", name, data=_root({**libraries, **programs}, files))


def remove(name):
    """Remove the image."""
    docker("image", "rm", "--force", name)


def on_path(*names):
    """Return programs of this machine under their own names: ``{"/bin/sh": "/usr/bin/dash"}``."""
    return {f"/bin/{name}": shutil.which(name) for name in names}


def _libraries(programs):
    done = subprocess.run(["ldd", *programs], capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    return {path: path for path in re.findall(r"^\s+(?:\S+ => )?(/\S+) \(0x", done.stdout, re.MULTILINE)}


def _root(placed, files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for folder in ("dev", "etc", "proc", "run", "sys", "tmp", "var"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            archive.addfile(entry)
        for place, source in placed.items():
            archive.add(Path(source).resolve(), arcname=place.lstrip("/"))
        for path in files:
            archive.add(path, arcname=str(path).lstrip("/"), filter=_without_bulk)
    return data.getvalue()


def _without_bulk(entry):
    """Leave out what no program of ours loads: compiled again there, tests, and packages of the machine's Python."""
    is_bulk = {"__pycache__", "test", "idlelib", "site-packages", "dist-packages"} & set(Path(entry.name).parts)
    return None if is_bulk else entry
