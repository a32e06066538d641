"""Volumes are deregistered when they are free, and no sooner; what became of each is data."""

import threading

import pytest

from nomad_csi import nomad
from nomad_csi.volumes import deregistration, ownership
from tests import clocks

ID = "vol-0123456789abcdef0"
ALLOC = "9d1b13f5-503d-3e7e-18c5-f969d58b9143"
FREE = {
    "ID": "mysql",
    "Namespace": "prod",
    "Name": "mysql",
    "ExternalID": ID,
    "PluginID": "aws-ebs0",
    "WriteAllocs": {},
    "ReadAllocs": {},
    "Allocations": [],
}
ALLOCATION = {
    "ID": ALLOC,
    "JobID": "db",
    "Namespace": "prod",
    "NodeID": "id-a",
    "NodeName": "a",
    "ClientStatus": "running",
    "DesiredStatus": "run",
}
HELD = FREE | {"WriteAllocs": {ALLOC: None}, "Allocations": [ALLOCATION]}
KEY = ("prod", "mysql")
PATH = "/v1/volume/csi/mysql"
IN_USE, DONE, GONE, LOST = (500, "volume in use: mysql"), (200, ""), (404, "volume not found"), (0, "")
HOLDER = f"held by job prod/db (write, allocation {ALLOC}, running on node a)"
CHECK = "it was not deregistered: check it, and run again if it is to go"


@pytest.fixture
def run(scripted):
    """Deregister volumes: ``run(KEY, wait_s=1)``; return status and reason of each, and keep what was told."""
    told = []

    def deregister(*keys, cancelled=None, **options):
        connection = nomad.Connection(address=scripted.address)
        with nomad.Nomad(connection, timeout_s=60.0, clock=clocks.Clock()) as client:
            given = deregistration.DeregistrationOptions(**options)
            found = deregistration.deregister(client, keys, given, report=told.append, cancelled=cancelled)
        deregister.external_ids = [item.external_id for item in found]
        return [(item.status, item.reason) for item in found]

    deregister.told = told
    return deregister


FORCED = {"is_forced": True, "wait_s": 10}
OUTCOMES = {
    "claimed": ([HELD], [], {}, ("claimed", HOLDER), []),
    "claimed at the last moment": ([FREE], [IN_USE, DONE], {"wait_s": 10}, ("deregistered", ""), ["", ""]),
    "forced, and free meanwhile": ([HELD, HELD, FREE], [DONE], FORCED, ("deregistered", ""), [""]),
    "forced under a running allocation": (
        [HELD], [IN_USE], {"is_forced": True},
        ("claimed", HOLDER), ["&force=true"],
    ),
    "registered again for other storage": (
        [HELD, FREE | {"ExternalID": "vol-b"}], [], {"wait_s": 10}, ("refused", f"its external id is vol-b now, not {ID}; {CHECK}"), [],
    ),
    "registered again for the same": (
        [HELD, FREE | {"CreateIndex": 9}], [], {"wait_s": 10}, ("refused", f"it was registered again meanwhile, for {ID}; {CHECK}"), [],
    ),
    "claimed, in a dry run": ([HELD], [], {"is_dry_run": True, "wait_s": 10}, ("claimed", HOLDER), []),
    "not the storage that is meant": (
        [FREE], [], {"external_ids": {KEY: "vol-meant"}}, ("refused", f"its external id is {ID} now, not vol-meant; {CHECK}"), [],
    ),
    "Nomad does not answer during the wait": ([HELD, (500, "no")], [], {"wait_s": 10}, ("failed", f"GET {PATH}: status 500: no"), []),
    "the answer is lost": ([FREE, GONE], [LOST], {}, ("deregistered", ""), [""]),
    "the request is lost": ([FREE, FREE], [LOST], {}, ("failed", f"DELETE {PATH}: "), [""]),
    "lost, and Nomad does not answer": ([FREE, (500, "no")], [LOST], {}, ("unknown", f"DELETE {PATH}: "), [""]),
    "lost, and the token may not read": ([FREE, (403, "no")], [LOST], {}, ("unknown", f"DELETE {PATH}: "), [""]),
}  # fmt: skip
"""What Nomad has, and answers to deregistrations, options -> the outcome, and what ends the paths of these."""


@pytest.mark.parametrize(("held", "answers", "options", "expected", "ends"), OUTCOMES.values(), ids=OUTCOMES)
def test_outcome(run, scripted, held, answers, options, expected, ends):
    """What is not the volume that was meant stays; what is in use, too; nothing is sent twice unseen, or forced early."""
    for each in held:
        scripted.reply("GET", PATH, *(each if isinstance(each, tuple) else (200, each)))
    for answer in answers:
        scripted.reply("DELETE", PATH, *answer)

    [(status, reason)] = run(KEY, **options)

    assert (status, reason[: len(expected[1])]) == expected
    assert (f"; not seen afterwards: GET {PATH}: status " in reason) is (status == "unknown")
    if status == "refused":
        assert run.external_ids == [ID if f"is {ID}" in reason or f"for {ID}" in reason else "vol-b"]
    assert [path for path, _ in scripted.sent("DELETE")] == [f"{PATH}?namespace=prod{end}" for end in ends]
    assert run.told == ["waiting for prod/mysql"] * ("wait_s" in options and "is_dry_run" not in options)


@pytest.mark.parametrize("found", [HELD, FREE], ids=["claimed", "free"])
def test_volume_of_a_cancelled_run_is_said_to_be_cancelled(run, scripted, found):
    """Not that a claim is why it is still registered."""
    scripted.reply("GET", PATH, 200, found)
    cancelled = threading.Event()
    cancelled.set()

    assert run(KEY, cancelled=cancelled, wait_s=10) == [("failed", "cancelled before it was deregistered")]
    assert scripted.sent("DELETE") == []
    assert [path.partition("?")[0] for path, _ in scripted.sent("GET")].count(PATH) == 1


RECORD = "/v1/var/nomad-csi/volumes/mysql"
CREATED = FREE | {"Name": "mysql-a3c024f01cac"}
SHOP = ownership.Requester(owner="shop/prod")


@pytest.fixture(params=["created_name", "registered_name"])
def recorded(scripted, request):
    """The volume, which its plugin created as its owner record says."""
    items = scripted.owned = {"id": "mysql", "owner": "shop/prod", request.param: CREATED["Name"]}
    owned = {"Namespace": "prod", "Path": "nomad-csi/volumes/mysql", "ModifyIndex": 7, "CreateIndex": 7, "Items": items}
    scripted.reply("GET", PATH, 200, CREATED)
    scripted.reply("GET", RECORD, 200, owned)
    scripted.reply("DELETE", PATH, 200, "")
    return scripted


def _changes(scripted):
    return [(method, path.partition("?")[0]) for method, path, _ in scripted.requests if method != "GET"]


def test_storage_that_a_plugin_created_is_recorded_before_the_deregistration(run, recorded):
    """The record names it then, and stays."""
    recorded.reply("PUT", RECORD, 200, {})

    assert run(KEY, requester=SHOP) == [("deregistered", "")]
    assert _changes(recorded) == [("PUT", RECORD), ("DELETE", PATH)]
    assert recorded.sent("PUT")[0][1]["Items"] == recorded.owned | {"external_id": ID, "plugin_id": "aws-ebs0"}


def test_volume_stays_registered_where_its_storage_could_not_be_recorded(run, recorded):
    """Without the record nothing would say where its data is."""
    recorded.reply("PUT", RECORD, 400, "no")

    [(status, reason)] = run(KEY, requester=SHOP)

    assert (status, "its storage is not in its owner record" in reason) == ("failed", True)
    assert _changes(recorded) == [("PUT", RECORD)]


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_token_that_may_not_read_or_write_records_deregisters(run, recorded, method):
    """The record stays without the id; that is reported."""
    recorded.replies[method, RECORD] = [(403, "Permission denied")]

    assert run(KEY, requester=SHOP) == [("deregistered", "")]
    assert any("were not read or not written" in line for line in run.told)


@pytest.mark.parametrize("changes", [{"Name": "mysql-5e884898da28"}, {"Name": "mysql"}])
def test_other_storage_under_the_id_is_not_recorded(run, recorded, changes):
    """The record stays: it is that of the storage which was created."""
    recorded.replies["GET", PATH] = [(200, CREATED | changes)]

    assert run(KEY, requester=SHOP) == [("deregistered", "")]
    assert _changes(recorded) == [("DELETE", PATH)]
