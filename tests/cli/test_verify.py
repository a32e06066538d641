"""``nomad-csi verify``: a failed verification is an answer, a broken call is none."""

import json
import re

from nomad_csi import cli
from nomad_csi.diagnosis import prometheus
from nomad_csi.hcl import environment

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
    assert cli.main(["-v", *words, "--color", "always"]) == 1
    logged = capsys.readouterr()
    assert "\x1b[31m" in logged.out
    assert re.match(r"\d\d:\d\d:\d\d\.\d{3} GET /v1/\S+: status 200, \d+ ms\n", logged.err)


def test_files_hide_the_token_that_a_reply_repeats(spec, empty_agent, tmp_path, monkeypatch):
    """A page and metrics do not pass standard output."""
    address = empty_agent(token=CANARY)
    monkeypatch.setenv("NOMAD_TOKEN", CANARY)
    monkeypatch.setattr(prometheus, "text", lambda *_, **__: f"a {CANARY}")
    monkeypatch.setattr(environment, "html", lambda *_, **__: f"a {CANARY}")
    page, metrics = tmp_path / "page.html", tmp_path / "nomad.prom"

    cli.main(["verify", spec, "--address", address, "--prometheus", str(metrics)])
    cli.main(["verify", "--address", address, "--html", str(page)])

    assert [path.read_text() for path in (page, metrics)] == ["a [secret]"] * 2
