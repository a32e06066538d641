"""Where the file of a stack's config is, and what it says of a value that Pulumi decrypted."""

from pathlib import Path

import pytest
import yaml

from nomad_csi import errors
from nomad_csi.pulumi_state import stack_config
from nomad_csi.spec import encrypted

KEY = "nomad-csi:storage"
KNOWN = {"volumes": [{"secrets": {"token": "T0ken"}}]}
NOT_THERE = (
    f"a value with encrypted texts, and no {KEY} in PATH that says which; where --config-file names another file, "
    "name it by the variable PULUMI_OPTION_CONFIG_FILE instead"
)


@pytest.mark.parametrize(
    ("project", "text", "expected"),
    [
        ("Pulumi.yaml", "name: x", "Pulumi.prod.yaml"),
        ("Pulumi.yml", "name: x", "Pulumi.prod.yml"),
        ("Pulumi.json", '{"name": "x"}', "Pulumi.prod.json"),
        ("Pulumi.yaml", "{stackConfigDir: stacks, config: former}", "stacks/Pulumi.prod.yaml"),
        ("Pulumi.yaml", "config: stacks", "stacks/Pulumi.prod.yaml"),
        ("Pulumi.yaml", "config: {a: b}", "Pulumi.prod.yaml"),
        ("other", "", "Pulumi.prod.yaml"),
    ],
)
def test_file_is_where_pulumi_looks_for_it(tmp_path, project, text, expected):
    """Beside the project file, in its form, or in the folder that it names."""
    (tmp_path / project).write_text(text)

    assert stack_config.path_of(tmp_path, "prod", {}) == tmp_path / expected


def test_file_of_the_option_goes_first(tmp_path):
    """Relative to where the command was typed, else to the project."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here/a.yaml").touch()
    environment = {stack_config.OPTION: "a.yaml", "PWD": str(tmp_path / "here")}

    assert stack_config.path_of(tmp_path, "prod", environment) == tmp_path / "here/a.yaml"
    assert stack_config.path_of(tmp_path, "prod", {stack_config.OPTION: "a.yaml"}) == tmp_path / "a.yaml"
    assert stack_config.path_of(tmp_path, "prod", {stack_config.OPTION: "/b.yaml"}).as_posix() == "/b.yaml"


@pytest.mark.parametrize("key", [KEY, "storage"])
def test_texts_are_marked_that_the_file_encrypts(tmp_path, key):
    """Whether the key is written with the project's name or without."""
    file = tmp_path / "Pulumi.prod.yaml"
    file.write_text(yaml.safe_dump({"config": {key: {"volumes": [{"secrets": {"token": {"secure": "v1:x"}}}]}}}))

    [volume] = stack_config.marked(KNOWN, file, KEY)["volumes"]

    assert isinstance(volume["secrets"]["token"], encrypted.Encrypted)
    assert volume["secrets"]["token"].text == "T0ken"


@pytest.mark.parametrize(
    ("text", "got"),
    [
        (None, NOT_THERE),
        ("config: {}", NOT_THERE),
        ("- 1", NOT_THERE),
        (
            "config: {'nomad-csi:storage': {secure: v1:x}}",
            "an encrypted value; encrypt them one by one: `pulumi config set --secret --path`",
        ),
    ],
)
def test_file_that_does_not_say_what_is_encrypted_is_refused(tmp_path, text, got):
    """With the way out."""
    file = tmp_path / "Pulumi.prod.yaml"
    if text is not None:
        file.write_text(text)

    with pytest.raises(errors.SpecError) as raised:
        stack_config.marked(KNOWN, file, KEY)

    allowed = "the spec in the file of the stack's config, with only its secrets encrypted"
    assert str(raised.value) == f"{KEY}: 1 problem\n  expected {allowed}, got {got.replace('PATH', str(file))}"


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        ({"nomad-csi:storage": {}, "shop:namespace": "x"}, ["nomad-csi:storage", "nomad-csi:namespace"]),
        ({"shop:storage": {}, "namespace": "x", "nomad-csi:storage": {}}, ["shop:storage", "namespace"]),
        ({"storage": {}, "nomad-csi:namespace": "x"}, ["storage", "shop:namespace"]),
        ({"shop:storage": None, "nomad-csi:storage": {}}, ["nomad-csi:storage", "nomad-csi:namespace"]),
    ],
)
def test_settings_are_those_of_the_project_if_that_has_a_spec(tmp_path, monkeypatch, config, keys):
    """Else those of ours, alone. The project may be above the current folder."""
    (tmp_path / "Pulumi.yaml").write_text("name: shop")
    (tmp_path / "config").mkdir()
    monkeypatch.chdir(tmp_path / "config")

    found = stack_config.find_config({"config": config}, Path("Pulumi.prod.yaml"))

    assert [found.key("storage"), found.key("namespace")] == keys
    for other in ({"volumes": []}, {"config": [1]}):
        assert stack_config.find_config(other, tmp_path / "x.yaml") is None
