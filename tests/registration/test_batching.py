"""How many volumes go in one request, and how a refused one is taken apart."""

import dataclasses
import json

import pytest

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.registration import batching

ASKED = "controller validate volume: CSI.ControllerValidateVolume: "
MODE = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")


def volume(number, **fields):
    """Return a volume of plugin ``efs``."""
    document = registration.VolumeRegistration(
        volume_id=f"v{number}", name=f"v{number}", external_id=f"fs-{number}", plugin_id="efs", capabilities=(MODE,)
    )
    return dataclasses.replace(document, **fields)


def sizes(count, *, is_asked, **fields):
    """Return how many volumes each request has."""
    documents = [volume(number, **fields) for number in range(count)]
    return [
        len(batch.documents)
        for batch in batching.batches(documents, {item.plugin_id for item in documents} if is_asked else ())
    ]


@pytest.mark.parametrize(
    ("count", "expected"), [(0, []), (1, [1]), (1000, [1000]), (1001, [1000, 1]), (2500, [1000, 1000, 500])]
)
def test_plugin_without_a_controller_gets_large_requests(count, expected):
    """One write of the cluster for a thousand."""
    assert sizes(count, is_asked=False) == expected


def test_request_stays_below_a_mebibyte():
    """Where volumes are large, it has fewer of them."""
    found = sizes(10, is_asked=False, context={"share": "x" * 300_000})

    assert found == [3, 3, 3, 1]


def test_request_may_have_exactly_the_largest_size(monkeypatch):
    """Each of them begins with nothing."""
    monkeypatch.setattr(batching, "LARGEST_BYTES", 2 * len(json.dumps(volumes.payload(volume(0)))))

    assert sizes(5, is_asked=False) == [2, 2, 1]


def test_volume_larger_than_that_goes_alone():
    """It cannot be split."""
    assert sizes(2, is_asked=False, context={"share": "x" * 2**20}) == [1, 1]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, [1]), (8, [1] * 8), (11, [2] * 5 + [1]), (100, [10] * 10), (200, [20] * 10), (1000, [25] * 40)],
)
def test_controller_is_asked_by_several_small_requests(count, expected):
    """It checks one volume after the other in each, and several requests at a time."""
    assert sizes(count, is_asked=True) == expected


def test_request_has_one_plugin_and_one_namespace():
    """So that what is wrong with one is not the others' affair."""
    documents = [volume(0), volume(1, plugin_id="ebs"), volume(2, namespace="prod"), volume(3)]

    found = batching.batches(documents, {"ebs"})

    assert [([item.volume_id for item in batch.documents], batch.is_asked) for batch in found] == [
        (["v0", "v3"], False),
        (["v1"], True),
        (["v2"], False),
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("validation: must include at least one capability block", [["v0", "v1"], ["v2", "v3", "v4"]]),
        ("volume identity cannot be updated: v3", [["v0", "v1", "v2", "v4"], ["v3"]]),
        ('Could not get volume with ID "fs-1": InvalidVolume.NotFound', [["v0", "v2", "v3", "v4"], ["v1"]]),
        ("volumes v1, v2", [["v0", "v3", "v4"], ["v1"], ["v2"]]),
        ("v0 v1 v2 v3 v4", [["v0", "v1"], ["v2", "v3", "v4"]]),
        ("v33 and fs-11", [["v0", "v1"], ["v2", "v3", "v4"]]),
    ],
)
def test_refused_request_is_taken_apart(message, expected):
    """Those that the sentence names go alone; else the halves."""
    parts = batching.parts(tuple(volume(number) for number in range(5)), message)

    assert [[item.volume_id for item in part] for part in parts] == expected


def test_id_with_an_index_is_found_in_a_sentence():
    """As those of volumes per allocation are."""
    documents = (volume(0, volume_id="data[0]"), volume(0, volume_id="data[1]"))

    assert [len(part) for part in batching.parts(documents, "volume identity cannot be updated: data[1]")] == [1, 1]


@pytest.mark.parametrize(
    "message", ["volume data-1: refused", "(fs-1::fsap-1) refused", "server#share is refused", "(data-1[0]): refused"]
)
def test_id_is_found_between_any_marks(message):
    """Some are part of an id, and some end it."""
    documents = (
        volume(0),
        volume(1, volume_id="data-1", external_id="fs-1::fsap-1"),
        volume(2, volume_id="data-1[0]", external_id="server#share"),
    )

    assert [len(part) for part in batching.parts(documents, message)] == [2, 1]


def test_single_volume_has_no_parts():
    """The refusal is its own."""
    assert batching.parts((volume(0),), "whatever") == ()


@pytest.mark.parametrize(
    ("message", "status", "kind", "expected"),
    [
        ("validation: must include at least one capability block", 500, "refused", False),
        ("request body too large", 413, "refused", False),
        ("json: cannot unmarshal", 400, "refused", False),
        ("volume v0 is in nonexistent namespace prod", 500, "refused", True),
        ("no CSI plugin named: efs could be found", 500, "refused", True),
        ("Permission denied", 403, "refused", True),
        ("something in front", 401, "refused", True),
        ("No cluster leader", 500, "retry", True),
        ("no answer", None, "ambiguous", True),
        (f"{ASKED}rpc error: code = Aborted desc = An operation with v0 already exists", 500, "retry", False),
        (f"{ASKED}rpc error: code = Internal desc = dial tcp 10.0.0.9:2049: connection refused", 500, "retry", False),
        (f"{ASKED}rpc error: code = Internal desc = api error RequestLimitExceeded", 500, "retry", True),
        (f"{ASKED}rpc error: code = Unavailable desc = error reading from server: EOF", 500, "retry", True),
        (f"{ASKED}rpc error: code = DeadlineExceeded desc = context deadline exceeded", 500, "retry", True),
        (f"{ASKED}rpc error: code = ResourceExhausted desc = slow down", 500, "retry", True),
        (f"{ASKED}timeout while connecting to gRPC socket: context deadline exceeded", 500, "retry", True),
        ("code = Aborted", 503, "retry", True),
    ],
)
def test_refusal_that_holds_for_all_is_not_taken_apart(message, status, kind, expected):
    """A thousand volumes of a plugin that is not there need one question."""
    error = errors.NomadApiError("PUT", "/v1/volumes", message, status=status, kind=kind)

    assert batching.is_for_all(error, took_s=0.0) is expected


@pytest.mark.parametrize(("took_s", "expected"), [(batching.QUICK_S, False), (batching.QUICK_S + 0.1, True)])
def test_slow_answer_is_not_asked_for_again_in_parts(took_s, expected):
    """Each part may take as long as all of them did."""
    message = f"{ASKED}rpc error: code = Aborted desc = An operation with v0 already exists"
    error = errors.NomadApiError("PUT", "/v1/volumes", message, status=500, kind="retry")

    assert batching.is_for_all(error, took_s=took_s) is expected
