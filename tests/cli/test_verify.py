"""``nomad-csi verify``: a failed verification is an answer, a broken call is none."""

import json
import re

from nomad_csi import cli

CANARY = "canary-7c1f"


def test_verify_of_an_empty_cluster_exits_1_with_findings(spec, empty_agent, capsys):
    """Neither plugin nor volume is there."""
    words = ["verify", spec, "--address", empty_agent()]

    assert cli.main([*words, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert cli.main(words) == 1
    table = capsys.readouterr().out
    assert re.fullmatch(r"\d+ plugins? and \d+ volumes? checked: .*\n", table.splitlines(keepends=True)[-1])

    assert report["ok"] is False
    assert [volume["status"] for volume in report["volumes"]] == ["missing"]
    assert "volume-missing" in {finding["code"] for finding in report["findings"]}
    assert "default/shared  missing  aws-efs0  fs-0123456789abcdef0  -\n" in table


def test_verify_asks_with_the_token_of_the_environment(spec, empty_agent, monkeypatch, capsys):
    """The address of an option, the token of NOMAD_TOKEN: options are seen by all users."""
    address = empty_agent(token=CANARY)
    monkeypatch.setenv("NOMAD_TOKEN", CANARY)

    assert cli.main(["verify", spec, "--address", address]) == 1

    assert CANARY not in "".join(capsys.readouterr())


def test_verify_exits_2_where_the_token_is_refused(spec, empty_agent, monkeypatch, capsys):
    """It is called unknown, and is not shown."""
    address = empty_agent(token="another")
    monkeypatch.setenv("NOMAD_TOKEN", CANARY)

    assert cli.main(["verify", spec, "--address", address]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: GET /v1/")
    assert "status 403: Permission denied; the token needs " in err
    assert "; or it is expired, deleted or of another cluster" in err
    assert CANARY not in err
