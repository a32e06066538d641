"""What a controller says of volumes counts, and what it could not be asked is told as that."""

import pytest

from nomad_csi.csi import records
from nomad_csi.health import probed
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

Validated = records.Validated
WRITER = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")


def volume(name, **changes):
    """Return a volume of plugin ``aws-ebs0``."""
    empty = dict.fromkeys(("topologies", "claims"), ())
    given = {
        "volume_id": name,
        "namespace": "default",
        "name": name,
        "external_id": f"vol-{name}",
        "plugin_id": "aws-ebs0",
        "capabilities": (WRITER,),
        "context": {},
        "parameters": {},
        "schedulable": True,
        "controller_required": True,
    }
    return volumes.Volume(**given | empty | changes)


@pytest.mark.parametrize(
    ("said", "code", "found"),
    [
        (Validated(confirmed=True), None, ""),
        (Validated(code="NOT_FOUND", message="no such"), "volume-unknown", "NOT_FOUND: no such"),
        (Validated(message="not so"), "volume-unconfirmed", "not confirmed: not so"),
        (Validated(code="INTERNAL", message="x"), "volume-unconfirmed", "INTERNAL: x"),
    ],
)
def test_what_a_controller_says_of_a_volume_counts(said, code, found):
    """Unknown to the storage provider, or not to be used like that."""
    judged = probed.judge_volumes([volume("mysql"), volume("other")], {("default", "mysql"): said})

    assert [(item.code, item.subject, item.found) for item in judged] == (
        [(code, "volume default/mysql", found)] if code else []
    )


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Validated(code="UNAUTHENTICATED", message="who are you"), "needs secrets"),
        (Validated(code="INVALID_ARGUMENT", message="Secrets missing in request"), "needs secrets"),
        (records.LATE, "the time limit for all volumes was reached"),
    ],
)
def test_what_a_job_cannot_ask_is_told_as_not_validated(said, reason):
    """The volume may be well: that is a warning, with what to do."""
    [finding] = probed.judge_without_secrets("p", [volume("a"), volume("b")], {("default", "a"): said}, {})

    assert (finding.code, finding.severity, finding.subject) == ("volume-not-validated", "warning", "plugin p")
    assert finding.found == f"1 of 2 not validated (default/a): {reason}"
    assert finding.advice


def test_a_controller_without_its_own_credentials_is_no_volume_with_secrets():
    """AWS's own words: the fault is the controller's."""
    said = Validated(code="INTERNAL", message="no EC2 IMDS role found, failed to refresh cached credentials")

    [finding] = probed.judge_without_secrets("p", [volume("a")], {("default", "a"): said}, {})

    assert finding.code == "volume-unconfirmed"


@pytest.mark.parametrize(
    ("changes", "with_secrets", "reason"),
    [
        ({}, (), ""),
        ({}, [("default", "a")], "needs secrets"),
        ({"context": {"smbPassword": "x"}}, (), "needs secrets"),
        ({"parameters": {"api_token": "x"}}, (), "needs secrets"),
        ({"context": {"storage": "fast"}}, (), ""),
    ],
)
def test_nothing_that_looks_secret_goes_into_a_job(changes, with_secrets, reason):
    """By what the plan knows, and by the names of what the volume carries."""
    assert probed.may_be_asked(volume("a", **changes), with_secrets) == reason
