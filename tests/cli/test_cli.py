"""The command line: exit codes, and what it does not import."""

import errno
import subprocess
import sys
from importlib import metadata

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import command
from nomad_csi.hcl import project

STORAGE = "examples/committed-hcl/storage.yaml"
A_VOLUME = "volume or namespace/volume, such as mysql or default/mysql"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["render", "nope.yaml", "--out", "x"], "nope.yaml: No such file or directory"),
        (["snippet", "nope/", "x"], "nope: No such file or directory"),
        (
            ["claims", "repair", "prod/a", "--from", STORAGE],
            f"{STORAGE}: 1 problem\n  expected one registration of prod/a, got 0 of them",
        ),
    ],
)
def test_wrong_file_exits_2_and_is_named(words, text, capsys):
    """No traceback for what happens every day."""
    assert cli.main(words) == 2

    assert capsys.readouterr().err == f"error: {text}\n"


def test_error_of_a_rename_names_the_destination():
    """The other file is a draft beside it."""
    error = OSError(errno.EISDIR, "Is a directory", "/tmp/draft", None, "page.html")

    assert command.describe_file_error(error) == "page.html: Is a directory"


@pytest.mark.parametrize(
    ("words", "program", "message"),
    [
        (["verify", "x", "--jsno"], "verify", "No such option '--jsno'. (Did you mean one of: '--json', '--smoke'?)"),
        (["csi", "prob"], "csi", "No such command 'prob'. Did you mean 'probe'?"),
        (
            ["init", "--storage", "ebz"],
            "init",
            f"--storage: 'ebz' is not one of {', '.join(map(repr, project.STORAGES))}.",
        ),
        (["render", "x", "--out"], "render", "Option '--out' requires an argument."),
        (["verify", "x", "--json=1"], "verify", "Option '--json' does not take a value."),
        (["smoke", "x", "y"], "smoke", "Got unexpected extra argument (y)"),
        (["snapshot", "delete", "x"], "snapshot delete", "Missing option '--made-by'."),
        (
            ["snapshot", "create", "x", "--parameter", "=b"],
            "snapshot create",
            "--parameter: expected KEY=VALUE, got '=b'",
        ),
        (["eject"], "eject", "Missing option '--out'."),
        (["version", "--color", "x"], "version", "--color: 'x' is not one of 'auto', 'always', 'never'."),
        (
            ["csi", "probe", "x", "--role", "nod"],
            "csi probe",
            "--role: 'nod' is not one of 'controller', 'node', 'monolith'.",
        ),
        (["snippet", STORAGE], "snippet", "expected one SPEC and one VOLUME, got 1 and 0"),
        (["snippet", STORAGE, "a", "b"], "snippet", "expected one SPEC and one VOLUME, got 1 and 2"),
        (["import"], "import", "expected FILE or --cluster, got none"),
        (
            ["import", "--for-pulumi", "x.json", STORAGE],
            "import",
            "FILE: expected Terraform states only with --for-pulumi",
        ),
        (["remove"], "remove", "VOLUME: expected a volume, or --job JOB, got nothing"),
        (["remove", "a", "b", "--forget", "x"], "remove", "--forget: expected one VOLUME, got 2"),
        (
            ["remove", "a", "b", "--delete-data", "--confirm", "c"],
            "remove",
            "--confirm: expected one of the volumes named, got default/c",
        ),
        (
            ["remove", "a", "b", "--delete-data", "--external-id", "c"],
            "remove",
            "--external-id: expected one volume with it, got 2 volumes",
        ),
        *(
            (["remove", name], "remove", f"VOLUME: expected {A_VOLUME}, got '{name}'")
            for name in ("a/", "/a", "a/b/c", "a/.", "..")
        ),
        (
            ["csi", "probe", "--on-nodes", "efs", "--image", "x"],
            "csi probe",
            "--state-dir: expected the clients' state_dir with --image: a container cannot find it",
        ),
        (
            ["verify", "job", STORAGE, "--prometheus", "x.prom"],
            "verify job",
            "--prometheus: expected an absolute path on the client",
        ),
        (
            ["verify", "job", STORAGE, "--prometheus", "/x.prom"],
            "verify job",
            "--on-client: expected the name of a client with --prometheus: files of several would count everything "
            "several times",
        ),
        (
            ["verify", STORAGE, "--prometheus", "x.prom.txt"],
            "verify",
            "--prometheus: expected a file that ends in .prom, or - for standard output, got 'x.prom.txt'",
        ),
        (
            ["verify", STORAGE, "--prometheus", "--json"],
            "verify",
            "--prometheus: expected a FILE.prom with --watch or --json",
        ),
    ],
)
def test_an_error_shows_the_usage_of_its_command_and_what_is_allowed(words, program, message, capsys):
    """Not that of the whole program."""
    code = cli.main(words)

    said = capsys.readouterr().err
    assert code == 64
    assert said.startswith(f"usage: nomad-csi {program} ")
    assert said.endswith(f"\nerror: nomad-csi {program}: {message}\n")


def test_command_that_is_misspelt_is_suggested(monkeypatch, capsys):
    """Of the words of the process."""
    monkeypatch.setattr(sys, "argv", ["nomad-csi", "rendr"])

    assert cli.main() == 64

    message = "error: nomad-csi: No such command 'rendr'. Did you mean 'render'?\n"
    assert capsys.readouterr().err.endswith(message)


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
    message = capsys.readouterr().out

    assert cli.main(words) == 64
    assert capsys.readouterr().err == message
    assert cli.main(["help", *words]) == 0
    assert capsys.readouterr().out == message


@pytest.mark.parametrize(
    ("words", "first", "last", "count"),
    [
        (
            ["help", "more"],
            "drivers     show requirements, known issues and test status of the CSI drivers",
            "version     print the version, and those of what it was tested with",
            10,
        ),
        (
            ["help", "options"],
            "Options of every command, before or after its name:",
            "--color WHEN   auto, always or never (default: auto)",
            6,
        ),
        (
            ["help", "connection"],
            "Options of every command that connects to Nomad:",
            "                         refuse)",
            16,
        ),
        (["version"], f"nomad-csi {metadata.version('nomad-csi')}", f"nomad-csi {metadata.version('nomad-csi')}", 1),
        (["completion", "fish"], "function _nomad_csi_completion;", "", 18),
        (
            ["snippet", STORAGE, "uploads", "--read-only", "--destination", "/srv"],
            "# Into the group, of a job in namespace default:",
            "}",
            15,
        ),
    ],
)
def test_what_needs_no_cluster_is_printed(words, first, last, count, capsys):
    """From its first line to its last."""
    assert cli.main(words) == 0

    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[-1], len(lines)) == (first, last, count)


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
        (
            "zsh",
            "nomad-csi sm",
            ["plain", "smoke", "test a volume with a small job: write, release, read back, clean up"],
        ),
        ("bash", "nomad-csi --ve", ["plain,--verbose", "plain,--version"]),
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
