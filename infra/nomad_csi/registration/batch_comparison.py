"""Many volumes compared with what Nomad holds of them."""

from collections.abc import Iterator, Mapping

from nomad_csi import nomad
from nomad_csi.compare import difference, volume
from nomad_csi.nomad import volume_lookup
from nomad_csi.plan import registration


def comparisons(
    client: nomad.Nomad,
    documents: Mapping[volume_lookup.Key, registration.VolumeRegistration],
    made_by_plugin: frozenset[volume_lookup.Key],
) -> Iterator[tuple[volume_lookup.Key, registration.VolumeRegistration, difference.Comparison]]:
    """
    Yield each of *documents* as it is to be sent, compared with Nomad's record.

    Those of *made_by_plugin* were made through Nomad. What Nomad holds is not kept: of ten thousand volumes it is much.
    """
    for key, held in volume_lookup.found(client, documents):
        compared = volume.compare_volume(documents[key], held, made_by_plugin=key in made_by_plugin)
        yield key, volume.as_sent(documents[key], held), compared
