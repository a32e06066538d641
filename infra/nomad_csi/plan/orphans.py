"""Storage with the tags of a stack that is not in its state: left by an interrupted run, or another stack's."""

from collections.abc import Collection, Iterable


def unrecorded(found: Iterable[str], recorded: Iterable[str]) -> tuple[str, ...]:
    """
    Return which of the external ids *found* stand in none of the *recorded* ARNs.

    ``unrecorded(["vol-1", "vol-2"], ["arn:aws:ec2:us-east-1:1:volume/vol-1"])`` is ``("vol-2",)``.
    """
    known = {arn.rpartition("/")[2] for arn in recorded}
    return tuple(sorted(set(found) - known))


def is_of_another(stack_id: str, cluster: str, stack_ids: Collection[str], clusters: Collection[str]) -> bool:
    """
    Return whether storage under a stack's label is another stack's of that label.

    *stack_id* and *cluster* are its tags, empty where it has none; *stack_ids* and *clusters* are those in the state.
    A stack writes its id into the state before it makes storage. Storage of releases without ids has a cluster at most.
    """
    if stack_id:
        return stack_id not in stack_ids
    return bool(cluster and clusters) and cluster not in clusters
