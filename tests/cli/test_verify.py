"""``nomad-csi verify``: a failed verification is an answer, a broken call is none."""

import json

import pytest
import yaml

from nomad_csi import cli

CANARY = "canary-7c1f"
SPEC = {
    "plugins": [{"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}],
    "volumes": [{"id": "shared", "plugin_id": "aws-efs0", "existing": {"external_id": "fs-0123456789abcdef0"}}],
}


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "storage.yaml"
    path.write_text(yaml.safe_dump(SPEC))
    return str(path)


@pytest.fixture(autouse=True)
def _no_nomad(monkeypatch):
    for name in ("NOMAD_ADDR", "NOMAD_TOKEN", "NOMAD_NAMESPACE", "NOMAD_REGION"):
        monkeypatch.delenv(name, raising=False)


def test_verify_of_an_empty_cluster_exits_1_with_findings(spec, empty_agent, capsys):
    """Neither plugin nor volume is there."""
    words = ["verify", spec, "--address", empty_agent()]

    assert cli.main([*words, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert cli.main(words) == 1
    table = capsys.readouterr().out

    assert report["ok"] is False
    assert [volume["verdict"] for volume in report["volumes"]] == ["missing"]
    assert "volume-missing" in {finding["code"] for finding in report["findings"]}
    assert "default/shared  missing  aws-efs0  fs-0123456789abcdef0  -\n" in table


def test_verify_asks_with_the_token_of_the_environment(spec, empty_agent, monkeypatch, capsys):
    """The address of an option, the token of NOMAD_TOKEN: options are seen by all users."""
    address = empty_agent(token=CANARY)
    monkeypatch.setenv("NOMAD_TOKEN", CANARY)

    assert cli.main(["verify", spec, "--address", address]) == 1

    assert CANARY not in "".join(capsys.readouterr())


def test_verify_exits_2_where_the_token_is_refused(spec, empty_agent, monkeypatch, capsys):
    """The capability that the call needs is named, the token is not."""
    address = empty_agent(token="another")
    monkeypatch.setenv("NOMAD_TOKEN", CANARY)

    assert cli.main(["verify", spec, "--address", address]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: GET /v1/")
    assert "status 403: Permission denied; the token needs " in err
    assert CANARY not in err


def test_verify_exits_2_where_nobody_listens(spec, capsys):
    """Nothing was found out, and nothing is claimed."""
    assert cli.main(["verify", spec, "--address", "http://127.0.0.1:9"]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert "http://127.0.0.1:9: no connection: Connection refused; look at NOMAD_ADDR" in err


@pytest.mark.parametrize(
    ("variable", "words", "code"),
    [("", ["--address", "localhost:4646"], 64), ("localhost:4646", [], 2)],
)
def test_bad_address_is_told_before_asking(spec, capsys, monkeypatch, variable, words, code):
    """Typed wrong where it is an option; else the environment's."""
    monkeypatch.setenv("NOMAD_ADDR", variable)

    assert cli.main(["verify", spec, *words]) == code

    assert "address (NOMAD_ADDR): expected http:// or https:// with host and port, got 'localhost:4646'" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("words", [["--stable-s", "0"], ["--stable-s", "soon"], ["--probe-timeout-s", "-1"]])
def test_rejects_times_that_are_none(spec, words, capsys):
    """A typing error, told before anything is asked."""
    with pytest.raises(SystemExit) as caught:
        cli.main(["verify", spec, *words])

    assert caught.value.code == 64
    assert f"expected a number of seconds above 0, got {words[1]!r}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verify", "sentence"),
    [
        ({"min_healthy_percent": 0}, "verify.min_healthy_percent: expected"),
        ({"min_healthy_percent": 101}, "verify.min_healthy_percent: expected"),
        ({"min_healthy_percent": "most"}, "verify.min_healthy_percent: expected"),
        ({"min_healthy_per_zone": 0}, "verify.min_healthy_per_zone: expected"),
    ],
)
def test_rejects_a_policy_that_cannot_be_meant(tmp_path, verify, sentence, capsys):
    """With the place, before anything is asked."""
    path = tmp_path / "storage.yaml"
    path.write_text(yaml.safe_dump({"plugins": [SPEC["plugins"][0] | {"verify": verify}]}))

    assert cli.main(["verify", str(path)]) == 2

    assert sentence in capsys.readouterr().err
