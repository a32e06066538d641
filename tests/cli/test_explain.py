"""``nomad-csi explain``: codes of findings, and keys of a spec."""

import json

from nomad_csi import cli


def test_key_of_a_spec_is_explained(capsys):
    """By its whole path, by its end, or by its name, with each place that has it."""
    texts = []
    for name in ("volumes.ebs.volume_type", "ebs.volume_type"):
        assert cli.main(["explain", name]) == 0
        texts.append(capsys.readouterr().out)

    assert texts[0].startswith("volumes.ebs.volume_type\n")
    assert "gp3" in texts[0]
    assert {"classes.NAME.ebs.volume_type\n", "volumes.ebs.volume_type\n"} <= set(texts[1].splitlines(keepends=True))


def test_key_as_data(capsys):
    """Every field, empty or not."""
    assert cli.main(["explain", "owner", "--json"]) == 0

    [key] = json.loads(capsys.readouterr().out)["keys"]
    assert (key["path"], key["type"], key["allowed"]) == ("owner", "string", "project/stack, such as shop/prod")
