"""A token that Nomad does not know is called that: Nomad denies its calls as those of one without rights."""

import pytest

from nomad_csi import cli

SAYS = "check NOMAD_TOKEN: Nomad does not know the token, which is of another cluster, expired or deleted"
TOKEN = "00000000-0000-0000-0000-000000000000"
SELF = "/v1/acl/token/self"


@pytest.fixture
def denying(scripted, monkeypatch):
    """A Nomad that denies the list of volumes."""
    scripted.reply("GET", "/v1/volumes", 403, "Permission denied")
    monkeypatch.setenv("NOMAD_ADDR", scripted.address)
    monkeypatch.setenv("NOMAD_TOKEN", TOKEN)
    return scripted


@pytest.mark.parametrize("reply", [(403, "Permission denied"), (404, "ACL token not found")])
def test_unknown_token_is_called_that(denying, capsys, reply):
    """In the words of old and new releases; no right is named that it lacks."""
    denying.reply("GET", SELF, *reply)

    assert cli.main(["claims"]) == 2

    said = capsys.readouterr().err
    assert said == f"error: GET {SELF}: status {reply[0]}: {reply[1]}; {SAYS}\n"
    assert TOKEN not in said


def test_identity_of_a_task_is_no_unknown_token(denying, monkeypatch, capsys):
    """Nomad has no record of it, and says so in the words of an unknown token."""
    monkeypatch.setenv("NOMAD_TOKEN", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ0YXNrIn0.c2lnbmVk")
    denying.reply("GET", SELF, 404, "ACL token not found")

    assert cli.main(["claims"]) == 2

    assert "GET /v1/volumes: status 403: Permission denied; the token needs csi-list-volume" in capsys.readouterr().err
