"""The spec that a command takes where none is named, and what its owner and directory do."""

import json
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.cli.common import command, specs

PLUGIN = {"id": "nfs", "driver": "csi-driver-nfs"}
VOLUME = {
    "id": "data",
    "plugin_id": "nfs",
    "existing": {"external_id": "a#b#c##"},
    "context": {"server": "s", "share": "/e"},
}
SPEC = {"plugins": [PLUGIN], "volumes": [VOLUME]}
NOBODY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty directory, without variables that name a spec or a Nomad."""
    for name in ("NOMAD_CSI_SPEC", "PULUMI_STACK", "NOMAD_TOKEN", "NOMAD_NAMESPACE", "NOMAD_REGION", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NOMAD_ADDR", NOBODY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, document=SPEC):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document))


def stack(document=SPEC):
    return {"config": {"nomad-csi:storage": document}}


@pytest.mark.parametrize(
    ("there", "environment", "taken"),
    [
        ({"storage.yaml": SPEC}, {}, "storage.yaml"),
        (
            {"storage.yml": SPEC, "Pulumi.dev.yaml": {"config": {}}, str(specs.SANDBOX): {"config": {}}},
            {},
            "storage.yml",
        ),
        ({"Pulumi.dev.yaml": stack(), "Pulumi.sandbox.yaml": stack()}, {}, "Pulumi.dev.yaml"),
        ({"Pulumi.dev.yaml": stack(), "Pulumi.prod.yaml": stack()}, {"PULUMI_STACK": "prod"}, "Pulumi.prod.yaml"),
        ({"Pulumi.sandbox.yaml": stack(), ".sandbox/Pulumi.sandbox.yaml": stack()}, {}, ".sandbox/Pulumi.sandbox.yaml"),
        ({"storage.yaml": SPEC, "other.yaml": SPEC}, {"NOMAD_CSI_SPEC": "other.yaml"}, "other.yaml (NOMAD_CSI_SPEC)"),
    ],
)
def test_the_only_spec_of_the_directory_is_taken(place, monkeypatch, capsys, there, environment, taken):
    """Standard error says which; not if it is to be quiet."""
    for name, document in there.items():
        write(place / name, document)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert cli.main(["check"]) == 0
    said = capsys.readouterr()
    assert cli.main(["check", "-q"]) == 0

    assert said.err == f"spec: {taken}\n"
    assert said.out == f"{taken.partition(' ')[0]}: valid, 1 plugin, 1 volume\n"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "words", [["check"], ["render"], ["plan"], ["apply"], ["verify"], ["verify", "job"], ["snippet", "a"]]
)
def test_without_a_spec_the_ways_to_name_one_are_said(place, capsys, words):
    """As usage."""
    assert cli.main(words) == 64

    assert (
        f"SPEC: expected a spec, or a Pulumi stack config that holds one, got nothing; neither storage.yaml nor "
        f"Pulumi.STACK.yaml is in {place}: name one, set NOMAD_CSI_SPEC, or pass -C DIR"
    ) in capsys.readouterr().err


def test_one_of_several_must_be_named(place, capsys):
    """None is guessed."""
    write(place / "storage.yaml")
    for name in ("dev", "c", "b", "a"):
        write(place / f"Pulumi.{name}.yaml", stack())

    assert cli.main(["plan"]) == 64

    stacks = "Pulumi.a.yaml, Pulumi.b.yaml, Pulumi.c.yaml, Pulumi.dev.yaml"
    assert f"SPEC: expected one, since storage.yaml, {stacks} are here; name it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("data", "default/data, prod/data"),
        ("dev/data", "default/data, default/other, prod/data"),
        ("gone", "default/data, default/other, prod/data"),
    ],
)
def test_volume_that_a_spec_has_twice_or_not_at_all_is_asked_for(place, capsys, name, allowed):
    """Twice: by its namespaces alone."""
    other, of_prod = (
        {"existing": {"external_id": f"s#{share}#c##"}, "context": {"server": "s", "share": f"/{share}"}}
        for share in ("x", "y")
    )
    write(
        place / "storage.yaml",
        SPEC | {"volumes": [VOLUME, VOLUME | other | {"id": "other"}, VOLUME | of_prod | {"namespace": "prod"}]},
    )

    assert cli.main(["snippet", "storage.yaml", name]) == 64

    assert f"VOLUME: expected one of {allowed}, got '{name}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("document", "regions"),
    [
        (
            {"plugins": [3, {}, {"aws_region": 5}, {"aws_region": "a"}, {"aws_region": "b"}, {"aws_region": "a"}]},
            {"a", "b"},
        ),
        ({"plugins": None}, set()),
        ([], set()),
    ],
)
def test_regions_of_a_spec_are_those_of_its_plugins(place, document, regions):
    """Also where it has problems, as nothing else is read of it."""
    write(place / "storage.yaml", document)

    choice = specs.aws_choice(command.Arguments(aws_region="", no_aws=False))

    assert choice.default() == regions


def test_spec_beside_a_volume_file_needs_an_owner(place, capsys):
    """As it does alone."""
    write(place / "storage.yaml")

    assert cli.main(["apply", "storage.yaml", "data.volume.hcl", "--yes"]) == 64

    assert "--owner: expected PROJECT/STACK, such as shop/prod, or `owner` in the spec" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["doctor"], ["verify", "--html", "page.html"]])
def test_regions_are_those_of_the_spec_that_is_named(place, monkeypatch, words):
    """Not those of another one in this directory."""
    write(place / "own.yaml")
    asked = []
    monkeypatch.setattr(specs, "aws_choice", lambda _, spec=None: asked.append(spec))

    assert cli.main([*words, "own.yaml"]) == 2

    assert asked == [Path("own.yaml")]


@pytest.mark.parametrize("text", ["[]", "{", "{}", '{"externalIds": []}', '{"externalIds": {"a": "b", "c": 1}}'])
def test_output_of_a_stack_that_is_none_is_refused(place, capsys, text):
    """Nothing is rendered without the ids that it has."""
    write(place / "storage.yaml")
    (place / "outputs.json").write_text(text)

    assert cli.main(["render", "--out", "out", "--stack-output", "outputs.json"]) == 2

    expected = "expected the JSON of `pulumi stack output --json`, with externalIds in it, got something else"
    assert capsys.readouterr().err.endswith(f"error: outputs.json: 1 problem\n  externalIds: {expected}\n")


@pytest.mark.parametrize("words", [["-C", "below", "check"], ["check", "-C", "below"]])
def test_a_command_runs_in_another_directory(place, capsys, words):
    """Before or after its name; afterwards the process is where it was."""
    write(place / "below/storage.yaml")

    assert cli.main(words) == 0

    assert capsys.readouterr().out == "storage.yaml: valid, 1 plugin, 1 volume\n"
    assert cli.main(["check", "below/storage.yaml"]) == 0


def test_files_go_to_the_directory_that_the_spec_names(place, capsys):
    """Relative to the spec; `plan` compares them."""
    write(place / "below/storage.yaml", SPEC | {"out": "rendered"})

    assert cli.main(["render", "below/storage.yaml"]) == 0
    assert cli.main(["render", "-C", "below", "--check"]) == 0

    assert (place / "below/rendered/volumes/default/data.volume.hcl").is_file()
    write(place / "other.yaml")
    assert cli.main(["render", "other.yaml"]) == 64
    assert "--out: expected a directory, or `out` in the spec, got nothing" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["plan"], ["apply"], ["remove", "data"]])
def test_two_commands_never_use_two_owners(place, capsys, words):
    """The one in the spec holds; another one is refused before anything is asked."""
    write(place / "storage.yaml", SPEC | {"owner": "shop/hcl"})

    codes = [cli.main([*words, *more]) for more in ([], ["--owner", "shop/hcl"], ["--owner", "shop/prod"])]

    assert codes == [2, 2, 64]
    said = capsys.readouterr().err
    assert "--owner: expected shop/hcl, as in storage.yaml, got shop/prod; omit it, or change storage.yaml" in said
    assert said.count("no connection: Connection refused") == 2


@pytest.mark.parametrize(
    ("words", "code", "kind", "message"),
    [
        (["plan", "--json"], 2, "error", "no connection: Connection refused"),
        (["plan", "nope.yaml", "--json"], 2, "error", "nope.yaml: No such file or directory"),
        (["plan", "--stack-output", "storage.yaml", "--json"], 2, "error", "externalIds: expected the JSON of `pulumi"),
        (["plan", "--json", "--owner", "shop/prod/x"], 64, "usage", "--owner: expected project/stack"),
        (["init", "--json"], 64, "usage", "No such option '--json'"),
    ],
)
def test_an_error_is_a_document_too(place, capsys, words, code, kind, message):
    """For a program that reads standard output."""
    write(place / "storage.yaml")

    assert cli.main(words) == code

    said = capsys.readouterr()
    document = json.loads(said.out)
    assert document["schema_version"] == 1
    assert document["error"]["kind"] == kind
    assert message in document["error"]["message"]
    assert message in said.err
    keys = [list(problem) for problem in document["error"]["problems"]]
    assert keys == [["path", "got", "allowed", "fix"]] * ("externalIds" in message)
