"""Allocations that fail to get a volume are findings on it, with their error."""

import pytest

from nomad_csi.diagnosis import facts
from nomad_csi.findings import causes
from nomad_csi.nomad import jobs
from tests.diagnosis.known import findings, known

ERROR = "mounting volumes: node plugin returned an internal error: rpc error: code = Internal desc = no such volume"
VOLUMES = tuple(
    facts.ExaminedVolume(key=key, external_id="vol-1", plugin_id="ebs", segments=())
    for key in ("prod/data", "prod/wal")
)


def failed(alloc_id="1f7e74ec-9d1c", error=ERROR, namespace="prod", node="a"):
    """Return an allocation of the job shop."""
    return jobs.FailedMount(
        alloc_id=alloc_id,
        namespace=namespace,
        job_id="shop",
        group="db",
        name="shop.db[0]",
        node_id=f"id-{node}",
        node_name=node,
        task_events=(jobs.TaskEvent(message=f"{jobs.HOOK}{error}"),),
    )


def found(*items, wanted=("data",)):
    """Return the findings, where each allocation asks for the same volumes."""
    mounts = facts.FailedMounts(failed=items, wanted={item.alloc_id: wanted for item in items})
    return findings(known(failed_mounts=mounts, volumes=VOLUMES), "claims")


def test_error_and_allocations_are_named():
    """With the command that shows more, and what may explain it."""
    [finding] = found(failed(error="earlier"), failed("22222222-9d1c", node="b"))

    assert (finding.code, finding.severity, finding.subject) == ("volume-mount-failing", "error", "volume prod/data")
    assert finding.found == (f"2 failed allocations (1f7e74ec of job shop on a, 22222222 of job shop on b): {ERROR}")
    assert finding.advice.endswith("see `nomad alloc status 22222222`")
    assert finding.links == (
        "volume prod/data",
        *causes.of_plugin("ebs"),
        causes.of_client("id-a"),
        causes.of_client("id-b"),
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ERROR, ["volume prod/data", "volume prod/wal"]),
        ("claiming volumes: could not claim volume wal: rpc error: max claims", ["volume prod/wal"]),
    ],
)
def test_volume_that_the_error_names_is_the_one(error, expected):
    """Of several; where it names none, any may be it."""
    items = found(failed(error=error), wanted=("data", "wal"))

    assert [item.subject for item in items] == expected


@pytest.mark.parametrize(
    "items",
    [
        found(failed(), wanted=()),
        found(failed(), wanted=("other",)),
        found(failed(namespace="test")),
        found(),
    ],
)
def test_what_concerns_no_wanted_volume_is_no_finding(items):
    """A job without a CSI volume, with another one, in another namespace."""
    assert items == []
