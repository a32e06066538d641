"""The sandbox from the wheels, in empty folders: what docs/reference/sandbox.md has a user without a checkout type."""

import json
import re
import shutil
import subprocess
import sys
import threading
from importlib import metadata
from pathlib import Path

import pytest

from nomad_csi_sandbox.session import folder
from tests import shipped
from tests.e2e import wheels

PAGE = (wheels.ROOT / "docs/reference/sandbox.md").read_text()
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
        [commands] = re.findall(r"^```sh own-spec\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        said = installed.type(" && ".join(commands.splitlines()), other)
        assert "0 of 5 would change" in said
        assert said.count("/csi.sock ready ") == 6
    finally:
        for each in (tmp_path / "sandbox", other):
            if each.exists():
                installed.type("nomad-csi sandbox down", each)


def test_readme_builds_and_installs_the_wheels(tmp_path):
    """Its two commands, in a copy of what is built and an environment of its own; the libraries are those of this machine."""
    [block] = re.findall(
        r"^```sh install\n(.*?)^```$", (wheels.ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    for name in ("infra", "templates"):
        shutil.copytree(wheels.ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(wheels.ROOT / name, tmp_path)
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    wheels.lend_libraries(environment)
    own = {"PATH": f"{environment}/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}

    for line in block.splitlines():
        done = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, env=own | offline, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    assert sorted(path.name.partition("-")[0] for path in (tmp_path / "dist").iterdir()) == [
        "nomad_csi",
        "nomad_csi_sandbox",
    ]
    done = subprocess.run(["nomad-csi", "--version"], cwd=tmp_path, env=own, capture_output=True, text=True, check=True)
    assert done.stdout == f"nomad-csi {metadata.version('nomad-csi')}\n"


@pytest.mark.timeout(900)
def test_project_of_init_runs_in_a_sandbox(installed, tmp_path):
    """As docs/start/your-own-stack.md has it: the two settings replace the beginning of the spec; neither pulumi nor a cluster is there."""
    page = (wheels.ROOT / "docs/start/your-own-stack.md").read_text()
    make, run = re.findall(r"^```sh trial\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    [begin] = re.findall(r"^```yaml trial\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    *run, down = run.splitlines()
    installed.type(" && ".join(make.splitlines()), tmp_path)
    config = tmp_path / "trial/Pulumi.sandbox.yaml"
    written = config.read_text()
    config.write_text(re.sub(r"  nomad-csi:storage:.*?driver: aws-ebs\n", begin, written, count=1, flags=re.DOTALL))
    try:
        said = [installed.type(line, tmp_path / "trial") for line in run]
    finally:
        installed.type(down, tmp_path / "trial")

    assert config.read_text() != written
    assert "aws-ebs0  healthy  2/2          2/2    csi" in said[0]
    assert "default/data  ok" in said[1]


def test_image_is_built_from_what_it_copies_alone(tmp_path):
    """Its commands behind the one that downloads, in a folder instead of ``/opt``; the program of the last one runs."""
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
