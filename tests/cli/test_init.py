"""`nomad-csi init`: what it asks, what it writes, and what it leaves alone."""

import io
import re
import shlex

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.hcl import project
from nomad_csi.spec import draft

EBS = ("--storage", "ebs", "--aws-region", "us-east-1", "--zone", "us-east-1a", "--role-name", "nomad-client")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, without a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return tmp_path


@pytest.fixture
def answer(folder, monkeypatch):  # noqa: ARG001  # which has no terminal
    """Put a person who types some lines at a terminal."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    return lambda *lines: monkeypatch.setattr("sys.stdin", Terminal("".join(f"{line}\n" for line in lines)))


def written(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_without_a_terminal_all_that_is_missing_is_named_at_once(folder, capsys):
    """Nothing is written."""
    code = cli.main(["init", "--storage", "ebs", "--zone", "us-east-1a"])

    assert code == 64
    assert re.findall(r"--[a-z-]+(?=: )", capsys.readouterr().err) == ["--pulumi", "--aws-region", "--role-name"]
    assert written(folder) == {}


@pytest.mark.parametrize("given", ["172.31.0.0", "172.31.0.0/255.255.0.0", "172.31.1.0/16", "172.31.0.0/33"])
def test_a_network_of_clients_has_a_prefix_length(given, folder, capsys):
    """EC2 takes no other form in a rule of a security group; the spec refuses it, too."""
    words = ["--storage", "efs", "--aws-region", "us-east-1", "--zone", "us-east-1a", "--client-cidr", given]

    assert cli.main(["init", "--pulumi", "python", *words]) == 64

    allowed = "an IPv4 network with its prefix length, such as 10.0.0.0/16"
    assert f"--client-cidr: expected {allowed}, and no host bits set, got '{given}'\n" in capsys.readouterr().err
    assert written(folder) == {}
    system = {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": [given]}}
    [problem] = draft.read({"file_systems": {"a": system}}).problems
    assert str(problem).startswith(f"file_systems.a.clients.cidr_blocks[0]: expected {allowed}, and no host bits set")


def test_a_terminal_is_asked_for_what_is_missing(folder, answer, capsys):
    """A wrong answer is explained and asked for again; what an option says is not asked."""
    answer("hcl", "ebs, csi-driver-nfs", "us-east-1a us-east-1b", "arn:aws:iam::1:role/x", "nomad-client")

    assert cli.main(["init", "--aws-region", "us-east-1"]) == 0

    asked = capsys.readouterr().err
    assert "expected the name of an IAM role, not its ARN" in asked
    assert "AWS region" not in asked
    spec = yaml.safe_load((folder / "storage.yaml").read_text())
    assert [item["id"] for item in spec["plugins"]] == ["aws-ebs0", "csi-driver-nfs0"]
    assert spec["volumes"][0]["create"]["availability_zone"] == "us-east-1a"


def test_an_input_that_ends_leaves_nothing(folder, answer, capsys):
    """As Ctrl-D does."""
    answer("python")

    assert cli.main(["init"]) == 130

    assert "interrupted; safe to re-run" in capsys.readouterr().err
    assert written(folder) == {}


def test_a_repository_of_files_passes_its_own_hooks_and_pipeline(folder, capsys):
    """As they are written, after what init says to type next."""
    assert cli.main(["init", "--hcl", *EBS]) == 0
    typed = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  nomad-csi ")]
    steps = [re.split("  +", line)[0] for line in typed if line.split()[1] in ("check", "render")]
    hooks = yaml.safe_load((folder / project.HOOKS).read_text())["repos"][0]["hooks"]
    entries = [hook["entry"] + (" nomad" if hook.get("pass_filenames", True) else "") for hook in hooks]
    [job] = yaml.safe_load((folder / project.PIPELINE).read_text())["jobs"].values()
    runs = [step["run"] for step in job["steps"] if step.get("run", "").startswith("nomad-csi ")]

    codes = {line: cli.main(shlex.split(line)[1:]) for line in (*steps, *entries, *runs)}

    assert codes == dict.fromkeys(codes, 0)
    assert {line.split()[1] for line in entries} == {line.split()[1] for line in runs} == {"check", "render"}
    assert (folder / "nomad/volumes/default/data.volume.hcl").is_file()


@pytest.mark.parametrize(
    ("words", "spec", "schema", "printed"),
    [
        (("--hcl",), "storage.yaml", "spec.schema.json", ["schema"]),
        (("--pulumi", "python"), "Pulumi.dev.yaml", "stack.schema.json", ["schema", "--stack-config"]),
    ],
)
def test_editors_find_the_schema_beside_the_spec(words, spec, schema, printed, folder, capsys):
    """The one that `nomad-csi schema` prints, so that it can be written again after an upgrade."""
    cli.main(["init", *words, *EBS])
    capsys.readouterr()

    cli.main(printed)

    found = written(folder)
    assert found[spec].startswith(f"# yaml-language-server: $schema={schema}\n")
    assert found[schema] == capsys.readouterr().out


def test_files_that_exist_are_all_named_before_anything_is_written(folder, capsys):
    """Those that others share are not among them."""
    (folder / "storage.yaml").write_text("mine\n")
    (folder / "spec.schema.json").write_text("mine\n")
    (folder / ".gitignore").write_text("mine\n")
    before = written(folder)

    assert cli.main(["init", "--hcl", *EBS]) == 1

    told = capsys.readouterr().err
    assert told == "refused: nothing was written: storage.yaml exists; spec.schema.json exists\n"
    assert written(folder) == before


def test_a_project_that_exists_gets_what_it_lacks(folder, capsys):
    """Its program is where `main` says; nothing of it is changed, and what to add is printed."""
    (folder / "src").mkdir()
    (folder / "Pulumi.yaml").write_text("name: shop\nruntime: {name: python}\nmain: src\n")
    (folder / "src/__main__.py").write_text("import pulumi\n")
    (folder / "requirements.txt").write_text("pulumi\n")
    (folder / ".gitignore").write_text(".venv/\n")
    before = written(folder)

    assert cli.main(["init", "--pulumi", "python", *EBS]) == 0

    after = written(folder)
    assert {path: after[path] for path in before} == before
    assert set(after) - set(before) == {"Pulumi.dev.yaml", "stack.schema.json", project.HOOKS, project.PIPELINE}
    out = capsys.readouterr().out
    assert "unchanged  src/__main__.py; add to it:\n" in out
    assert "             from nomad_csi import storage_stack\n" in out
    assert re.search(
        r"unchanged  requirements.txt; add to it:\n +# On no .*\n +# nomad-csi @ file:///PATH/nomad_csi-", out
    )
    assert "unchanged  .gitignore; add to it:\n             .venv/\n             .pulumi-plugins/\n" in out
    assert "unchanged  Pulumi.yaml\n           `nomad-csi plugin install` adds the provider plugin to it\n" in out


@pytest.mark.parametrize(
    ("main", "program"), [("", "index.ts"), ("main: src\n", "src/index.ts"), ("main: src/app.ts\n", "src/app.ts")]
)
def test_a_program_in_typescript_is_where_main_says(main, program, folder, capsys):
    """It gets the components, and package.json stays as it is: `pulumi package add` adds the SDK to it."""
    (folder / "Pulumi.yaml").write_text(f"name: shop\nruntime: {{name: nodejs}}\n{main}")
    (folder / "package.json").write_text("{}\n")
    (folder / program).parent.mkdir(exist_ok=True)
    (folder / program).write_text("export const mine = 1;\n")
    before = written(folder)

    assert cli.main(["init", "--pulumi", "typescript", *EBS]) == 0

    after = written(folder)
    assert {path: after[path] for path in before} == before
    assert set(after) - set(before) == {"tsconfig.json", ".gitignore", project.HOOKS, project.PIPELINE}
    out = capsys.readouterr().out
    assert f"unchanged  {program}; add to it:\n" in out
    assert f'{" ":13}import {{ CsiPlugin, EbsVolume }} from "nomad-csi";\n' in out
    assert "unchanged  package.json\n" in out
    assert f"  $EDITOR {program} " in out


def test_a_dry_run_lists_the_files_and_writes_none(folder, capsys):
    """Those that the run writes afterwards."""
    words = ["init", "shop", "--hcl", *EBS]

    assert cli.main([*words, "--dry-run"]) == 0
    listed = capsys.readouterr().out.splitlines()

    assert written(folder) == {}
    assert cli.main(words) == 0
    assert sorted(listed) == sorted(f"would write {path}" for path in written(folder))
