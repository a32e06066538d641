"""Pages that explain words which commands print have each of them."""

import re
import typing

import pytest

from nomad_csi.csi import records
from nomad_csi.diagnosis import claim_status, cluster_report
from nomad_csi.findings import registry
from nomad_csi.health import probed
from nomad_csi.migration import aws_storage
from nomad_csi.volumes import deletion_proof
from tests.docs import page


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("howto/claims.md", typing.get_args(claim_status.Status)),
        ("howto/delete-data.md", typing.get_args(deletion_proof.Status)),
        ("reference/csi.md", [*typing.get_args(records.Status), probed.NO_ANSWER]),
    ],
)
def test_every_status_is_explained(name, words):
    """A new one needs a line."""
    assert set(words) <= set(re.findall(r"`([a-z-]+)`", page.read(name)))


def test_every_evidence_of_the_report_is_explained():
    """No other has a row; the bound is that of the code."""
    text = page.read("reference/report.md")

    assert set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE)) == {tier for tier, _ in cluster_report.EVIDENCE}
    assert f"at most {cluster_report.CLAIMED_MAX} of them" in text


def test_findings_of_a_replaced_client_are_registered_as_the_page_shows():
    """Code and severity."""
    rows = re.findall(r"^\| `([a-z-]+)` \| (warning|error) \|", page.read("howto/replace-a-client.md"), re.MULTILINE)

    assert rows
    assert {code: registry.codes()[code].severity for code, _ in rows} == dict(rows)


def test_every_resource_that_is_imported_from_terraform_has_its_row():
    """And no other has one."""
    rows = re.findall(r"^\| (`aws_[^|]*)\|", page.read("howto/moving-from-terraform.md"), re.MULTILINE)

    assert {kind for row in rows for kind in re.findall(r"`(aws_[a-z_]+)`", row)} == set(aws_storage.TYPES)
