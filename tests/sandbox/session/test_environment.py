"""The environment of a sandbox: nothing of the operator's accounts is in it."""

import pytest

from nomad_csi_sandbox.session import environment, folder


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Return the environment that is built in a shell with these variables."""

    def build(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        paths = folder.Folder(tmp_path)
        paths.make()
        return environment.build(paths, folder.Record(parts={"nomad": "emulator"}), "us-east-1")

    return build


def test_accounts_of_the_operator_are_not_inherited(built):
    """Neither an address nor a credential of Nomad, AWS, Pulumi or Vault, nor a proxy on the way to one."""
    mine = {
        "NOMAD_ADDR": "https://nomad.example.com",
        "NOMAD_TOKEN": "canary-token",
        "AWS_PROFILE": "canary-profile",
        "AWS_ACCESS_KEY_ID": "canary-key",
        "AWS_SESSION_TOKEN": "canary-session",
        "PULUMI_ACCESS_TOKEN": "canary-pulumi",
        "PULUMI_BACKEND_URL": "s3://canary",
        "VAULT_TOKEN": "canary-vault",
        "HTTPS_PROXY": "http://canary",
    }

    found = built(**mine)

    assert [name for name in mine if found.get(name) == mine[name]] == []
    assert [value for value in found.values() if "canary" in value] == []
    assert not {"NOMAD_ADDR", "AWS_PROFILE", "AWS_SESSION_TOKEN", "PULUMI_ACCESS_TOKEN"} & set(found)


def test_language_and_terminal_are_those_of_the_operator(built):
    """They make the output readable."""
    assert {"LANG": "de_DE.UTF-8", "NO_COLOR": "1"}.items() <= built(LANG="de_DE.UTF-8", NO_COLOR="1").items()
