"""Secrets that an operator hands over: in the environment, in a file, or in both."""

import pytest

from nomad_csi import errors
from nomad_csi.cli.common import documents


@pytest.fixture
def both(tmp_path, monkeypatch):
    """The same volume in both, and one in each alone."""
    monkeypatch.setenv("NOMAD_CSI_SECRETS", '{"prod/mysql": {"key": "old", "user": "me"}, "prod/env": {"key": "e"}}')
    path = tmp_path / "secrets.yaml"
    path.write_text("prod/mysql: {key: new}\nprod/file: {key: f}\n")
    return path


def test_file_takes_precedence_over_the_environment(both):
    """Key by key: what the command line names is nearer than what a shell has had for a while."""
    assert documents.given_secrets(both) == {
        "prod/mysql": {"key": "new", "user": "me"},
        "prod/env": {"key": "e"},
        "prod/file": {"key": "f"},
    }


def test_error_names_the_source_that_is_wrong(both, monkeypatch):
    """A file or the variable, and no value of it."""
    both.write_text("prod/mysql: hunter2\n")
    with pytest.raises(errors.SpecError, match=r"secrets\.yaml") as of_file:
        documents.given_secrets(both)
    monkeypatch.setenv("NOMAD_CSI_SECRETS", "prod/mysql: hunter2")
    with pytest.raises(errors.SpecError, match="NOMAD_CSI_SECRETS") as of_environment:
        documents.given_secrets(None)

    assert "hunter2" not in f"{of_file.value}{of_environment.value}"


def test_given_secrets_take_precedence_over_those_of_the_spec(tmp_path):
    """Key by key; the others stay."""
    path = tmp_path / "storage.yaml"
    path.write_text(
        "plugins: [{id: smb, driver: smb}]\n"
        "volumes: [{id: data, plugin_id: smb, existing: {external_id: nas#share}, context: {source: //nas/share},"
        " secrets: {username: me, password: old}}]\n"
    )

    [filled] = documents.read_paths([path], "default").filled(
        {"default/data": "x"}, {"default/data": {"password": "new"}}
    )

    assert (filled.secrets, filled.external_id) == ({"username": "me", "password": "new"}, "nas#share")
    with pytest.raises(errors.SpecError) as caught:
        documents.read_paths([path], "default").filled({}, {name: {} for name in "dbca"})
    assert [problem.got for problem in caught.value.problems] == ["'a'", "'b'", "'c'", "'d'"]
