"""
The proof that storage was made through this package, without which none is deleted. Pure.

There are two. The tags that the components write on what they make name the volume and its owner. And a stack's state
records what a `CreatedVolume` had its plugin make. A registration alone proves nothing: anybody's storage can have one.
"""

from collections.abc import Mapping

from nomad_csi.plan import volumes


def objection(key: str, external_id: str, *, tags: Mapping[str, str], made: Mapping[str, str], owner: str = "") -> str:
    """
    Return why nothing proves that *external_id* was made as the volume *key*; empty where something does.

    Args:
        key: ``namespace/volume_id``.
        external_id: the storage provider's id.
        tags: what the cloud says of it; empty where no cloud was asked.
        made: what stacks had plugins make, ``{"namespace/volume_id": external_id}``.
        owner: the owner that the tags must name, ``project/stack``; empty: any.

    """
    if made.get(key) == external_id or _is_tagged(key, tags, owner):
        return ""
    return (
        f"nothing proves that {external_id} was made as {key} by this package; looked for "
        f"{_tag_seen(key, tags, owner)}, and for it among the volumes that a stack had made ({_made_seen(key, made)})"
    )


def _is_tagged(key: str, tags: Mapping[str, str], owner: str) -> bool:
    found = tags.get(volumes.OWNER_TAG, "")
    return tags.get(volumes.VOLUME_TAG) == key and bool(found) and owner in {"", found}


def _tag_seen(key: str, tags: Mapping[str, str], owner: str) -> str:
    wanted = {volumes.VOLUME_TAG: key, volumes.OWNER_TAG: owner or "any owner"}
    shown = ", ".join(f"{name}={tags[name]}" for name in wanted if name in tags) or "neither"
    return f"the tags {' and '.join(f'{name}={value}' for name, value in wanted.items())} (found {shown})"


def _made_seen(key: str, made: Mapping[str, str]) -> str:
    if not made:
        return "no state was given"
    return f"there {key} is {made[key]}" if key in made else f"{key} is not there"
