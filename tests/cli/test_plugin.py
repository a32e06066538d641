"""``nomad-csi plugin``: one line of a project file, one script, and nothing else touched."""

import subprocess
import sys

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.cli import plugin

ENTRY = {"name": "nomad-csi", "path": "./.pulumi-plugins/nomad-csi"}
BARE = "name: shop\nruntime: python\n"


@pytest.fixture
def project(tmp_path):
    """Make a project folder with the text of its Pulumi.yaml."""

    def make(text=BARE):
        (tmp_path / "Pulumi.yaml").write_bytes(text.encode())
        return tmp_path

    return make


def install(folder):
    return cli.main(["plugin", "install", "--project", str(folder)])


def text_of(folder):
    return (folder / "Pulumi.yaml").read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "# mine\nname: shop   # ours\nruntime: {name: python}\n",
            "# mine\nname: shop   # ours\nruntime: {name: python}\n"
            "plugins:\n  providers:\n    - name: nomad-csi\n      path: ./.pulumi-plugins/nomad-csi\n",
        ),
        (
            "name: shop\nruntime: python",
            "name: shop\nruntime: python\n"
            "plugins:\n  providers:\n    - name: nomad-csi\n      path: ./.pulumi-plugins/nomad-csi\n",
        ),
    ],
    ids=["no section", "no last newline"],
)
def test_install_adds_lines_and_keeps_the_others(before, after, project, capsys):
    """Comments, order and layout of the file stay; a second run changes nothing."""
    folder = project(before)

    assert install(folder) == 0
    first = capsys.readouterr().out
    assert text_of(folder) == after
    assert install(folder) == 0
    second = capsys.readouterr().out

    assert text_of(folder) == after
    assert (first.count("changed  "), second.count("unchanged  ")) == (1, 1)


def test_install_leaves_a_file_with_plugins_alone(project, capsys):
    """No script is written, and the lines to add are shown."""
    text = "name: shop\nruntime: python\nplugins:\n  providers: [{name: other, path: ./o}]\n"
    folder = project(text)

    assert install(folder) == 1

    assert text_of(folder) == text
    assert not (folder / ".pulumi-plugins").exists()
    shown = capsys.readouterr().err.partition("by hand:\n")[2]
    assert yaml.safe_load(shown) == {"plugins": {"providers": [ENTRY]}}


def test_script_without_its_environment_takes_the_program_on_path(project, tmp_path, monkeypatch):
    """A clone elsewhere works where the environment is active; else it says what to do."""
    folder = project()
    monkeypatch.setattr(sys, "executable", "/no such/python")
    install(folder)
    script = folder / plugin.FOLDER / plugin.PROGRAM
    programs = tmp_path / "bin"
    programs.mkdir()

    without = subprocess.run([script], capture_output=True, text=True, env={"PATH": str(programs)}, check=False)
    (programs / plugin.PROGRAM).write_text('#!/bin/sh\necho "$1"\n')
    (programs / plugin.PROGRAM).chmod(0o755)
    with_it = subprocess.run([script, "x"], capture_output=True, text=True, env={"PATH": str(programs)}, check=False)

    assert (without.returncode, with_it.stdout, script.stat().st_mode & 0o777) == (1, "x\n", 0o755)
    assert without.stderr == (
        "no nomad-csi in /no such/python or on PATH; run 'nomad-csi plugin install' in the program's environment\n"
    )


def test_a_dry_run_writes_nothing(project, capsys):
    """It names both files, and after the installation none."""
    folder = project()

    assert cli.main(["plugin", "install", "--project", str(folder), "--dry-run"]) == 0
    before = capsys.readouterr().out.splitlines()

    assert [path.name for path in folder.iterdir()] == ["Pulumi.yaml"]
    assert text_of(folder) == BARE
    assert before == [
        f"would name ./.pulumi-plugins/nomad-csi in {folder}/Pulumi.yaml",
        f"would write {folder}/.pulumi-plugins/nomad-csi/pulumi-resource-nomad-csi",
    ]
    assert install(folder) == 0
    capsys.readouterr()
    assert cli.main(["plugin", "install", "--project", str(folder), "--dry-run"]) == 0
    assert "would name" not in capsys.readouterr().out
