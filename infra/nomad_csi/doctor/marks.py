"""Owner marks of registrations against the volumes that are registered. Pure."""

from collections import defaultdict
from collections.abc import Iterator

from nomad_csi.doctor import model
from nomad_csi.findings import finding


def check(found: model.ObservedCluster) -> Iterator[model.Outcome]:
    """Yield marks of volumes that are not registered."""
    marks, unchecked = model.known(found.marks, "owner records of volumes")
    yield from unchecked
    if marks is None or isinstance(found.volumes, model.Unknown):
        return
    registered = {volume.key for volume in found.volumes if volume.is_registered}
    left: dict[str, list[str]] = defaultdict(list)
    for key, owner in marks.items():
        if key not in registered:
            left[owner].append(key)
    for owner, keys in sorted(left.items()):
        evidence = f"/v1/var/nomad-csi/volumes: {owner} has {model.named(keys)}; /v1/volumes: not registered"
        yield finding("mark-without-volume", f"stack {owner}", found=evidence)
