"""A volume that gets another id keeps its storage, and a stack that gets another name keeps everything."""

from nomad_csi.nomad import volumes


def moved(sandbox, before, after):
    """Give the EBS volume *before* the id *after*, and bring the sandbox up."""

    def edit(storage):
        [volume] = [item for item in storage["volumes"] if item["id"] == before]
        volume.update(id=after, moved_from=before)

    sandbox.edit(edit)
    return sandbox.up(check=True)


def test_volume_with_another_id_keeps_its_storage(running):
    """The disk of before is registered under the new id, and the old id is gone; and back again."""
    before = running.owned()

    for old, new in (("mysql", "db"), ("db", "mysql")):
        done = moved(running, old, new)

        with running.nomad() as client:
            assert volumes.get(client, "default", new).external_id == before[0][0]
            assert volumes.get(client, "default", old) is None
        assert running.owned() == before, done.stdout
