"""``nomad-csi plugin``: one line of a project file, one script, and nothing else touched."""

import subprocess
import sys

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.cli import plugin

ENTRY = {"name": "nomad-csi", "path": "./.pulumi-plugins/nomad-csi"}
BARE = "name: shop\nruntime: python\n"


STARTED = plugin._started


@pytest.fixture(autouse=True)
def _not_started(monkeypatch):
    """A start takes seconds: one test does it."""
    monkeypatch.setattr(plugin, "_started", lambda _script: 0)


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
        (
            "name: shop\r\nruntime: python\r\n",
            "name: shop\r\nruntime: python\r\n"
            "plugins:\r\n  providers:\r\n    - name: nomad-csi\r\n      path: ./.pulumi-plugins/nomad-csi\r\n",
        ),
    ],
    ids=["no section", "no last newline", "crlf"],
)
def test_install_adds_lines_and_keeps_the_others(before, after, project, capsys):
    """Comments, order, layout and line ends of the file stay; a second run changes nothing."""
    folder = project(before)

    assert install(folder) == 0
    first = capsys.readouterr().out
    assert text_of(folder) == after
    assert install(folder) == 0
    second = capsys.readouterr().out

    assert text_of(folder) == after
    assert (first.count("changed  "), first.count("wrote")) == (1, 1)
    assert second.count("unchanged") == 2


@pytest.mark.parametrize(
    "text",
    [
        "{name: shop, runtime: python}\n",
        "name: shop\nruntime: python\nplugins:\n  providers: [{name: other, path: ./o}]\n",
        "name: shop\nruntime: python\n...\n",
    ],
    ids=["flow", "own plugins", "document end"],
)
def test_install_refuses_what_it_cannot_extend(text, project, capsys):
    """The file stays as it is, no script is written, and the lines to add are shown."""
    folder = project(text)

    assert install(folder) == 1

    assert text_of(folder) == text
    assert not (folder / ".pulumi-plugins").exists()
    shown = capsys.readouterr().err.partition("add by hand:\n")[2]
    assert yaml.safe_load(shown) == {"plugins": {"providers": [ENTRY]}}


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ("plugins:\n  providers:\n    - {name: nomad-csi, path: ./old}\n", "plugins.providers, at ./old"),
        ("packages:\n  nomad-csi: ./plugin\n", "packages, at ./plugin"),
        ("packages:\n  nomad-csi: {source: ./plugin}\n", "packages, at ./plugin"),
    ],
)
def test_install_leaves_another_choice_alone(lines, where, project, capsys):
    """Who names another plugin meant it."""
    folder = project(BARE + lines)

    assert install(folder) == 1

    assert text_of(folder) == BARE + lines
    expected = f"refused: Pulumi.yaml names nomad-csi already, in {where}; remove that, and run this again\n"
    assert capsys.readouterr().err == expected


def test_script_of_an_environment_elsewhere_names_it_and_says_so(project, capsys):
    """Such a script is of this machine, and the command says what to do about that."""
    folder = project()

    install(folder)

    assert str(sys.prefix) in (folder / plugin.FOLDER / plugin.PROGRAM).read_text()
    assert str(sys.prefix) not in text_of(folder)
    assert "put .pulumi-plugins/ into .gitignore" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("at", "expected"), [(".venv", "../../.venv/bin/python"), ("../.venv", "../../../.venv/bin/python")]
)
def test_script_of_an_environment_in_the_repository_is_the_same_on_every_machine(at, expected, tmp_path, capsys):
    """It names the environment from where the script is, and can be committed."""
    folder = tmp_path / "repository" / "stack"
    folder.mkdir(parents=True)
    (folder.parent / ".git").mkdir()
    (folder / "Pulumi.yaml").write_text(BARE)
    (folder / at).symlink_to(sys.prefix)

    install(folder)

    script = (folder / plugin.FOLDER / plugin.PROGRAM).read_text()
    assert f'python="$(dirname "$0")"/{expected}\n' in script
    assert "/repository" not in script
    assert ".gitignore" not in capsys.readouterr().out


def test_script_without_its_environment_takes_the_program_on_path(project, tmp_path):
    """A clone elsewhere works where the environment is active; else it says what to do."""
    folder = project()
    install(folder)
    script = folder / plugin.FOLDER / plugin.PROGRAM
    script.write_text(script.read_text().replace(sys.executable, "/nonexistent/python"))
    programs = tmp_path / "bin"
    programs.mkdir()

    without = subprocess.run([script], capture_output=True, text=True, env={"PATH": str(programs)}, check=False)
    (programs / plugin.PROGRAM).write_text('#!/bin/sh\necho "$1"\n')
    (programs / plugin.PROGRAM).chmod(0o755)
    with_it = subprocess.run([script, "x"], capture_output=True, text=True, env={"PATH": str(programs)}, check=False)

    assert (without.returncode, with_it.stdout) == (1, "x\n")
    assert without.stderr == (
        "no nomad-csi in /nonexistent/python or on PATH; run 'nomad-csi plugin install' in the program's environment\n"
    )


def test_install_says_why_a_plugin_does_not_start(project, monkeypatch, capsys):
    """The last line of what it says, as a person would look for it; exit code 1."""
    folder, script = project(), plugin.SCRIPT
    monkeypatch.setattr(plugin, "_started", STARTED)
    monkeypatch.setattr(plugin, "SCRIPT", "#!/bin/sh\necho 'first' >&2\necho 'no such module' >&2\n")

    assert install(folder) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "it does not start: no such module"

    monkeypatch.setattr(plugin, "SCRIPT", "#!/bin/sh\necho 'welcome'\necho 'no port' >&2\n")
    assert install(folder) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "it does not start: no port"

    monkeypatch.setattr(plugin, "SCRIPT", script)
    assert install(folder) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "it starts"


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
    assert capsys.readouterr().out == "nothing would be done\n"
