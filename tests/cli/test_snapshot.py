"""``nomad-csi snapshot``: made, listed and, on the user's word, deleted."""

import dataclasses
import datetime as dt
import json
import re
import types

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import options
from nomad_csi.nomad import snapshots
from nomad_csi.volumes import volume_snapshots

MADE = snapshots.Snapshot(
    snapshot_id="snap-1",
    external_id="vol-1",
    size_bytes=5 * 2**30,
    created=dt.datetime(2026, 8, 21, 12, 30, tzinfo=dt.UTC),
    is_ready=True,
)

UNKNOWN = ", if it exists: the plugin knows no such snapshot"
UNLISTED = ", if it exists: the plugin cannot list snapshots"


@pytest.fixture
def asked(monkeypatch):
    """Record what the library is asked; it has one snapshot."""
    calls = []

    def create(_client, wanted, *, wait_s, report):
        calls.append(("create", wanted, wait_s))
        report("snapshot snap-1 is not ready")
        return MADE

    monkeypatch.setattr(volume_snapshots, "create", create)
    monkeypatch.setattr(volume_snapshots, "list_of_volume", lambda _client, *key: calls.append(key) or (MADE,))
    monkeypatch.setattr(volume_snapshots, "list_of_plugin", lambda _client, plugin: calls.append(plugin) or (MADE,))
    monkeypatch.setattr(snapshots, "delete", lambda _client, *ids: calls.append(ids))
    monkeypatch.setattr(volume_snapshots, "refuse_unproven", lambda *_: {"snap-1": MADE})
    return calls


def test_create_prints_the_snapshot(asked, capsys):
    """Parameters are the driver's, the name is the user's."""
    code = cli.main(["snapshot", "create", "prod/mysql", "--name", "s", "--parameter", "a=b=c", "--timeout", "9s"])

    shown = capsys.readouterr()
    [(_, wanted, wait_s)] = asked
    assert (code, wait_s) == (0, 9.0)
    assert (wanted.namespace, wanted.volume_id, wanted.name, wanted.parameters) == ("prod", "mysql", "s", {"a": "b=c"})
    assert shown.out == (
        "snapshot  of storage  size  created (UTC)        state\n"
        "snap-1    vol-1       5GiB  2026-08-21 12:30:00  ready\n"
    )
    assert shown.err == "snapshot snap-1 is not ready\n"


@pytest.mark.parametrize(("words", "key"), [(["prod/mysql"], ("prod", "mysql")), (["--plugin", "ebs"], "ebs")])
def test_snapshots_of_a_volume_or_a_plugin_are_listed(asked, capsys, words, key):
    """As a table, and as data."""
    assert cli.main(["snapshot", "list", *words]) == 0
    table = capsys.readouterr().out
    assert cli.main(["snapshot", "list", *words, "--json"]) == 0

    assert asked == [key, key]
    assert table.splitlines()[1:] == ["snap-1    vol-1       5GiB  2026-08-21 12:30:00  ready"]
    assert json.loads(capsys.readouterr().out) == {"schema_version": 1, "snapshots": [MADE.as_json()]}
    assert MADE.as_json() == {
        "snapshot_id": "snap-1",
        "external_id": "vol-1",
        "size_bytes": 5 * 2**30,
        "created": "2026-08-21T12:30:00+00:00",
        "is_ready": True,
    }


def test_a_snapshot_that_is_not_ready_exits_1(monkeypatch, capsys):
    """Its name is that of the volume and the time where none is given."""
    names = []
    made = dataclasses.replace(MADE, is_ready=False, size_bytes=0)
    monkeypatch.setattr(volume_snapshots, "create", lambda _client, wanted, **_: names.append(wanted.name) or made)

    assert cli.main(["snapshot", "create", "mysql"]) == 1

    assert re.fullmatch(r"mysql-\d{8}T\d{6}Z", names[0])
    assert capsys.readouterr().out.splitlines()[1] == "snap-1    vol-1       -     2026-08-21 12:30:00  not ready"


def test_dry_run_of_a_snapshot_says_what_would_be_made(asked, monkeypatch, capsys):
    """And by which plugin."""
    volume = types.SimpleNamespace(external_id="vol-1", plugin_id="ebs")
    monkeypatch.setattr(volume_snapshots, "registered", lambda _client, *key: volume if key == ("a", "b") else None)

    assert cli.main(["snapshot", "create", "a/b", "--name", "s", "--dry-run"]) == 0

    assert capsys.readouterr().out == "would create snapshot s of a/b, storage vol-1, by plugin ebs\n"
    assert asked == []


def test_delete_with_the_word_for_each(asked, capsys):
    """Given beforehand."""
    words = ["snapshot", "delete", "snap-2", "snap-1", "--made-by", "ebs", "--confirm", "snap-1", "--confirm", "snap-2"]

    assert cli.main(words) == 0

    assert asked == [("ebs", "snap-2"), ("ebs", "snap-1")]
    assert capsys.readouterr().out == "snap-2  deleted\nsnap-1  deleted\n"
    assert cli.main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema_version": 1, "deleted": ["snap-2", "snap-1"]}


def test_storage_of_a_snapshot_is_named(monkeypatch, asked):
    """Where nothing here has it: the decision gets it with the snapshots."""
    named = []
    monkeypatch.setattr(volume_snapshots, "refuse_unproven", lambda *given: named.append(given[1:]))

    words = ["snapshot", "delete", "snap-1", "--made-by", "ebs", "--confirm", "snap-1", "--external-id", "vol-1"]
    assert cli.main(words) == 0

    assert [(plugin, [*snapshots], storage) for plugin, snapshots, storage in named] == [
        ("ebs", ["snap-1"], ("vol-1",))
    ]
    assert asked


def test_rejects_deletion_where_one_word_is_missing(asked, capsys, monkeypatch):
    """None is deleted then."""
    monkeypatch.setattr(options, "typed", lambda *_: "snap-1")

    assert cli.main(["snapshot", "delete", "snap-1", "snap-2", "--made-by", "ebs"]) == 1

    assert asked == []
    assert "deletion of the data of snap-2 was not confirmed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["list"], "expected one of VOLUME, --plugin"),
        (["create", "a/b", "--parameter", "x"], "expected KEY=VALUE, got 'x'"),
    ],
)
def test_rejects_what_is_typed_wrong(capsys, words, text):
    """As usage."""
    code = cli.main(["snapshot", *words])

    assert code == 64
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("listed", "second", "first"),
    [
        ({"snap-1": MADE}, UNKNOWN, " of storage vol-1, created 2026-08-21 12:30 UTC"),
        ({}, UNKNOWN, UNKNOWN),
        (None, UNLISTED, UNLISTED),
    ],
)
def test_dry_run_deletes_no_snapshot_and_asks_nothing(asked, capsys, monkeypatch, listed, second, first):
    """One that is not there is named, too; a plugin that cannot list any is not listed a second time."""
    monkeypatch.setattr(volume_snapshots, "refuse_unproven", lambda *_: listed)
    words = ["snapshot", "delete", "snap-2", "snap-1", "snap-2", "--made-by", "ebs", "--dry-run"]

    assert cli.main([*words, "--json"]) == 0

    would = json.loads(capsys.readouterr().out)["would"]
    assert would == [f"delete snapshot snap-2{second}", f"delete snapshot snap-1{first}"]
    assert asked == []
