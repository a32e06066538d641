"""``nomad-csi apply``: volumes that their plugins make, made once, whoever runs it how often, and never made to shrink."""

import json

import pytest

from nomad_csi import cli
from nomad_csi.nomad import volumes
from nomad_csi.volumes import ownership
from tests import owner_labels

MIB = 2**20
OWNER = ("--owner", "shop/prod")
KEY = ("default", "a")


@pytest.fixture
def run(client, capsys):
    """Run a command; return its exit code, what it printed, and what it complained of."""
    del client

    def call(*words):
        return cli.main(words), *capsys.readouterr()

    return call


@pytest.fixture
def create(run):
    """Run the command for a stack; return its exit code and its outcomes by volume."""

    def call(*words, owner=OWNER):
        code, out, err = run("apply", *words, *owner, "--yes", "--json")
        assert out, err
        return code, {f"{item['namespace']}/{item['volume_id']}": item for item in json.loads(out)["volumes"]}

    return call


def test_volume_is_created_once(run, client, created):
    """With its exact size and its owner's record; a second run says so in a line, and sends nothing."""
    path = created({"id": "a"}, capacity_min_bytes=100 * MIB + 1)

    first, second = run("apply", path, *OWNER, "--yes"), run("apply", path, *OWNER)

    held = volumes.get(client, "default", "a")
    assert first[0] == 0, first
    assert f"default/a  created  {held.external_id} (104857601B)" in first[1]
    assert "plugin hostpath0 creates default/a" in first[2]
    assert second[:2] == (0, "0 of 2 would change\n1 volume: 1 unchanged\n")
    assert held.capacity_min_bytes == 100 * MIB + 1
    assert owner_labels.read(client, [("default", "a")]) == {("default", "a"): "shop/prod"}


def test_created_volume_after_remove_gets_its_storage_again(run, create, client, created):
    """Its owner record stays and names the storage, so that `doctor` finds it; `apply` registers the same storage."""
    path = created({"id": "a"})
    create(path)
    first = volumes.get(client, "default", "a")

    removed, repeated = run("remove", "a", *OWNER), run("remove", "a", *OWNER)
    record = ownership.OwnerRecords(client).known([KEY])[KEY]
    found = run("doctor", "--no-aws")
    planned = json.loads(run("apply", path, *OWNER, "--dry-run", "--json")[1])["items"][-1]
    _, outcomes = create(path)

    assert outcomes["default/a"]["status"] == "registered"
    assert (removed[0], repeated[0]) == (0, 1)
    again = "`nomad-csi apply` registers it again, `nomad-csi remove --delete-data` deletes it"
    assert f"default/a: storage {first.external_id} stays; {again}" in removed[1]
    assert f"`nomad-csi remove default/a --forget {first.external_id} --owner shop/prod`" in " ".join(
        repeated[1].split()
    )
    assert record == ownership.OwnerRecord(
        owner="shop/prod", created_name=first.name, external_id=first.external_id, plugin_id="hostpath0"
    )
    assert f"storage {first.external_id}" in found[1]
    assert f"plugin hostpath0 created {first.external_id} as default/a for shop/prod" in " ".join(found[1].split())
    assert (planned["state"], planned["remarks"]) == ("new", [f"gets its storage {first.external_id} again"])
    assert volumes.get(client, "default", "a").external_id == first.external_id


@pytest.mark.parametrize("is_removed", [False, True], ids=["registered", "removed before"])
def test_created_volume_is_deleted_with_its_data(run, create, client, serving, created, is_removed):
    """The owner record is the proof, and has the storage and its plugin once the volume is deregistered."""
    path = created({"id": "a"}, capacity_min_bytes=MIB)
    create(path)
    storage = volumes.get(client, "default", "a").external_id
    if is_removed:
        run("remove", "a", *OWNER)
    socket = f"{serving.cluster.settings.data_dir}/client/csi/plugins/{{alloc_id}}/csi.sock"
    words = ("remove", "a", "--delete-data", "--endpoint", socket, "--confirm", "default/a", "--skip-final-snapshot")

    other = run(*words, "--accept", "unguarded", "--owner", "bank/prod")
    deleted = run(*words, "--accept", "unguarded", *OWNER)

    assert (other[0], "belongs to stack shop/prod by its owner record" in " ".join(other[1].split())) == (1, True)
    assert (deleted[0], f"default/a  deleted  {storage}" in deleted[1]) == (0, True), deleted
    assert ownership.OwnerRecords(client).known([KEY]) == {}
    create(path)
    assert volumes.get(client, "default", "a").external_id != storage


def test_only_named_volumes_are_created(create, client, created):
    """A set by its id, one of it by its own; the others wait."""
    path = created({"id": "data", "count": 3}, {"id": "b"}, {"id": "c"})

    one = create(path, "default/data[1]")
    rest = create(path, "default/data", "default/b")

    assert {key: item["status"] for key, item in one[1].items()} == {"default/data[1]": "created"}
    assert {key: item["status"] for key, item in rest[1].items()} == {
        "default/data[0]": "created",
        "default/data[1]": "unchanged",
        "default/data[2]": "created",
        "default/b": "created",
    }
    assert volumes.get(client, "default", "c") is None


def test_volume_grows_with_consent(create, run, client, created):
    """A larger spec is shown with both sizes; the plugin grows the same storage, to the byte."""
    before = create(created({"id": "a"}))[1]["default/a"]
    path = created({"id": "a"}, capacity_min_bytes=100 * MIB + 4096)

    refused = run("apply", path, *OWNER)
    kept = volumes.get(client, "default", "a").capacity_bytes
    grown = create(path)

    assert (refused[0], kept) == (1, 104_857_600)
    assert "refused: no terminal to confirm on; pass --yes" in refused[2]
    assert (grown[0], grown[1]["default/a"]["status"]) == (0, "updated")
    assert grown[1]["default/a"]["external_id"] == before["external_id"]
    assert volumes.get(client, "default", "a").capacity_bytes == 104_861_696
