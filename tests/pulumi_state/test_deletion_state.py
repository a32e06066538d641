"""What several states of a stack say of the storage that plugins created."""

import json

import pytest

from nomad_csi import errors
from nomad_csi.pulumi_state import deletion_state
from nomad_csi.volumes.deletion_proof import MadeStorage

KEY = "default/data"
IN_A_CLUSTER = MadeStorage(external_id="vol-1", cluster="c1/global")
OLDER = MadeStorage(external_id="vol-1", cluster="")


@pytest.mark.parametrize(("first", "second"), [(IN_A_CLUSTER, OLDER), (OLDER, IN_A_CLUSTER)])
def test_older_state_takes_no_cluster_away(first, second):
    """In whichever order they are given: the cluster is what keeps a deletion from another one."""
    assert deletion_state.merge({KEY: first}, {KEY: second}, "b.json") == {KEY: IN_A_CLUSTER}


def test_volumes_of_all_states_count():
    """Each has its own."""
    assert deletion_state.merge({KEY: OLDER}, {"default/b": IN_A_CLUSTER}, "b.json") == {
        KEY: OLDER,
        "default/b": IN_A_CLUSTER,
    }


@pytest.mark.parametrize(
    ("known", "other", "given", "got"),
    [
        (IN_A_CLUSTER, MadeStorage(external_id="vol-2", cluster="c1/global"), "vol-1 c1/global", "vol-2 c1/global"),
        (IN_A_CLUSTER, MadeStorage(external_id="vol-1", cluster="c2/global"), "vol-1 c1/global", "vol-1 c2/global"),
        (OLDER, MadeStorage(external_id="vol-2", cluster=""), "vol-1", "vol-2"),
    ],
)
def test_states_that_contradict_each_other_are_refused(known, other, given, got):
    """Nothing says which of them is right."""
    with pytest.raises(errors.SpecError) as caught:
        deletion_state.merge({KEY: known}, {KEY: other}, "b.json")

    allowed = f"{given}, as in a state given before"
    assert str(caught.value) == (
        f"b.json: 1 problem\n  {KEY}: expected {allowed}, got {got}; give only the state that has it"
    )


def test_state_has_what_plugins_created():
    """No storage of another type, none that was taken over, and none whose id is secret; a cluster may be missing."""
    named = {"namespace": "default", "volumeId": "data"}
    states = (
        ("CreatedVolume", named | {"madeStorage": "vol-1", "cluster": "c1/global"}),
        ("CreatedVolume", named | {"volumeId": "older", "madeStorage": "vol-2"}),
        ("CreatedVolume", named | {"volumeId": "secret", "madeStorage": {"ciphertext": "x"}}),
        ("CreatedVolume", named | {"volumeId": "taken"}),
        ("CreatedVolume", None),
        ("VolumeRegistration", named | {"volumeId": "registered", "madeStorage": "vol-3"}),
    )
    resources = [{"type": f"nomad-csi:index:{kind}", "outputs": outputs} for kind, outputs in states]

    made = deletion_state.created_storage(json.dumps({"deployment": {"resources": resources}}), "a.json")

    assert made == {KEY: IN_A_CLUSTER, "default/older": MadeStorage(external_id="vol-2", cluster="")}
    for text in ("{}", "[]", "x", '{"deployment": {"resources": {}}}'):
        with pytest.raises(errors.SpecError, match="expected the JSON of `pulumi stack export`, got something else"):
            deletion_state.created_storage(text, "a.json")
