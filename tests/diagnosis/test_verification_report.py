"""A report says the same as data and as a table."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from nomad_csi.diagnosis import prometheus, verification_report
from tests.diagnosis import conftest

MISSING, ABSENT = conftest.MISSING, conftest.ABSENT


WRITERS = {
    "json": lambda report: json.dumps(report.as_json(), indent=1),
    "txt": verification_report.VerificationReport.as_table,
    "prom": lambda report: prometheus.text(report, seconds=0.25, last_answer_s=1_795_000_000.5),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_report_is_written_whole(whole, ending):
    """Scripts read the keys of JSON, which survive a round trip, and the labels of metrics."""
    assert WRITERS[ending](whole) == Path(__file__).with_name(f"whole.{ending}").read_text(encoding="utf-8")


def test_table_shows_counts_instances_volumes_and_proof(mixed):
    """A person sees what is there, by what it was verified, and what to do."""
    painted = mixed.as_table(100, colour=True)

    assert [painted.count(f"{word}\x1b[0m") for word in ("partial", "healthy", "missing", "error")] == [1, 3, 1, 2]
    assert re.sub(r"\x1b\[\d*m", "", painted) == mixed.as_table(100)
    assert mixed.as_table(100) == Path(__file__).with_name("mixed.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("healthy", "wanted", "shown"), [(1, 1, "1/1"), (0, 1, "0/1"), (1, 0, "1/0"), (0, 0, "-")])
def test_controllers_are_shown_where_there_are_some_or_should_be(mixed, healthy, wanted, shown):
    """Others than a driver without any."""
    status = dataclasses.replace(mixed.plugins[0], healthy_controllers=healthy, expected_controllers=wanted)
    status = dataclasses.replace(status, provider="", version="")

    assert dataclasses.replace(mixed, plugins=(status,)).as_table().splitlines()[1].split()[2::3] == [shown, "-"]
