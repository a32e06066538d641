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
        (["delete", "default/x", "--yes", "default/x"], "unrecognized arguments: --yes default/x"),
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

    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert "nope.yaml" in err
    assert err.count("\n") == 1


def test_help_imports_neither_pulumi_nor_grpc_nor_pydantic():
    """The command answers at once."""
    program = "import sys\nfrom nomad_csi import cli\ntry:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
    program += "print(sorted({'pulumi', 'grpc', 'pydantic', 'jinja2', 'boto3'} & set(sys.modules)), file=sys.stderr)"

    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert done.stderr == "[]\n"
