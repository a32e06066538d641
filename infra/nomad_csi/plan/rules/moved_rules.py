"""Volumes that had another id in the stack before: which ids they may name. Pure."""

from collections.abc import Iterator, Mapping

from nomad_csi.errors import Problem
from nomad_csi.spec import model as spec


def former_key(volume: spec.VolumeSpec) -> tuple[str, str] | None:
    """Return namespace and id that *volume* had before; ``None``: the same."""
    if volume.moved_from is None:
        return None
    namespace, _, volume_id = volume.moved_from.rpartition("/")
    return namespace or "default", volume_id


def check(volumes: Mapping[str, spec.VolumeSpec]) -> Iterator[Problem]:
    """Yield what is wrong with the former ids of *volumes*, by path: one has a volume now, or two volumes name it."""
    present = {(volume.namespace, volume.id): path for path, volume in volumes.items()}
    named: dict[tuple[str, str], str] = {}
    for path, volume in volumes.items():
        key = former_key(volume)
        if key is None:
            continue
        if key in present:
            allowed = f"an id that no volume of the spec has now: {present[key]} has it"
            fix = "remove moved_from once `up` has run"
            yield Problem(path=f"{path}.moved_from", got=repr(volume.moved_from), allowed=allowed, fix=fix)
        elif key in named:
            allowed = f"a former id of its own: {named[key]} names it, too"
            yield Problem(path=f"{path}.moved_from", got=repr(volume.moved_from), allowed=allowed)
        named.setdefault(key, path)
