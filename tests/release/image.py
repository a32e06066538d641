"""The image of the Dockerfile: built by docker or buildah, listed, and run as its user."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.release import archives, project

NAME = f"localhost/nomad-csi:{project.metadata()['version']}"
USER = "10001"
LIST = "image.cdx.json"
LABELS = ("title", "description", "licenses", "source", "version", "revision")


def check(engine, options, folder):
    """Build the commit's image with *options* of the engine's ``build``; return what is wrong with it, one sentence each."""
    name, seconds = archives.commit()
    version = project.metadata()["version"]
    own = ("--build-arg", f"VERSION={version}", "--build-arg", f"REVISION={name}", "--tag", NAME)
    if engine == "buildah":
        own += ("--timestamp", str(seconds))
    with tempfile.TemporaryDirectory() as place:
        packed = subprocess.run(["git", "-C", project.ROOT, "archive", name], capture_output=True, check=True).stdout
        subprocess.run(["tar", "--extract", f"--directory={place}"], input=packed, check=True)
        subprocess.run([engine, "build", *own, *options, place], check=True)
    made = _inspected(engine)
    wrong = [f"label {each}: absent" for each in LABELS if f"org.opencontainers.image.{each}" not in made["Labels"]]
    wrong += [] if made["User"] == USER else [f"user: expected {USER}, got {made['User'] or 'root'}"]
    shown = _run(engine, "nomad-csi", "--version").strip()
    wrong += [] if shown == f"nomad-csi {version}" else [f"nomad-csi --version: expected {version}, got {shown}"]
    user = _run(engine, "python", "-c", "import os; print(os.getuid())").strip()
    wrong += [] if user == USER else [f"it runs as {user}, not as {USER}"]
    _list(_run(engine, "/opt/nomad-csi/bin/pip", "freeze", "--all"), folder)
    return wrong


def _inspected(engine):
    """Return ``Labels`` and ``User`` of the image."""
    kind = ("--type", "image") if engine == "buildah" else ()
    found = json.loads(subprocess.run([engine, "inspect", *kind, NAME], capture_output=True, check=True).stdout)
    config = found["OCIv1"]["config"] if engine == "buildah" else found[0]["Config"]
    return {"Labels": config.get("Labels") or {}, "User": config.get("User", "")}


def _run(engine, *command):
    """Run *command* in a container of the image; return its output."""
    if engine != "buildah":
        return _output(engine, "run", "--rm", "--network=none", NAME, *command)
    container = _output(engine, "from", NAME).strip()
    try:
        return _output(engine, "run", container, "--", *command)
    finally:
        _output(engine, "rm", container)


def _output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ).stdout


def _list(frozen, folder):
    """Write the packages that *frozen* names as CycloneDX."""
    folder.mkdir(parents=True, exist_ok=True)
    program = Path(sys.executable).with_name("cyclonedx-py")
    about = ("--output-reproducible", "--output-file", folder / LIST)
    subprocess.run([program, "requirements", *about, "-"], input=frozen, text=True, check=True)
