"""What the word that storage goes with its volume means: in a check, in a preview, and where it must not be followed."""

import threading

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.volumes import deletion_proof, observe, volume_resource

VOLUME = volume_resource.CreatedVolumeResource()
IDENTITY = "prod/scratch"
ENDPOINT = "ssh://root@{node_name}/opt/nomad/data/client/csi/plugins/{alloc_id}/csi.sock"
GIVEN = {
    "volumeId": "scratch",
    "namespace": "prod",
    "pluginId": "hostpath",
    "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
}
WORD = {"onDestroy": "delete", "deletion": {"endpoint": ENDPOINT, "acceptUnguarded": True}}
KEEPING = VOLUME.check(GIVEN)[0]
DELETING = VOLUME.check(GIVEN | WORD)[0]
ANSWERED = {"externalId": "h-1", "capacityBytes": 0, "context": {}, "topologies": []}
MADE = {"madeStorage": "h-1"}


def differ(old, new_inputs, proof=MADE):
    """Return what separates a recorded volume from what is wanted."""
    return VOLUME.diff(IDENTITY, old, old | ANSWERED | proof, new_inputs)


@pytest.mark.parametrize(
    ("given", "failure"),
    [
        ({"onDestroy": "drop"}, "onDestroy: expected 'keep' or 'delete', got 'drop'"),
        ({"onDestroy": "delete"}, "deletion: expected endpoint or awsRegion with onDestroy: delete, got neither: "),
        (WORD | {"deletion": {"acceptUnguarded": True}}, "deletion: expected endpoint or awsRegion"),
        (WORD | {"deletion": {"endpoint": "csi.sock"}}, "deletion.endpoint: expected unix:///run/csi.sock"),
        (WORD | {"deletion": {"endpoint": "ssh://client-1"}}, "deletion.endpoint: expected ssh://USER@HOST"),
        (WORD | {"deletion": {"awsRegion": "us-east-1a"}}, "deletion.awsRegion: expected an AWS region"),
    ],
)
def test_check_rejects_a_deletion_that_nobody_could_do(given, failure):
    """Before anything is made whose storage could not be deleted."""
    _, failures = VOLUME.check(GIVEN | given)

    assert [str(item)[: len(failure)] for item in failures] == [failure]
    assert VOLUME.check(GIVEN | {"onDestroy": "delete", "deletion": {"awsRegion": "us-east-1"}})[1] == ()


FROM_NOW_ON = "from now on, removing or replacing prod/scratch"
TOLD = {
    "in vain": (KEEPING, DELETING, {}, (), "h-1 was there before: what this stack did not have made is not deleted"),
    "of other storage": (KEEPING, DELETING, {"madeStorage": "h-0"}, (), "h-1 is not h-0, which was made for it: what"),
    "replaced": (
        DELETING,
        DELETING | {"parameters": {"tier": "fast"}},
        MADE,
        ("parameters",),
        "deletes its storage h-1 then, with all data (on_destroy: delete); the new volume has none of it",
    ),
    "replaced and kept": (KEEPING, DELETING | {"volumeId": "x"}, MADE, ("volumeId",), "its storage h-1 stays"),
}


@pytest.mark.parametrize(("old", "new_inputs", "proof", "replaces", "notice"), TOLD.values(), ids=TOLD)
def test_the_word_is_told_in_a_preview(old, new_inputs, proof, replaces, notice):
    """In place; at a replacement what is recorded counts, and that is the safe side."""
    found = differ(old, new_inputs, proof)

    assert found.replaces == replaces
    assert replaces or found.updates == ("deletion", "onDestroy")
    assert notice in found.notice


def test_rejects_a_replacement_that_takes_the_word_back():
    """The engine would delete by what is recorded, and the word would come too late."""
    with pytest.raises(errors.RefusedError, match="set on_destroy: keep alone, run `up`, and change the rest then"):
        differ(DELETING, KEEPING | {"volumeId": "other"})


def test_deletion_gets_what_is_recorded():
    """Word, proof, secrets and options; the operator's timeout is for the last snapshot."""
    cancelled, said = threading.Event(), []
    context = resource.Context(connect=lambda: None, cancelled=cancelled, timeout_s=60, status=said.append)
    how = {"endpoint": ENDPOINT, "awsRegion": "us-east-1", "skipFinalSnapshot": True}
    recorded = DELETING | ANSWERED | MADE | {"owner": "shop/prod", "secrets": {"key": "canary"}, "deletion": how}

    order, options = observe.deletion_order(context, recorded)

    assert (order.key, order.confirmation, order.plugin_id) == (IDENTITY, IDENTITY, "hostpath")
    assert options == deletion_proof.DeletionOptions(
        wait_s=30,
        aws_region="us-east-1",
        endpoint=ENDPOINT,
        secrets={IDENTITY: {"key": "canary"}},
        with_snapshot=False,
        snapshot_wait_s=60,
        owner="shop/prod",
        created={IDENTITY: deletion_proof.MadeStorage(external_id="h-1", cluster="")},
        accepts_unregistered=True,
        report=context.status,
        cancelled=cancelled,
    )
    order, options = observe.deletion_order(context, KEEPING | ANSWERED | MADE | {"deletion": WORD["deletion"]})
    assert (order.confirmation, options.accepts_unguarded, options.with_snapshot) == ("", True, True)


@pytest.mark.parametrize(("cluster", "accepts"), [("", True), ("0f8fad5b-d9cb-469f-a165-70867728950e", False)])
def test_storage_of_a_known_cluster_needs_that_cluster(cluster, accepts):
    """Only a state that does not know its cluster is deleted from without one."""
    context = resource.Context(connect=lambda: None)
    recorded = DELETING | ANSWERED | MADE | {"owner": "shop/prod", "cluster": cluster}

    _, options = observe.deletion_order(context, recorded)

    assert (options.accepts_unregistered, options.created[IDENTITY].cluster) == (accepts, cluster)
