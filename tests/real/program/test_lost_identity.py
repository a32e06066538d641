"""A cluster that lost its identity, as a program on the real engine finds it."""

import json

from nomad_csi.nomad import cluster_identity, variables

PROGRAM = """import uuid

from nomad_csi import ExistingVolume

CAPABILITY = {"access_mode": "single-node-writer", "attachment_mode": "file-system"}

for name in VOLUMES:
    ExistingVolume(name, plugin_id="asleep", driver="csi-hostpath", external_id=str(uuid.uuid5(uuid.NAMESPACE_DNS, name)), capabilities=[CAPABILITY])
"""
PLACE = cluster_identity.NAMESPACE, cluster_identity.PATH


def test_no_stack_with_volumes_there_creates_another_one(stack, world, asleep, tmp_path):
    """Neither for its volumes nor for a new one; the printed command restores it, and the same program goes on."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: own\nruntime: python\n")
    program = folder / "__main__.py"
    program.write_text(PROGRAM.replace("VOLUMES", '["kept"]'))
    made = stack(folder, PATH=world.environment["PATH"])
    made.command("plugin", "install")
    made.run("up", "--yes", "--skip-preview")
    held = variables.get(asleep, *PLACE)
    here = held.items[cluster_identity.ITEM]
    assert variables.delete(asleep, *PLACE, index=held.modify_index)
    before = json.loads(made.run("stack", "export"))["deployment"]["resources"]

    program.write_text(PROGRAM.replace("VOLUMES", '["new", "kept"]'))
    refused = [made.run("preview", code=1), made.run("up", "--yes", "--skip-preview", code=1)]

    for text in refused:
        assert f"in cluster {here}, and the one at" in text
        assert f"`nomad var put -force -namespace default nomad-csi/cluster id={here}`" in text
    assert variables.get(asleep, *PLACE) is None
    assert [item["ID"] for item in asleep.request("GET", "/v1/volumes", query={"type": "csi"}).data] == ["kept"]
    after = json.loads(made.run("stack", "export"))["deployment"]["resources"]
    assert {item["urn"]: item.get("id") for item in after} == {item["urn"]: item.get("id") for item in before}
    cluster_identity.restore(asleep, here)
    program.write_text(PROGRAM.replace("VOLUMES", '["kept"]'))
    made.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    made.run("destroy", "--yes", "--skip-preview")
