"""``nomad-csi drivers``: the catalogue on the command line."""

import json

from nomad_csi import cli
from nomad_csi.drivers import catalogue


def test_list_shows_how_far_each_driver_is_verified(capsys):
    """One line for each, under a heading."""
    assert cli.main(["drivers"]) == 0

    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["driver", "title", "version", "roles", "evidence", "as", "of"]
    assert [line.split()[0] for line in lines] == [*catalogue.DRIVERS, *catalogue.UNUSABLE]


def test_list_prints_the_whole_catalogue_as_json(capsys):
    """For programs, in one document."""
    assert cli.main(["drivers", "--json"]) == 0

    rows = json.loads(capsys.readouterr().out)["drivers"]
    assert [row["name"] for row in rows] == [*catalogue.DRIVERS, *catalogue.UNUSABLE]


def test_show_says_why_a_driver_cannot_run(capsys):
    """Who looks for S3 is told what to use."""
    assert cli.main(["drivers", "aws-s3"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("# It cannot run on Nomad.\nname: aws-s3\n")
    assert "s3files:fs-0123456789abcdef0" in out
