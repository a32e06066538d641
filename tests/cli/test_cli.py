"""The command line: exit codes, and what it does not import."""

import subprocess
import sys

import pytest

from nomad_csi import cli


def test_help_lists_every_command(capsys):
    """A new user finds the commands."""
    with pytest.raises(SystemExit) as caught:
        cli.main(["--help"])

    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert all(name in out for name in cli.COMMANDS)


@pytest.mark.parametrize("words", [[], ["rendre"], ["render"], ["render", "x", "--out"], ["probe", "x", "--role", "y"]])
def test_wrong_usage_exits_64(words, capsys):
    """A typing error is told apart from an answer and from a failure."""
    with pytest.raises(SystemExit) as caught:
        cli.main(words)

    assert caught.value.code == 64
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["deregister", "default/x", "--fo"], "unrecognized arguments: --fo"),
        (["delete", "default/x", "--yes", "default/x"], "unrecognized arguments: --yes"),
        (["csi", "controller", "unpublish", "--ye"], "unrecognized arguments: --ye"),
    ],
)
def test_rejects_abbreviated_options(words, said, capsys):
    """What can hurt is written out, in commands below commands too."""
    with pytest.raises(SystemExit) as caught:
        cli.main(words)

    assert caught.value.code == 64
    assert said in capsys.readouterr().err


def test_missing_file_exits_2_with_one_line(capsys, tmp_path):
    """No traceback for what happens every day."""
    assert cli.main(["render", str(tmp_path / "nope.yaml"), "--out", str(tmp_path)]) == 2

    assert capsys.readouterr().err == f"error: SPEC: there is no file '{tmp_path}/nope.yaml'\n"


def test_what_the_system_says_names_the_option(capsys, tmp_path):
    """A folder where a file is wanted, behind an option."""
    spec = tmp_path / "spec.yaml"
    spec.write_text("plugins: []\n")

    code = cli.main(["render", str(spec), "--stack-output", str(tmp_path), "--out", str(tmp_path / "out")])

    assert code == 2
    assert capsys.readouterr().err == f"error: --stack-output: '{tmp_path}' is a folder, and a file is wanted\n"


@pytest.mark.parametrize(
    ("words", "program"), [(["verify", "x", "--jsno"], "verify"), (["sandbox", "up", "--fast"], "sandbox up")]
)
def test_an_unknown_option_shows_the_usage_of_its_command(words, program, capsys):
    """Not that of the whole program."""
    with pytest.raises(SystemExit) as caught:
        cli.main(words)

    said = capsys.readouterr().err
    assert caught.value.code == 64
    assert said.startswith(f"usage: nomad-csi {program} ")
    assert said.endswith(f"nomad-csi {program}: unrecognized arguments: {words[-1]}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["lint", "--explain", "legacy-mode"],
            "there is no code 'legacy-mode'; the nearest is 'legacy-modes'; `nomad-csi lint --docs` lists all",
        ),
        (
            ["doctor", "--explain", "nomad-unmounts-in-us"],
            "there is no code 'nomad-unmounts-in-us'; the nearest is 'nomad-unmounts-in-use'; "
            "`nomad-csi doctor --docs` lists all",
        ),
    ],
)
def test_an_unknown_code_is_answered_by_the_nearest(words, said, capsys):
    """And by how to list them."""
    with pytest.raises(SystemExit) as caught:
        cli.main(words)

    assert caught.value.code == 64
    assert capsys.readouterr().err.endswith(f"argument --explain: {said}\n")


def test_help_says_where_the_token_comes_from(capsys):
    """It is no option."""
    with pytest.raises(SystemExit):
        cli.main(["plan", "--help"])

    assert "the token comes from NOMAD_TOKEN, and from nowhere else" in " ".join(capsys.readouterr().out.split())


def test_help_imports_neither_pulumi_nor_grpc_nor_pydantic():
    """The command answers at once."""
    program = "import sys\nfrom nomad_csi import cli\ntry:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
    program += "print(sorted({'pulumi', 'grpc', 'pydantic', 'jinja2', 'boto3'} & set(sys.modules)), file=sys.stderr)"

    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert done.stderr == "[]\n"
