"""The sandbox from the wheels, in empty folders: what docs/sandbox.md has a user without a checkout type."""

import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nomad_csi_sandbox.session import folder
from tests import shipped, wheels

PAGE = (wheels.ROOT / "docs/sandbox.md").read_text()
FILES = ["Pulumi.sandbox.yaml", "Pulumi.yaml", "__main__.py"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The two wheels, with neither pulumi nor nomad on PATH."""
    return wheels.install(tmp_path_factory.mktemp("wheels"))


@pytest.mark.timeout(900)
def test_two_empty_folders_are_two_sandboxes(installed, tmp_path):
    """The page's commands in one folder, while a second one is up: neither notices the other."""
    [block] = re.findall(r"^```sh wheel\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    *begin, down = block.splitlines()
    assert down == "nomad-csi sandbox down"
    other = tmp_path / "other"
    other.mkdir()
    first, second = {}, {}
    threads = [
        threading.Thread(target=lambda: first.update(out=installed.type(" && ".join(begin), tmp_path))),
        threading.Thread(target=lambda: second.update(out=installed.type("nomad-csi sandbox up", other))),
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        here = tmp_path / "sandbox"
        records = [folder.Folder(each).load() for each in (here, other)]
        loaded = installed.type("python -c 'import nomad_csi, nomad_csi_sandbox as s; print(nomad_csi, s)'", here)

        assert str(wheels.ROOT) not in loaded
        assert "  nomad-csi sandbox preview    see what a change would do" in first["out"]
        assert "make up" not in first["out"]
        assert records[0].data_dir != records[1].data_dir
        assert folder.Folder(here).token != folder.Folder(other).token
        ports = [process.port for record in records for process in record.processes.values()]
        assert len(set(ports)) == len(ports) == 6

        installed.type(down, here)

        assert sorted({path.name for path in here.iterdir()} - {"__pycache__"}) == FILES
        assert not Path(records[0].data_dir).exists()
        verify = "nomad-csi sandbox exec -- nomad-csi verify --json .sandbox/Pulumi.sandbox.yaml"
        report = json.loads(installed.type(verify, other))
        assert (report["ok"], [each["status"] for each in report["plugins"]]) == (True, ["healthy", "healthy"])
    finally:
        for each in (tmp_path / "sandbox", other):
            if each.exists():
                installed.type("nomad-csi sandbox down", each)


def test_action_installs_a_wheel_with_which_the_other_steps_pass(installed, tmp_path):
    """Into an environment below the runner's folder; the libraries are those of this machine."""
    folder = Path(shutil.copytree(wheels.ROOT / "examples/committed-hcl", tmp_path / "checkout"))
    [wheel] = (installed.home / "dist").glob("nomad_csi-*.whl")
    install, *others = shipped.steps()

    done = shipped.run_step(install, {"package": str(wheel)}, folder, tmp_path, PIP_NO_DEPS="1", PIP_NO_INDEX="1")

    assert done.returncode == 0, done.stderr
    wheels.lend_libraries(tmp_path / "nomad-csi")
    for step in others:
        done = shipped.run_step(step, {}, folder, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def test_image_is_built_from_what_it_copies_alone(tmp_path):
    """Its commands behind the one that downloads, in a folder in place of ``/opt``; the program of the last one runs."""
    source, target = tmp_path / "src", tmp_path / "opt"
    source.mkdir()
    ran = []
    for name, words in shipped.dockerfile():
        if name == "FROM" and ran:
            break
        if name == "COPY":
            for path in words[:-1]:
                there = source / (words[-1] if words[-1] != "./" else path)
                copy = shutil.copytree if (wheels.ROOT / path).is_dir() else shutil.copy
                copy(wheels.ROOT / path, there)
        if name == "RUN" and "--require-hashes" in words:
            wheels.lend_libraries(target / "nomad-csi")
        elif name == "RUN":
            command = [str(sys.executable) if word == "python" else word.replace("/opt", str(target)) for word in words]
            done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{command}: {done.stderr}"
            ran.append(words)

    [command] = [words for name, words in shipped.dockerfile() if name == "CMD"]
    program = [str(target / "nomad-csi/bin" / command[0]), *command[1:]]
    done = subprocess.run(program, cwd=tmp_path, env={"PATH": ""}, capture_output=True, text=True, check=True)

    assert [words[1] for words in ran] == ["-m", "wheel", "install"]
    assert "sandbox" in done.stdout
    assert (target / "nomad-csi/bin/nomad-csi-sandbox-csi-plugin").exists()
