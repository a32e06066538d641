"""The command line: exit codes, and what it does not import."""

import subprocess
import sys

import pytest

from nomad_csi import cli
from nomad_csi.hcl import project


def test_missing_file_exits_2_with_one_line(capsys, tmp_path):
    """No traceback for what happens every day."""
    assert cli.main(["render", str(tmp_path / "nope.yaml"), "--out", str(tmp_path)]) == 2

    assert capsys.readouterr().err == f"error: {tmp_path}/nope.yaml: No such file or directory\n"


@pytest.mark.parametrize(
    ("words", "program", "told"),
    [
        (["verify", "x", "--jsno"], "verify", "No such option '--jsno'. (Did you mean one of: '--json', '--smoke'?)"),
        (
            ["csi", "prob"],
            "csi",
            "No such command 'prob'. Did you mean 'probe'?",
        ),
        (
            ["init", "--storage", "ebz"],
            "init",
            f"--storage: 'ebz' is not one of {', '.join(map(repr, project.STORAGES))}.",
        ),
        (["render", "x", "--out"], "render", "Option '--out' requires an argument."),
        (["verify", "x", "--json=1"], "verify", "Option '--json' does not take a value."),
        (["smoke", "x", "y"], "smoke", "Got unexpected extra argument (y)"),
        (
            ["csi", "probe", "x", "--role", "nod"],
            "csi probe",
            "--role: 'nod' is not one of 'controller', 'node', 'monolith'.",
        ),
    ],
)
def test_an_error_shows_the_usage_of_its_command_and_what_is_allowed(words, program, told, capsys):
    """Not that of the whole program."""
    code = cli.main(words)

    said = capsys.readouterr().err
    assert code == 64
    assert said.startswith(f"usage: nomad-csi {program} ")
    assert said.endswith(f"\nerror: nomad-csi {program}: {told}\n")


def test_help_imports_neither_pulumi_nor_grpc_nor_pydantic():
    """The command answers at once."""
    program = "import sys\nfrom nomad_csi import cli\ncli.main(['--help'])\n"
    program += "print(sorted({'pulumi', 'grpc', 'pydantic', 'jinja2', 'boto3'} & set(sys.modules)), file=sys.stderr)"

    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert done.stderr == "[]\n"


def test_a_command_imports_no_other_command():
    """Each pays for itself alone."""
    program = "import sys\nfrom nomad_csi import cli\ncli.main(['render', '--help'])\n"
    program += "print(sorted(n for n in sys.modules if n.startswith('nomad_csi.cli.') "
    program += " and 'common' not in n))"

    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert done.stdout.splitlines()[-1] == "['nomad_csi.cli.render']"


@pytest.mark.parametrize("words", [[], ["snapshot"], ["csi"], ["plugin"], ["sandbox"]])
def test_help_is_shown_where_no_command_is_named(words, capsys):
    """The whole of it, with what can be typed next."""
    assert cli.main([*words, "--help"]) == 0
    told = capsys.readouterr().out

    assert cli.main(words) == 64
    assert capsys.readouterr().err == told
    assert cli.main(["help", *words]) == 0
    assert capsys.readouterr().out == told


def test_an_interrupt_has_an_exit_code_of_its_own(monkeypatch, capsys):
    """Click's would be 1, as of a finding."""

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.PROGRAM.get_command(None, "schema"), "callback", interrupted)

    assert cli.main(["schema"]) == 130

    assert capsys.readouterr().err == "interrupted; safe to re-run\n"


@pytest.mark.parametrize(
    ("shell", "words", "expected"),
    [
        ("bash", "nomad-csi ver", ["plain,verify"]),
        ("bash", "nomad-csi verify --pr", ["plain,--probe-timeout", "plain,--prometheus"]),
        ("bash", "nomad-csi csi probe --role ", ["plain,controller", "plain,node", "plain,monolith"]),
        ("zsh", "nomad-csi snapshot l", ["plain", "list", "Show the snapshots of a volume, or all..."]),
        ("fish", "nomad-csi sandbox ex", ["plain,exec\tRun a command in the sandbox's..."]),
    ],
)
def test_shells_complete_commands_options_and_values(shell, words, expected, monkeypatch, capsys):
    """By what the commands declare."""
    typed = words.split(" ")
    monkeypatch.setenv("_NOMAD_CSI_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", typed[-1] if shell == "fish" else str(len(typed) - 1))

    assert cli.main([]) == 0

    assert capsys.readouterr().out.splitlines()[: len(expected)] == expected
