"""``nomad-csi verify``: a failed verification is an answer, a broken call is none."""

import json
import re

from nomad_csi import cli


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
