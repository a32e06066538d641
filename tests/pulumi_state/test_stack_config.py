"""Where the file of a stack's config is, and what it says of a value that Pulumi decrypted."""

import pytest
import yaml

from nomad_csi import errors
from nomad_csi.pulumi_state import stack_config
from nomad_csi.spec import encrypted

KEY = "nomad-csi:storage"
KNOWN = {"volumes": [{"secrets": {"token": "T0ken"}}]}


@pytest.mark.parametrize(
    ("project", "text", "expected"),
    [
        ("Pulumi.yaml", "name: x", "Pulumi.prod.yaml"),
        ("Pulumi.yml", "name: x", "Pulumi.prod.yml"),
        ("Pulumi.json", '{"name": "x"}', "Pulumi.prod.json"),
        ("Pulumi.yaml", "stackConfigDir: stacks", "stacks/Pulumi.prod.yaml"),
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
    ("text", "told"),
    [
        (None, "that says which; where --config-file names another file"),
        ("config: {}", "that says which; where --config-file names another file"),
        ("- 1", "that says which; where --config-file names another file"),
        ("config: {'nomad-csi:storage': {secure: v1:x}}", "got an encrypted value; encrypt them one by one"),
    ],
)
def test_file_that_does_not_say_what_is_encrypted_is_refused(tmp_path, text, told):
    """With the way out."""
    file = tmp_path / "Pulumi.prod.yaml"
    if text is not None:
        file.write_text(text)

    with pytest.raises(errors.SpecError) as raised:
        stack_config.marked(KNOWN, file, KEY)

    assert told in str(raised.value)
    assert "T0ken" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"config:\n  {KEY}:\n    volumes:\n      - id: a\n        size: 0\n",
            f"{KEY} in Pulumi.yaml: 2 problems\n  line 2: expected more, got x\n  line 5: volumes[0] (a).size: expected 1, got 0",
        ),
        (
            f"config:\n  {KEY}:\n    volumes: []\n",
            f"{KEY}: 2 problems\n  volumes[0] (a).size: expected 1, got 0\n  expected more, got x",
        ),
        (None, f"{KEY}: 2 problems\n  volumes[0] (a).size: expected 1, got 0\n  expected more, got x"),
    ],
    ids=["that file", "another one", "none"],
)
def test_problems_have_the_lines_of_the_file_that_holds_the_spec(tmp_path, text, said):
    """Not those of a file that holds another spec: ``--config-file`` may name one."""
    file = tmp_path / "Pulumi.yaml"
    if text:
        file.write_text(text)
    found = (
        errors.Problem(path="volumes[0].size", got="0", allowed="1"),
        errors.Problem(path="", got="x", allowed="more"),
    )
    error = errors.SpecError(found, KEY, {"volumes[0]": "a"})

    known = {"volumes": [{"id": "a", "size": 0}]}
    assert str(stack_config.located(error, known, file, KEY, {})) == said
    written = tmp_path / "written.yaml"
    written.write_text(f"# by hand\n\n{text}")
    is_located = said.startswith(f"{KEY} in")
    by_hand = str(stack_config.located(error, known, file, KEY, {stack_config.SOURCE: str(written)}))
    assert ("in written.yaml: 2 problems\n  line 4: expected more, got x" in by_hand) is is_located
