"""The commands of docs/explain/ownership.md work as written, and its policy, paths and options are those of the code."""

import dataclasses
import re
import shlex

import pytest

from nomad_csi import cli
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.plan import volumes as planned
from nomad_csi.volumes import ownership
from tests import owner_labels
from tests.docs import page

PAGE = page.read("explain/ownership.md")
COMMANDS = page.commands(PAGE)
SPEC = """plugins:
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - {id: shared, plugin_id: aws-efs0, existing: {external_id: fs-0123456789abcdef0}}
"""


@pytest.fixture
def client(tmp_path, emulated):
    """An emulator agent with the plugin of the page, and its spec in the current folder."""
    _, found = emulated("aws-efs0")
    (tmp_path / "storage.yaml").write_text(SPEC)
    assert cli.main(["render", "storage.yaml", "--out", "nomad"]) == 0
    return found


def test_commands_run_as_written(client, capsys):
    """One after the other; each says what the page says."""
    codes, said = [], []
    for line in COMMANDS:
        codes.append(cli.main(shlex.split(line)[1:]))
        said.append(capsys.readouterr().out)

    assert [line.split()[1] for line in COMMANDS] == [*("apply", "apply", "plan", "apply", "remove", "apply", "remove")]
    assert codes == [0, 0, 1, 1, 1, 0, 0], said
    assert "1 registered" in said[0]
    assert said[1] == "0 of 1 would change\n1 volume: 1 unchanged\n"
    for refused in said[2:5]:
        assert "refused" in refused
        assert "belongs to owner shop/prod" in " ".join(refused.split())
    assert "taken over from owner shop/prod" in said[5]
    assert said[5].endswith("1 volume: 1 unchanged\n")
    assert "1 deregistered" in said[6]
    assert volumes.get(client, "default", "shared") is None
    assert owner_labels.read(client, [("default", "shared")]) == {}


def test_names_are_those_of_the_code():
    """Tags, paths and the items of a record."""
    for name in (planned.OWNER_TAG, ownership.FOLDER, cluster_identity.PATH):
        assert f"`{name}`" in PAGE
    for name in (ownership.ID, *(field.name for field in dataclasses.fields(ownership.OwnerRecord))):
        assert re.search(rf"^\| .*`{name}`.* \|", PAGE, re.MULTILINE), name
    assert f"`{ownership.path_of('data[0]')}` for `data[0]`" in PAGE


def test_policy_is_the_one_that_messages_name():
    """What a refusal asks for is what the page gives."""
    said = " ".join(re.search(r"^ +variables \{.*?^  \}$", PAGE, re.MULTILINE | re.DOTALL)[0].split())

    assert ownership.RIGHTS.format(namespace="default") == f"{said} in namespace default"
