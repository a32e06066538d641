"""Sequences of the model on the real engine, and what the emulator does to states as the real commands leave them."""

import os

import pytest

from tests.walk import clusters, engines, walk

SEQUENCES = int(os.environ.get("SOAK_REAL_WALKS", "5"))
"""How many; ``make soak`` walks 100."""

FIRST = 1_000
"""The number of the first: others than `tests/walk` has."""

DISK = {"plugin_id": clusters.EBS, "availability_zone": "us-east-1a", "size_gib": 5, "volume_id": "disk"}


@pytest.mark.timeout(600 + 240 * SEQUENCES)
def test_sequences_on_the_real_engine_end_as_in_the_abstract_world(walked_world, real, tmp_path):
    """As on the emulator, of which the real engine is the judge."""
    wrong = []
    walked_world.cloud.warm()
    for seed in range(FIRST, FIRST + SEQUENCES):
        made = walk.Walk(walked_world, real, tmp_path / str(seed)).play(walk.drawn(seed, walk.LENGTH))
        wrong += [f"sequence {seed}:", *made.log, *made.wrong] if made.wrong else []

    assert wrong == [], "\n".join(wrong)


@pytest.fixture
def place(walked_world, real, tmp_path):
    """Return a stack with an EBS volume, brought up by the real engine."""
    made = engines.Place(folder=tmp_path / "shop", project="shop", name="prod")
    real.init(made)
    volumes = [{"kind": "EbsVolume", "name": "disk", "args": DISK}]
    engines.prepare(made.folder, {"address": walked_world.clusters["east"].url, "volumes": volumes})
    assert real.run(made, "up").is_done
    return made


def test_renamed_state_is_as_the_real_command_leaves_it(real, place):
    """Stack and project: the walks on the emulator copy a state by the same rules."""
    expected = engines.renamed(real.export(place), place, "other", "bank")

    real.rename(place, "other", "bank")

    assert real.export(place)["deployment"]["resources"] == expected["deployment"]["resources"]


@pytest.mark.parametrize("kind", ["aws:ebs/volume:Volume", "nomad-csi:index:VolumeRegistration"])
def test_dropped_resource_takes_its_dependents_as_the_real_command_does(real, place, kind):
    """``pulumi state delete --target-dependents``, which the walks on the emulator do to the state as well."""
    resources = real.export(place)["deployment"]["resources"]
    [urn] = [each["urn"] for each in resources if each["type"] == kind]
    expected = engines.without(real.export(place), urn)

    real.drop(place, urn)

    assert real.export(place)["deployment"]["resources"] == expected["deployment"]["resources"]
